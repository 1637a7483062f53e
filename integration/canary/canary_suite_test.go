// Package canary_test plants distinctive secrets in every place that can hold
// one, makes every method succeed and fail at the most verbose level of
// logging, and looks for the secrets in all that comes out: stdout, stderr, the
// message and the log.
package canary_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/emulator"
	"bosh-aws-cpi/integration/fakeregistry"
	"bosh-aws-cpi/integration/proxy"
)

func TestCanary(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "canary")
}

// world is the account, what stands before it, and the instance metadata.
type world struct {
	moto     *emulator.Emulator
	proxy    *proxy.Proxy
	registry *fakeregistry.Registry
	metadata *httptest.Server
	account  emulator.Account
	program  string
	dir      string
}

var w *world

var _ = BeforeSuite(func(ctx SpecContext) {
	w = &world{dir: GinkgoT().TempDir()}
	var err error
	w.program, err = driver.Build(ctx, w.dir)
	Expect(err).NotTo(HaveOccurred())
	w.moto, err = emulator.Start(ctx, emulator.Options{Stderr: GinkgoWriter})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(w.moto.Stop)
	w.proxy, err = proxy.Start(proxy.Options{Upstream: w.moto.URL, KeepAnswers: true})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(w.proxy.Close)
	w.registry, err = fakeregistry.Start(secret("registry.user"), secret("registry.password"))
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(w.registry.Close)
	w.metadata = httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		answer.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "60")
		fmt.Fprint(answer, "i-0123456789abcdef0")
	}))
	DeferCleanup(w.metadata.Close)
	w.account, err = w.moto.NewAccount(ctx, "")
	Expect(err).NotTo(HaveOccurred())
})

var _ = AfterSuite(func() {
	fmt.Printf("\n%d canaries, and %d calls without any of them in stdout, stderr, message or log\n", len(secrets), checked)
})

// mode is a way of telling an agent its settings.
type mode struct {
	name          string
	api, stemcell int
	registry      bool
}

var modes = []mode{
	{name: "without a registry", api: 2, stemcell: 3},
	{name: "with a registry", api: 1, stemcell: 1, registry: true},
	{name: "with a registry that is not used", api: 3, stemcell: 3, registry: true},
}

// config is a configuration full of secrets.
func config(m mode) driver.Config {
	c := driver.Config{
		Endpoint: w.proxy.URL, Region: w.account.Region, TimeScale: 0.01, HTTPTimeout: 5, LogLevel: "debug",
		AWS: map[string]any{
			"secret_access_key": secret("aws.secret_access_key"),
			"session_token":     secret("aws.session_token"),
			"role_arn":          "arn:aws:iam::" + emulator.Owner + ":role/cpi",
			"external_id":       secret("aws.external_id"),
			"max_retries":       1,
		},
		Agent: map[string]any{
			"ntp":  []string{"0.pool.ntp.org"},
			"mbus": "nats://nats:" + secret("agent.mbus") + "@10.0.0.6:4222",
			"blobstore": map[string]any{"provider": "dav", "options": map[string]any{
				"user": "agent", "secret": secret("agent.blobstore.options.secret"),
			}},
			"extra": []any{secret("agent.extra[]")},
		},
	}
	if m.registry {
		c.Registry = &driver.Registry{
			Endpoint: withUser(w.registry.URL, secret("registry.endpoint user"), secret("registry.endpoint password")),
			User:     secret("registry.user"), Password: secret("registry.password"),
		}
	}
	return c
}

// withUser puts credentials into a URL.
func withUser(url, user, password string) string {
	return strings.Replace(url, "://", "://"+user+":"+password+"@", 1)
}

// cpi is the executable with a configuration, called as a mode says and as
// verbose as it can be.
func cpi(m mode, c driver.Config) driver.CPI {
	GinkgoHelper()
	path, err := c.Write(w.dir)
	Expect(err).NotTo(HaveOccurred())
	return driver.CPI{
		Path: w.program, ConfigPath: path, RequestID: "request-1", APIVersion: m.api, StemcellAPIVersion: m.stemcell,
		Env: []string{"BOSH_LOG_LEVEL=debug", "AWS_EC2_METADATA_SERVICE_ENDPOINT=" + w.metadata.URL},
	}
}

// env is a VM's environment full of secrets.
func env() map[string]any {
	return map[string]any{
		"bosh": map[string]any{
			"password": secret("env.bosh.password"),
			"mbus": map[string]any{"cert": map[string]any{
				"ca": "ca", "certificate": "certificate", "private_key": secret("env.bosh.mbus.cert.private_key"),
			}},
			"blobstores": []any{map[string]any{"provider": "s3", "options": map[string]any{"secret_access_key": secret("env.bosh.blobstores[].options")}}},
			"tags":       map[string]any{"deployment": "cf"},
		},
		"own": []any{secret("env of an operator's own")},
	}
}

// createVM are the arguments of a create_vm with secrets; changes replace its
// cloud properties.
func createVM(host int, changes map[string]any) []any {
	subnet := w.account.Subnets[0]
	properties := map[string]any{
		"instance_type": "t3.micro", "availability_zone": subnet.Zone, "security_groups": []string{w.account.Groups[0].ID},
	}
	for key, value := range changes {
		properties[key] = value
	}
	network := map[string]any{
		"type": "manual", "ip": subnet.IP(host), "netmask": subnet.Netmask(), "gateway": subnet.Gateway(), "dns": []string{"10.0.0.2"},
		"cloud_properties": map[string]any{"subnet": subnet.ID},
	}
	return []any{"agent-1", w.account.Image + " light", properties, map[string]any{"default": network}, []any{}, env()}
}

// call is one of a run.
type call struct {
	method    string
	arguments []any
}

const (
	someVM   = "i-0123456789abcdef0"
	someDisk = "vol-0123456789abcdef0"
)

// everyMethod calls each method there is about something that need not be
// there.
func everyMethod() []call {
	stemcell := map[string]any{"ami": map[string]any{w.account.Region: w.account.Image}, "tags": map[string]any{"a": "b"}}
	network := map[string]any{"type": "manual", "range": "10.0.64.0/24", "cloud_properties": map[string]any{"vpc": w.account.VPC, "availability_zone": w.account.Subnets[0].Zone}}
	size := map[string]any{"cpu": 1, "ram": 1024, "ephemeral_disk_size": 1024}
	none := map[string]any{}
	return []call{
		{"info", nil}, {"ping", nil}, {"calculate_vm_cloud_properties", []any{size}},
		{"create_stemcell", []any{"/image", stemcell}}, {"delete_stemcell", []any{w.account.Image}},
		{"create_vm", createVM(20, nil)}, {"has_vm", []any{someVM}}, {"reboot_vm", []any{someVM}},
		{"set_vm_metadata", []any{someVM, map[string]any{"job": "a", "index": 0}}}, {"get_disks", []any{someVM}}, {"delete_vm", []any{someVM}},
		{"create_disk", []any{1024, none}}, {"create_disk", []any{1024, none, someVM}}, {"has_disk", []any{someDisk}},
		{"set_disk_metadata", []any{someDisk, map[string]any{"a": "b"}}},
		{"attach_disk", []any{someVM, someDisk}}, {"detach_disk", []any{someVM, someDisk}}, {"resize_disk", []any{someDisk, 4096}},
		{"update_disk", []any{someDisk, 4096, none}}, {"snapshot_disk", []any{someDisk, map[string]any{"deployment": "cf"}}},
		{"delete_snapshot", []any{"snap-0123456789abcdef0"}}, {"delete_disk", []any{someDisk}},
		{"create_network", []any{network}}, {"delete_network", []any{"subnet-0123456789abcdef0"}},
		{"current_vm_id", nil}, {"configure_networks", []any{someVM, none}},
	}
}

// offline are the methods that ask neither AWS nor the registry.
var offline = []string{"info", "ping", "calculate_vm_cloud_properties", "current_vm_id", "configure_networks"}

// succeed calls and expects success, and no leak.
func succeed(ctx context.Context, c driver.CPI, method string, arguments ...any) driver.Outcome {
	GinkgoHelper()
	outcome := attempt(ctx, c, method, arguments...)
	Expect(outcome.Err()).NotTo(HaveOccurred(), method)
	Expect(string(outcome.Stderr)).To(ContainSubstring("DEBUG"), "%s is not as verbose as it can be", method)
	return outcome
}

// attempt calls and expects no leak.
func attempt(ctx context.Context, c driver.CPI, method string, arguments ...any) driver.Outcome {
	GinkgoHelper()
	outcome := c.Call(ctx, method, arguments...)
	expectNoLeak(method, outcome)
	return outcome
}

// fail calls and expects an error, and no leak.
func fail(ctx context.Context, c driver.CPI, method string, arguments ...any) driver.Outcome {
	GinkgoHelper()
	outcome := attempt(ctx, c, method, arguments...)
	Expect(outcome.Response.Error).NotTo(BeNil(), "%s was to fail", method)
	return outcome
}

// writeFile writes a configuration file as it is.
func writeFile(content string) string {
	GinkgoHelper()
	file, err := os.CreateTemp(w.dir, "broken-*.json")
	Expect(err).NotTo(HaveOccurred())
	defer file.Close()
	_, err = file.WriteString(content)
	Expect(err).NotTo(HaveOccurred())
	return file.Name()
}
