// Package badrequests_test sends the CPI what it must refuse: malformed
// requests, arguments of the wrong kind, resources that do not exist,
// properties that contradict each other, broken configurations. Each is driven
// through the built executable, and held against what the contract says of
// errors: valid JSON, the right type, a message that names method, argument
// and remedy, and nothing changed in the account.
package badrequests_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/emulator"
	"bosh-aws-cpi/integration/fakeregistry"
	"bosh-aws-cpi/integration/proxy"
)

func TestBadRequests(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "bad requests")
}

// world is what the requests are sent to: the emulator behind the recording
// proxy, a registry, and an account with two VMs and some disks.
type world struct {
	moto     *emulator.Emulator
	proxy    *proxy.Proxy
	registry *fakeregistry.Registry
	account  emulator.Account
	program  string
	dir      string
	names    *strings.Replacer // what stands for the account's resources in requests
	before   []string          // what there is in the account
}

var w *world

// timeScale makes the CPI's waits, seconds and minutes, short.
const timeScale = 0.01

var _ = BeforeSuite(func(ctx SpecContext) {
	w = &world{dir: GinkgoT().TempDir()}
	var err error
	w.program, err = driver.Build(ctx, w.dir)
	Expect(err).NotTo(HaveOccurred())
	w.moto, err = emulator.Start(ctx, emulator.Options{Stderr: GinkgoWriter})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(w.moto.Stop)
	w.account, err = w.moto.NewAccount(ctx, "")
	Expect(err).NotTo(HaveOccurred())
	w.proxy, err = proxy.Start(proxy.Options{Upstream: w.moto.URL})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(w.proxy.Close)
	w.registry, err = fakeregistry.Start("registry-user", "registry-password")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(w.registry.Close)
	w.furnish(ctx)
})

var _ = AfterSuite(func() { fmt.Print(table(answers)) })

// furnish makes the VMs and disks that requests are about.
func (w *world) furnish(ctx context.Context) {
	GinkgoHelper()
	account := w.account
	names := []string{
		"{subnet}", account.Subnets[0].ID, "{other subnet}", account.Subnets[1].ID,
		"{zone}", account.Subnets[0].Zone, "{other zone}", account.Subnets[1].Zone,
		"{group}", account.Groups[0].ID, "{group name}", account.Groups[0].Name,
		"{image}", account.Image, "{vpc}", account.VPC, "{route table}", account.RouteTable,
		"{gateway}", account.Subnets[0].Gateway(), "{netmask}", account.Subnets[0].Netmask(),
		"{ip}", account.Subnets[0].IP(50), "{other ip}", account.Subnets[1].IP(50), "{ipv6}", account.Subnets[0].IPv6(50),
		"{taken ip}", account.Subnets[0].IP(10), "{elastic ip}", account.ElasticIP.IP, "{region}", account.Region,
		"{target group}", account.TargetGroup.ARN, "{unknown target group}", account.TargetGroup.ARN + "0",
		"{key}", account.KeyName, "{subnet range}", account.Subnets[0].CIDR, "{registry}", w.registry.URL,
	}
	w.names = strings.NewReplacer(names...)
	make := func(method string, arguments ...any) driver.Outcome {
		GinkgoHelper()
		outcome := w.send(ctx, bad{method: method, arguments: arguments})
		Expect(outcome.Err()).NotTo(HaveOccurred(), method)
		return outcome
	}
	vm := make("create_vm", createVM{networks: oneNetwork(manual("ip", "{taken ip}"))}.arguments()...).VM()
	other := make("create_vm", createVM{networks: oneNetwork(manual("ip", account.Subnets[0].IP(11)))}.arguments()...).VM()
	gone := make("create_vm", createVM{networks: oneNetwork(manual("ip", account.Subnets[0].IP(12)))}.arguments()...).VM()
	disk := make("create_disk", 2048, object{}, vm).Text()
	attached := make("create_disk", 2048, object{}, vm).Text()
	far := w.farDisk(ctx)
	make("attach_disk", vm, attached)
	make("delete_vm", gone)
	w.names = strings.NewReplacer(append(names,
		"{vm}", vm, "{other vm}", other, "{terminated vm}", gone,
		"{disk}", disk, "{attached disk}", attached, "{far disk}", far)...)
	w.before = w.inventory(ctx)
	w.registry.Clear()
}

// farDisk is a disk in the other zone, made for a VM there that is gone again.
func (w *world) farDisk(ctx context.Context) string {
	GinkgoHelper()
	far := createVM{
		properties: properties("availability_zone", "{other zone}"),
		networks:   oneNetwork(manual("ip", "{other ip}", "cloud_properties", object{"subnet": "{other subnet}"})),
	}
	vm := w.send(ctx, bad{method: "create_vm", arguments: far.arguments()}).VM()
	Expect(vm).NotTo(BeEmpty())
	disk := w.send(ctx, bad{method: "create_disk", arguments: []any{1024, object{}, vm}}).Text()
	Expect(disk).NotTo(BeEmpty())
	Expect(w.send(ctx, bad{method: "delete_vm", arguments: []any{vm}}).Err()).NotTo(HaveOccurred())
	return disk
}

func (w *world) inventory(ctx context.Context) []string {
	GinkgoHelper()
	inventory, err := w.moto.Inventory(ctx, "")
	Expect(err).NotTo(HaveOccurred())
	return inventory
}

// send makes the call of a bad request.
func (w *world) send(ctx context.Context, b bad) driver.Outcome {
	GinkgoHelper()
	config := driver.Config{Endpoint: w.proxy.URL, Region: w.account.Region, TimeScale: timeScale, HTTPTimeout: 10}
	if b.config != nil {
		b.config(&config)
	}
	cpi := driver.CPI{Path: w.program, RequestID: "request-1"}
	var err error
	if b.file != nil {
		cpi.ConfigPath = filepath.Join(w.dir, "broken.json")
		err = os.WriteFile(cpi.ConfigPath, []byte(*b.file), 0o600)
	} else {
		cpi.ConfigPath, err = config.Write(w.dir)
	}
	Expect(err).NotTo(HaveOccurred())
	if b.caller != nil {
		b.caller(&cpi)
	}
	request := []byte(b.request)
	if b.method != "" {
		request, err = cpi.Request(b.method, b.arguments...)
		Expect(err).NotTo(HaveOccurred())
	}
	if w.names != nil {
		request = []byte(w.names.Replace(string(request)))
	}
	return cpi.Send(ctx, request)
}
