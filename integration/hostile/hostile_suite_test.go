// Package hostile_test runs the executable in surroundings that are not as they
// should be: no place to write, nobody who listens, requests beyond all measure,
// endpoints that are anything but AWS. Each gets one valid answer that says what
// is wrong, or succeeds where it should, in bounded time and memory; the suite
// ends with a table of them all.
package hostile_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/emulator"
	"bosh-aws-cpi/integration/life"
	"bosh-aws-cpi/integration/proxy"
)

func TestHostile(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "hostile surroundings")
}

// What all specs share, and what each finds fresh.
var (
	executable string
	scratch    string
	moto       *emulator.Emulator
	aws        *proxy.Proxy
	account    emulator.Account
	before     []string // the account's inventory when the spec began
	config     driver.Config
)

var _ = BeforeSuite(func(ctx SpecContext) {
	var err error
	scratch, err = os.MkdirTemp("", "bosh-aws-cpi-hostile-")
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
})

var _ = AfterSuite(func() { fmt.Print(table(answers)) })

var _ = BeforeEach(func(ctx SpecContext) {
	aws.Reset()
	Expect(moto.Reset(ctx)).To(Succeed())
	var err error
	account, err = moto.NewAccount(ctx, "")
	Expect(err).NotTo(HaveOccurred())
	before = inventory(ctx)
	config = driver.Config{
		Endpoint: aws.URL, Region: account.Region, TimeScale: 0.02, HTTPTimeout: 2,
		AWS: map[string]any{"max_retries": 1},
	}
})

func inventory(ctx context.Context) []string {
	GinkgoHelper()
	list, err := moto.Inventory(ctx, account.Region)
	Expect(err).NotTo(HaveOccurred())
	return list
}

// left is what a call left in the account.
func left(ctx context.Context) []string {
	GinkgoHelper()
	return emulator.Diff(before, inventory(ctx))
}

// director returns a caller with the spec's configuration.
func director() driver.CPI {
	GinkgoHelper()
	path, err := config.Write(scratch)
	Expect(err).NotTo(HaveOccurred())
	return driver.CPI{Path: executable, ConfigPath: path, RequestID: "cpi-4711", Memory: true}
}

// vmArguments are create_vm's, with one network or the given ones.
func vmArguments(networks any, env any) []any {
	if networks == nil {
		networks = driver.Object("default", life.Network(account, 10))
	}
	return []any{life.AgentID, account.Image + " light", life.Properties(account), networks, []string{}, env}
}

// noDisk is a disk cid as they are, of a disk that is not there.
const noDisk = "vol-00000000000000000"
