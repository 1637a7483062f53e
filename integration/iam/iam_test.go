package iam_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/iam"
)

func TestIAM(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "the IAM policy")
}

// recordVariable names the folder with the calls that all suites have made.
const recordVariable = "RECORDED_AWS_CALLS"

const path = "../../docs/iam-policy.json"

var policy iam.Policy

var _ = BeforeSuite(func() {
	var err error
	policy, err = iam.ReadPolicy(path)
	Expect(err).NotTo(HaveOccurred())
})

var _ = Describe("docs/iam-policy.json", func() {
	It("names actions, without wildcards, and fits into a managed policy", func() {
		for _, statement := range policy.Statement {
			Expect(statement.Effect).To(Equal("Allow"))
			Expect(statement.Sid).To(MatchRegexp(`^[A-Za-z0-9]+$`))
			Expect(slices.IsSorted(statement.Action)).To(BeTrue(), statement.Sid)
			for _, action := range statement.Action {
				Expect(action).To(MatchRegexp(`^[a-z0-9]+:[A-Za-z0-9]+$`))
			}
		}
		content, err := os.ReadFile(path)
		Expect(err).NotTo(HaveOccurred())
		Expect(len(strings.Join(strings.Fields(string(content)), ""))).To(BeNumerically("<=", 6144))
	})

	It("gives away nothing of IAM and KMS without a condition or a resource", func() {
		for _, statement := range policy.Statement {
			if strings.HasPrefix(statement.Action[0], "ec2:") || strings.HasPrefix(statement.Action[0], "ebs:") || strings.HasPrefix(statement.Action[0], "elasticloadbalancing:") {
				continue
			}
			Expect(statement.Resource).NotTo(ContainElement("*"), statement.Sid)
		}
		conditions, err := json.Marshal(policy)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(conditions)).To(And(ContainSubstring(`"iam:PassedToService":"ec2.amazonaws.com"`),
			ContainSubstring(`"iam:AWSServiceName":"spot.amazonaws.com"`), ContainSubstring(`"kms:GrantIsForAWSResource":"true"`)))
	})

	It("allows what is called, and nothing else", func() {
		dir := os.Getenv(recordVariable)
		if dir == "" {
			Skip(recordVariable + " is not set: this runs when all suites have recorded their calls")
		}
		calls, err := iam.ReadCalls(dir)
		Expect(err).NotTo(HaveOccurred())
		called, allowed := calls.Actions(), policy.Allowed()
		needed := needed(calls)
		unused := slices.DeleteFunc(slices.Clone(allowed), func(action string) bool {
			return slices.Contains(called, action) || slices.Contains(needed, action)
		})
		refused := slices.DeleteFunc(slices.Clone(called), func(action string) bool { return slices.Contains(allowed, action) })
		printActions(called, unused)
		Expect(refused).To(BeEmpty(), "called, and not allowed")
		Expect(unused).To(BeEmpty(), "allowed, and never called")
	})
})

// needed are the actions that recorded parameters call for.
func needed(calls iam.Calls) []string {
	GinkgoHelper()
	var actions []string
	for _, need := range iam.Needs {
		Expect(policy.Allowed()).To(ContainElement(need.Action), need.Reason)
		for _, call := range need.Calls {
			Expect(calls).To(HaveKey(call), "%s was to show why %s is needed", call, need.Action)
		}
		actions = append(actions, need.Action)
	}
	return actions
}

func printActions(called, unused []string) {
	fmt.Printf("\n%d actions called, %d allowed, %d of them unused %s\n", len(called), len(policy.Allowed()), len(unused), unused)
	for _, statement := range policy.Statement {
		fmt.Printf("\n%s\n", statement.Sid)
		for _, action := range statement.Action {
			fmt.Printf("  %-56s %s\n", action, strings.Join(why(action, called), "; "))
		}
	}
}

// why tells what asks for an action.
func why(action string, called []string) []string {
	var reasons []string
	if slices.Contains(called, action) {
		reasons = append(reasons, "called")
	}
	for _, need := range iam.Needs {
		if need.Action == action {
			reasons = append(reasons, need.Reason+" ("+strings.Join(need.Calls, ", ")+")")
		}
	}
	return reasons
}
