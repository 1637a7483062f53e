package director_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/director"
	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/emulator"
	"bosh-aws-cpi/integration/proxy"
	"bosh-aws-cpi/integration/release/job"
)

func TestDirector(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "a Director's view")
}

var (
	moto    *emulator.Emulator
	aws     *proxy.Proxy
	machine director.Machine
	account emulator.Account // of the job's own properties
)

const (
	uuid       = "7225cb2a-7a1c-4a1c-8d2f-d12ec7040002"
	instanceID = "i-0123456789abcdef0" // of the Director's VM
)

var _ = BeforeSuite(func(ctx SpecContext) {
	executable, err := driver.Build(ctx, GinkgoT().TempDir())
	Expect(err).NotTo(HaveOccurred())
	theJob, err := job.Load(ctx)
	Expect(err).NotTo(HaveOccurred())
	moto, err = emulator.Start(ctx, emulator.Options{Stderr: GinkgoWriter})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(moto.Stop)
	aws, err = proxy.Start(proxy.Options{Upstream: moto.URL})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(aws.Close)
	account, err = moto.NewAccount(ctx, "")
	Expect(err).NotTo(HaveOccurred())
	metadata := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
		answer.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "60")
		fmt.Fprint(answer, instanceID)
	}))
	DeferCleanup(metadata.Close)
	machine, err = director.NewMachine(ctx, theJob, GinkgoT().TempDir(), executable, job.Nest(properties()),
		"AWS_EC2_METADATA_SERVICE_ENDPOINT="+metadata.URL)
	Expect(err).NotTo(HaveOccurred())
})

// properties are the job's, in the Director's manifest.
func properties() map[string]any {
	return map[string]any{
		"aws.access_key_id": driver.AccessKey, "aws.secret_access_key": driver.SecretKey, "aws.region": account.Region,
		"aws.ec2_endpoint": aws.URL, "aws.elb_endpoint": aws.URL, "aws.sts_endpoint": aws.URL, "aws.ebs_endpoint": aws.URL,
		"aws.default_key_name": account.KeyName, "aws.default_security_groups": []string{account.Groups[0].ID},
		"agent.mbus":           "nats://10.0.0.6:4222",
		"debug.cpi.time_scale": 0.02, "debug.cpi.http_timeout": 10, "aws.max_retries": 1,
	}
}

// seen counts what came of the calls of each method.
var (
	seenMu sync.Mutex
	seen   = map[string]map[string]int{}
)

// invoke makes a call and notes what came of it. An answer outside the schema, or
// an error that the Director does not know, fails the spec.
func invoke(ctx context.Context, cpi director.ExternalCPI, method string, arguments ...any) (json.RawMessage, error) {
	result, err := cpi.Invoke(ctx, method, arguments...)
	outcome := "ok"
	var known *driver.Error
	if errors.As(err, &known) {
		outcome = strings.TrimPrefix(known.Type, "Bosh::Clouds::")
	} else if err != nil {
		outcome = fmt.Sprintf("%T", err)
	}
	seenMu.Lock()
	if seen[method] == nil {
		seen[method] = map[string]int{}
	}
	seen[method][outcome]++
	seenMu.Unlock()
	GinkgoHelper()
	if known == nil {
		Expect(err).NotTo(HaveOccurred(), method)
	}
	return result, err
}

// succeed calls and expects success.
func succeed(ctx context.Context, cpi director.ExternalCPI, method string, arguments ...any) driver.Outcome {
	GinkgoHelper()
	result, err := invoke(ctx, cpi, method, arguments...)
	Expect(err).NotTo(HaveOccurred(), method)
	return driver.Outcome{Response: driver.Response{Result: result}}
}

var _ = ReportAfterSuite("methods", func(Report) {
	fmt.Printf("\nbin/cpi %s: %d methods\n", machine.How, len(seen))
	for _, method := range slices.Sorted(keys(seen)) {
		var outcomes []string
		for outcome, count := range seen[method] {
			outcomes = append(outcomes, fmt.Sprintf("%d %s", count, outcome))
		}
		slices.Sort(outcomes)
		fmt.Fprintf(os.Stdout, "  %-30s %s\n", method, strings.Join(outcomes, ", "))
	}
})
