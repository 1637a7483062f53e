// Package heavy_test makes heavy stemcells through the built executable: the
// image is streamed into a snapshot, which the proxy checks as EBS does.
package heavy_test

import (
	"context"
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/emulator"
	"bosh-aws-cpi/integration/proxy"
)

func TestHeavy(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "heavy stemcells")
}

var (
	executable string
	scratch    string
	moto       *emulator.Emulator
	aws        *proxy.Proxy
	before     []string
	config     driver.Config
)

const region = "us-east-1"

var _ = BeforeSuite(func(ctx SpecContext) {
	var err error
	scratch, err = os.MkdirTemp("", "bosh-aws-cpi-heavy-")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(os.RemoveAll, scratch)
	Expect(os.Chmod(scratch, 0o755)).To(Succeed()) // a spec runs as another user
	executable, err = driver.Build(ctx, scratch)
	Expect(err).NotTo(HaveOccurred())
	moto, err = emulator.Start(ctx, emulator.Options{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { moto.Stop() })
	aws, err = proxy.Start(proxy.Options{Upstream: moto.URL})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { aws.Close() })
})

var _ = BeforeEach(func(ctx SpecContext) {
	aws.Reset()
	Expect(moto.Reset(ctx)).To(Succeed())
	before = inventory(ctx)
	config = driver.Config{Endpoint: aws.URL, Region: region, TimeScale: 0.05, HTTPTimeout: 10}
})

func inventory(ctx context.Context) []string {
	GinkgoHelper()
	list, err := moto.Inventory(ctx, region)
	Expect(err).NotTo(HaveOccurred())
	return list
}

func expectNothingLeft(ctx context.Context) {
	GinkgoHelper()
	Expect(emulator.Diff(before, inventory(ctx))).To(BeEmpty())
}

func director() driver.CPI {
	GinkgoHelper()
	path, err := config.Write(scratch)
	Expect(err).NotTo(HaveOccurred())
	return driver.CPI{Path: executable, ConfigPath: path, RequestID: "cpi-4711", APIVersion: 3}
}

// properties are those of a heavy stemcell's manifest, with more keys.
func properties(more map[string]any) map[string]any {
	all := map[string]any{"name": "bosh-aws-xen-hvm-ubuntu-jammy-go_agent", "version": "1.500", "infrastructure": "aws",
		"architecture": "x86_64", "root_device_name": "/dev/sda1", "virtualization_type": "hvm"}
	for key, value := range more {
		all[key] = value
		if value == nil {
			delete(all, key)
		}
	}
	return all
}
