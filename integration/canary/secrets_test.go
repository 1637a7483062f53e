package canary_test

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/driver"
)

// secrets are the canaries: each stands in one secret-bearing place, and
// nowhere else in the world.
var secrets = map[string]string{
	"aws.secret_access_key":           "CanarySecretAccessKeyOfTheConfig00000001",
	"aws.session_token":               "CanarySessionTokenOfTheConfig0000000000002",
	"aws.external_id":                 "CanaryExternalIDOfTheConfig00000000003",
	"agent.mbus":                      "CanaryPasswordOfTheMessageBus000000004",
	"agent.blobstore.options.secret":  "CanaryKeyOfTheBlobstore0000000000005",
	"agent.extra[]":                   "CanaryInAListOfTheAgentSection000006",
	"registry.user":                   "canaryUserOfTheRegistry007",
	"registry.password":               "CanaryPasswordOfTheRegistry0000000008",
	"registry.endpoint user":          "canaryUserInTheEndpoint0009",
	"registry.endpoint password":      "CanaryPasswordInTheEndpoint000000010",
	"env.bosh.password":               "CanaryPasswordHashOfTheVM0000000000011",
	"env.bosh.mbus.cert.private_key":  "CanaryPrivateKeyOfTheAgent000000000012",
	"env.bosh.blobstores[].options":   "CanaryBlobstoreKeyInTheEnv00000000013",
	"env of an operator's own":        "CanaryOfAnOperator0000000000000014",
	"context.secret_access_key":       "CanarySecretKeyOfAnotherAccount0000015",
	"context.session_token":           "CanaryTokenOfAnotherAccount00000000016",
	"context.external_id":             "CanaryExternalIDOfAnotherAccount00017",
	"environment AWS_SECRET_...":      "CanarySecretKeyOfTheEnvironment000018",
	"environment AWS_SESSION_TOKEN":   "CanaryTokenOfTheEnvironment000000019",
	"environment HTTP_PROXY":          "CanaryPasswordOfTheProxy0000000000020",
	"a key that YAML made a number":   "770033115599228844",
	"a key that YAML made a fraction": "8675309.8675309",
}

// secret is the canary of a place; a place that there is not is a mistake of
// the test.
func secret(place string) string {
	value, found := secrets[place]
	if !found {
		panic("no canary for " + place)
	}
	return value
}

// leaks tells which canaries are to be seen in what a call put out, in which
// form and where.
func leaks(outcome driver.Outcome) []string {
	outputs := map[string]string{
		"stdout": string(outcome.Stdout), "stderr": string(outcome.Stderr), "log": outcome.Response.Log,
	}
	if failed := outcome.Response.Error; failed != nil {
		outputs["message"] = failed.Message
	}
	var found []string
	for _, output := range slices.Sorted(maps.Keys(outputs)) {
		for _, place := range slices.Sorted(maps.Keys(secrets)) {
			for _, form := range forms(secrets[place]) {
				if strings.Contains(outputs[output], form) {
					found = append(found, fmt.Sprintf("%s in %s (as %s)", place, output, form))
				}
			}
		}
	}
	return found
}

// forms are the ways in which a secret may come out: as it is, and as a part of
// something that was encoded in base64, where it looks different at each third
// offset.
func forms(secret string) []string {
	all := []string{secret}
	for offset := range 3 {
		encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", offset) + secret))
		begin := (offset*8 + 5) / 6           // what lies before shares a character with the secret's begin
		end := (offset + len(secret)) * 8 / 6 // and what lies behind with its end
		all = append(all, encoded[begin:end])
	}
	return all
}

// expectNoLeak is what every call has to pass.
func expectNoLeak(what string, outcome driver.Outcome) {
	GinkgoHelper()
	Expect(outcome.Invalid).NotTo(HaveOccurred(), what)
	Expect(outcome.ExitCode).To(Equal(0), what)
	Expect(leaks(outcome)).To(BeEmpty(), "%s\nstdout: %s\nstderr: %s", what, outcome.Stdout, outcome.Stderr)
	Expect(string(outcome.Stdout)+string(outcome.Stderr)).NotTo(ContainSubstring("AWS4-HMAC-SHA256"), "%s: a signed header", what)
	checked++
}

// checked counts the calls that passed.
var checked int

var _ = Describe("the search for canaries", func() {
	const canary = "CanaryPrivateKeyOfTheAgent000000000012"
	with := func(stdout, stderr, log string) driver.Outcome {
		return driver.Outcome{Stdout: []byte(stdout), Stderr: []byte(stderr), Response: driver.Response{Log: log}}
	}
	It("finds one anywhere", func() {
		Expect(leaks(with("a "+canary+" b", "", ""))).To(HaveLen(1))
		Expect(leaks(with("", "a "+canary, ""))).To(HaveLen(1))
		Expect(leaks(with("", "", canary))).To(HaveLen(1))
		Expect(leaks(driver.Outcome{Response: driver.Response{Error: &driver.Error{Message: canary}}})).To(HaveLen(1))
		Expect(leaks(with("nothing", "of it", "here"))).To(BeEmpty())
	})
	It("finds one within something encoded, at any offset", func() {
		for offset := range 6 {
			text := strings.Repeat("{", offset) + canary + `","more":"of it"}`
			Expect(leaks(with("", base64.StdEncoding.EncodeToString([]byte(text)), ""))).To(HaveLen(1), "offset %d", offset)
		}
	})
	It("tells the canaries apart", func() {
		for place, value := range secrets {
			Expect(leaks(with(value, "", ""))).To(HaveLen(1), place)
		}
	})
})
