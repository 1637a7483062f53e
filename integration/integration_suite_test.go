// Package integration_test drives the built executable as the BOSH Director
// does, against an AWS emulator behind a recording proxy, and asserts on
// results, on the AWS calls that were made, and on what is left in the account.
package integration_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/emulator"
	"bosh-aws-cpi/integration/emulator/query"
	"bosh-aws-cpi/integration/fakeregistry"
	"bosh-aws-cpi/integration/life"
	"bosh-aws-cpi/integration/proxy"
)

func TestIntegration(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "integration")
}

// What all specs share, and what each finds fresh.
var (
	executable string
	scratch    string
	moto       *emulator.Emulator
	aws        *proxy.Proxy
	registry   *fakeregistry.Registry

	account emulator.Account
	before  []string // the account's inventory when the spec began
	config  driver.Config
)

const (
	registryUser     = "registry-user"
	registryPassword = "registry-password"
)

var _ = BeforeSuite(func(ctx SpecContext) {
	var err error
	scratch, err = os.MkdirTemp("", "bosh-aws-cpi-integration-")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(os.RemoveAll, scratch)
	executable, err = driver.Build(ctx, scratch)
	Expect(err).NotTo(HaveOccurred())
	moto, err = emulator.Start(ctx, emulator.Options{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { moto.Stop() })
	aws, err = proxy.Start(proxy.Options{Upstream: moto.URL})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { aws.Close() })
	registry, err = fakeregistry.Start(registryUser, registryPassword)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { registry.Close() })
})

var _ = BeforeEach(func(ctx SpecContext) {
	aws.Reset()
	registry.Clear()
	Expect(moto.Reset(ctx)).To(Succeed())
	var err error
	account, err = moto.NewAccount(ctx, "")
	Expect(err).NotTo(HaveOccurred())
	before = inventory(ctx)
	config = driver.Config{Endpoint: aws.URL, Region: account.Region, TimeScale: 0.02, HTTPTimeout: 10}
})

// inventory lists what a CPI could leave behind in the account.
func inventory(ctx context.Context) []string {
	GinkgoHelper()
	list, err := moto.Inventory(ctx, account.Region)
	Expect(err).NotTo(HaveOccurred())
	return list
}

// expectNothingLeft holds the account against what it held when the spec began.
func expectNothingLeft(ctx context.Context) {
	GinkgoHelper()
	Expect(emulator.Diff(before, inventory(ctx))).To(BeEmpty())
}

// director returns a caller with the spec's configuration, as the Director is:
// API version 2, stemcell API version 3.
func director() driver.CPI {
	GinkgoHelper()
	path, err := config.Write(scratch)
	Expect(err).NotTo(HaveOccurred())
	return driver.CPI{Path: executable, ConfigPath: path, RequestID: "cpi-4711"}
}

// withRegistry gives the spec's configuration a registry.
func withRegistry() {
	config.Registry = &driver.Registry{Endpoint: registry.URL, User: registryUser, Password: registryPassword}
}

// succeed calls and fails the spec with everything there is to know when the
// call does not succeed.
func succeed(ctx context.Context, cpi driver.CPI, method string, arguments ...any) driver.Outcome {
	GinkgoHelper()
	outcome := cpi.Call(ctx, method, arguments...)
	Expect(outcome.Err()).NotTo(HaveOccurred(), "%s\n%s", method, outcome.Stderr)
	return outcome
}

// fail calls and expects an error of a type, which it returns.
func fail(ctx context.Context, cpi driver.CPI, kind string, method string, arguments ...any) *driver.Error {
	GinkgoHelper()
	outcome := cpi.Call(ctx, method, arguments...)
	Expect(outcome.Invalid).NotTo(HaveOccurred())
	Expect(outcome.ExitCode).To(BeZero())
	Expect(outcome.Response.Error).NotTo(BeNil(), "%s succeeded: %s", method, outcome.Response.Result)
	Expect(outcome.Response.Error.Type).To(Equal(kind), outcome.Response.Error.Message)
	return outcome.Response.Error
}

// vmArguments are create_vm's, with properties changed; a nil value takes one
// out. networks, disks and env may be nil for the usual ones.
func vmArguments(change map[string]any, networks json.RawMessage, disks []string, env any) []any {
	properties := life.Properties(account)
	for key, value := range change {
		properties[key] = value
		if value == nil {
			delete(properties, key)
		}
	}
	if networks == nil {
		networks = driver.Object("default", life.Network(account, 10))
	}
	return []any{life.AgentID, account.Image + " light", properties, networks, disks, env}
}

// createVM makes a VM and returns its cid.
func createVM(ctx context.Context, cpi driver.CPI, change map[string]any, networks json.RawMessage) string {
	GinkgoHelper()
	return succeed(ctx, cpi, "create_vm", vmArguments(change, networks, nil, nil)...).VM()
}

// createDisk makes a disk for a VM and returns its cid.
func createDisk(ctx context.Context, cpi driver.CPI, vm string) string {
	GinkgoHelper()
	return succeed(ctx, cpi, "create_disk", 10240, map[string]any{}, vm).Text()
}

// manual is a manual network of a subnet with an address, and more keys.
func manual(subnet emulator.Subnet, ip string, more map[string]any) map[string]any {
	network := map[string]any{
		"type": "manual", "ip": ip, "netmask": subnet.Netmask(), "gateway": subnet.Gateway(),
		"cloud_properties": map[string]any{"subnet": subnet.ID},
	}
	for key, value := range more {
		network[key] = value
	}
	return network
}

// patience bounds what a spec waits for by itself.
const patience = 30 * time.Second

// describe asks the emulator directly.
func describe(ctx context.Context, action string, parameters ...string) (*query.Node, error) {
	return query.Client{Endpoint: moto.URL, Region: account.Region}.Do(ctx, query.EC2, action, parameters...)
}
