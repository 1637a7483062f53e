// Package release_test renders the release's job as the bosh CLI does, runs its
// bin/cpi with the executable of this checkout, and holds what the executable does
// against what the manifest said.
package release_test

import (
	"context"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/emulator"
	"bosh-aws-cpi/integration/proxy"
	"bosh-aws-cpi/integration/release/job"
)

func TestRelease(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "the release's job")
}

// What all specs share.
var (
	theJob     *job.Job
	executable string
	moto       *emulator.Emulator
	aws        *proxy.Proxy
	account    emulator.Account
)

var _ = BeforeSuite(func(ctx SpecContext) {
	var err error
	theJob, err = job.Load(ctx)
	Expect(err).NotTo(HaveOccurred())
	executable, err = driver.Build(ctx, GinkgoT().TempDir())
	Expect(err).NotTo(HaveOccurred())
	moto, err = emulator.Start(ctx, emulator.Options{Stderr: GinkgoWriter})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(moto.Stop)
	aws, err = proxy.Start(proxy.Options{Upstream: moto.URL})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(aws.Close)
	account, err = moto.NewAccount(ctx, "")
	Expect(err).NotTo(HaveOccurred())
})

// installed is the job with the properties of one manifest.
type installed struct {
	root       string
	properties map[string]any    // by their dotted names
	files      map[string]string // rendered, by the paths of the spec
	env        []string          // of calls, besides PATH, TMPDIR and HOME
}

// install renders the job for a manifest with these properties.
func install(ctx context.Context, properties map[string]any) *installed {
	GinkgoHelper()
	i := &installed{root: GinkgoT().TempDir(), properties: properties}
	var err error
	i.files, err = theJob.Install(ctx, i.root, executable, job.Nest(properties))
	Expect(err).NotTo(HaveOccurred())
	i.env = job.Environment(i.root)
	return i
}

// cpi is the job's bin/cpi, called as the CLI calls it.
func (i *installed) cpi() driver.CPI {
	return driver.CPI{Path: job.Script(i.root), Env: i.env, RequestID: "cpi-1"}
}

// succeed calls and expects success.
func (i *installed) succeed(ctx context.Context, method string, arguments ...any) driver.Outcome {
	GinkgoHelper()
	outcome := i.cpi().Call(ctx, method, arguments...)
	Expect(outcome.Err()).NotTo(HaveOccurred(), "%s\n%s", method, outcome.Stderr)
	return outcome
}

// fail calls and expects an error, which it returns.
func (i *installed) fail(ctx context.Context, method string, arguments ...any) *driver.Error {
	GinkgoHelper()
	outcome := i.cpi().Call(ctx, method, arguments...)
	Expect(outcome.Invalid).NotTo(HaveOccurred(), "%s\n%s", method, outcome.Stderr)
	Expect(outcome.Response.Error).NotTo(BeNil(), "%s succeeded: %s", method, outcome.Response.Result)
	return outcome.Response.Error
}

// with are properties that make the CPI work on the emulator, and more.
func with(more map[string]any) map[string]any {
	properties := map[string]any{
		"aws.access_key_id": driver.AccessKey, "aws.secret_access_key": driver.SecretKey, "aws.region": account.Region,
		"aws.ec2_endpoint": aws.URL, "aws.elb_endpoint": aws.URL, "aws.sts_endpoint": aws.URL, "aws.ebs_endpoint": aws.URL,
		"aws.default_security_groups": []string{account.Groups[0].ID},
		"debug.cpi.time_scale":        0.01, "debug.cpi.http_timeout": 10,
	}
	for name, value := range more {
		properties[name] = value
		if value == nil {
			delete(properties, name)
		}
	}
	return properties
}

// without are the same, of which nothing reaches AWS but what is named.
func without(more map[string]any) map[string]any {
	properties := with(map[string]any{
		"aws.ec2_endpoint": nil, "aws.elb_endpoint": nil, "aws.sts_endpoint": nil, "aws.ebs_endpoint": nil,
		// Nobody listens there: what goes astray stays on this machine.
		"env.https_proxy": "http://127.0.0.1:1", "env.http_proxy": "http://127.0.0.1:1", "aws.max_retries": 0,
	})
	for name, value := range more {
		properties[name] = value
	}
	return properties
}

// hasVM asks for a VM that is not there, the least call that needs credentials.
var hasVM = []any{"i-00000000000000000"}
