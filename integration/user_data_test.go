package integration_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/life"
)

// agentEnv is an env with everything that agents find there.
var agentEnv = map[string]any{"bosh": map[string]any{
	"mbus": map[string]any{"cert": map[string]any{"ca": "CA", "private_key": "KEY"}}, "password": "*", "tags": map[string]any{"deployment": "cf"},
}}

// userData returns the decoded user data of the only launch.
func userData() map[string]any {
	GinkgoHelper()
	launches := aws.Calls().Of("RunInstances")
	Expect(launches).To(HaveLen(1))
	encoded := launches[0].Param("UserData")
	Expect(encoded).NotTo(ContainSubstring("\n"))
	data, err := base64.StdEncoding.DecodeString(encoded)
	Expect(err).NotTo(HaveOccurred())
	var content map[string]any
	Expect(json.Unmarshal(data, &content)).To(Succeed())
	return content
}

var vmName = regexp.MustCompile(`^vm-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// expectWhole compares settings whole, but for the VM's name, which is random.
func expectWhole(content map[string]any, whole string) {
	GinkgoHelper()
	if vm, found := content["vm"].(map[string]any); found {
		Expect(vm["name"]).To(MatchRegexp(vmName.String()))
		vm["name"] = "vm-NAME"
	}
	text, err := json.Marshal(content)
	Expect(err).NotTo(HaveOccurred())
	Expect(text).To(MatchJSON(whole))
}

// macs returns the MACs of the VM's NICs by private address.
func macs(ctx SpecContext, vm string) map[string]string {
	GinkgoHelper()
	described, err := describe(ctx, "DescribeInstances", "InstanceId.1", vm)
	Expect(err).NotTo(HaveOccurred())
	found := map[string]string{}
	for _, nic := range described.All("reservationSet/item/instancesSet/item/networkInterfaceSet/item") {
		found[nic.Value("privateIpAddress")] = nic.Value("macAddress")
	}
	return found
}

var _ = Describe("What the agent learns", func() {
	const full = `{
		"vm": {"name": "vm-NAME"}, "agent_id": "6a5a1f2e-8b1c-4f4e-9d55-0d3f6a6a2b10", "networks": %s,
		"disks": {"system": "/dev/xvda", "ephemeral": "/dev/sdb", "persistent": {}},
		"env": {"bosh": {"mbus": {"cert": {"ca": "CA", "private_key": "KEY"}}, "password": "*", "tags": {"deployment": "cf"}}},
		"ntp": ["0.pool.ntp.org"], "mbus": "nats://10.0.0.6:4222"%s}`
	const dns = `, "dns": {"nameserver": ["10.0.0.2"]}`

	network := func(ip, more string) string {
		subnet := account.Subnets[0]
		return fmt.Sprintf(`{"type": "manual", "ip": %q, "netmask": "255.255.240.0", "gateway": "10.0.0.1", "use_dhcp": true,
			"cloud_properties": {"subnet": %q}%s}`, ip, subnet.ID, more)
	}
	withDNS := map[string]any{"dns": []string{"10.0.0.2"}, "default": []string{"dns", "gateway"}}
	const dnsKeys = `, "dns": ["10.0.0.2"], "default": ["dns", "gateway"]`

	Context("without a registry", func() {
		It("is everything, for one network", func(ctx SpecContext) {
			networks := driver.Object("default", manual(account.Subnets[0], "10.0.0.10", withDNS))
			succeed(ctx, director(), "create_vm", vmArguments(nil, networks, nil, agentEnv)...)
			expectWhole(userData(), fmt.Sprintf(full, `{"default": `+network("10.0.0.10", dnsKeys)+`}`, dns))
		})

		It("has no MAC for one network and a vip", func(ctx SpecContext) {
			networks := driver.Object("public", map[string]any{"type": "vip", "ip": account.ElasticIP.IP},
				"default", manual(account.Subnets[0], "10.0.0.10", withDNS))
			succeed(ctx, director(), "create_vm", vmArguments(nil, networks, nil, agentEnv)...)
			vip := fmt.Sprintf(`{"type": "vip", "ip": %q, "use_dhcp": true}`, account.ElasticIP.IP)
			expectWhole(userData(), fmt.Sprintf(full, `{"public": `+vip+`, "default": `+network("10.0.0.10", dnsKeys)+`}`, dns))
		})

		It("has the same MAC for two networks on one NIC", func(ctx SpecContext) {
			ipv6 := account.Subnets[0].IPv6(16)
			networks := driver.Object("v4", manual(account.Subnets[0], "10.0.0.10", map[string]any{"nic_group": "eth0"}),
				"v6", manual(account.Subnets[0], ipv6, map[string]any{"nic_group": "eth0"}))
			vm := succeed(ctx, director(), "create_vm", vmArguments(nil, networks, nil, agentEnv)...).VM()
			mac := fmt.Sprintf(`, "nic_group": "eth0", "mac": %q`, macs(ctx, vm)["10.0.0.10"])
			expectWhole(userData(), fmt.Sprintf(full, `{"v4": `+network("10.0.0.10", mac)+`, "v6": `+network(ipv6, mac)+`}`, ""))
		})

		It("has the MAC of each NIC for two NICs", func(ctx SpecContext) {
			networks := driver.Object("z", manual(account.Subnets[0], "10.0.0.10", nil), "a", manual(account.Subnets[0], "10.0.0.11", nil))
			vm := succeed(ctx, director(), "create_vm", vmArguments(nil, networks, nil, agentEnv)...).VM()
			mac := func(ip string) string { return fmt.Sprintf(`, "mac": %q`, macs(ctx, vm)[ip]) }
			Expect(macs(ctx, vm)).To(HaveLen(2))
			expectWhole(userData(), fmt.Sprintf(full,
				`{"z": `+network("10.0.0.10", mac("10.0.0.10"))+`, "a": `+network("10.0.0.11", mac("10.0.0.11"))+`}`, ""))
		})

		It("names a registry that is configured all the same, and writes nothing there", func(ctx SpecContext) {
			withRegistry()
			succeed(ctx, director(), "create_vm", vmArguments(nil, driver.Object("default", manual(account.Subnets[0], "10.0.0.10", nil)), nil, agentEnv)...)
			expectWhole(userData(), fmt.Sprintf(full, `{"default": `+network("10.0.0.10", "")+`}`, fmt.Sprintf(`, "registry": {"endpoint": %q}`, registry.URL)))
			Expect(registry.Requests()).To(BeEmpty())
		})

		It("touches no registry over a whole life", func(ctx SpecContext) {
			withRegistry()
			Expect(life.Live(ctx, director(), aws, account, life.OneVM(), func(life.Happened) {})).To(Succeed())
			Expect(registry.Requests()).To(BeEmpty())
		})
	})

	DescribeTable("with a registry, for callers or stemcells of version 1, the rest is in the registry",
		func(ctx SpecContext, api, stemcell int) {
			withRegistry()
			cpi := director()
			cpi.APIVersion, cpi.StemcellAPIVersion = api, stemcell
			networks := driver.Object("default", manual(account.Subnets[0], "10.0.0.10", withDNS))
			vm := succeed(ctx, cpi, "create_vm", vmArguments(nil, networks, nil, agentEnv)...).VM()
			asSent := `{"default": ` + network("10.0.0.10", dnsKeys) + `}`

			By("user data that names the registry")
			expectWhole(userData(), fmt.Sprintf(`{"registry": {"endpoint": %q}, "networks": %s%s}`, registry.URL, asSent, dns))
			By("settings without dns")
			expectWhole(registry.Settings(vm), fmt.Sprintf(full, asSent, ""))

			By("the disk after attach_disk, and nothing else changed")
			disk := createDisk(ctx, cpi, vm)
			succeed(ctx, cpi, "attach_disk", vm, disk)
			hint := "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_" + "vol" + disk[len("vol-"):]
			settings := registry.Settings(vm)
			Expect(settings["disks"]).To(HaveKeyWithValue("persistent", map[string]any{disk: hint}))
			settings["disks"].(map[string]any)["persistent"] = map[string]any{}
			expectWhole(settings, fmt.Sprintf(full, asSent, ""))

			By("no disk after detach_disk")
			succeed(ctx, cpi, "detach_disk", vm, disk)
			expectWhole(registry.Settings(vm), fmt.Sprintf(full, asSent, ""))

			By("no settings after delete_vm")
			succeed(ctx, cpi, "delete_disk", disk)
			succeed(ctx, cpi, "delete_vm", vm)
			Expect(registry.Content()).To(BeEmpty())
			expectNothingLeft(ctx)
		},
		Entry("API version 1, stemcell version 3", 1, 3),
		Entry("no API version at all", -1, 3),
		Entry("API version 2, stemcell version 1", 2, 1),
		Entry("API version 3, no stemcell version", 3, -1),
	)

	It("is refused above 16 KiB, before any call, with its size", func(ctx SpecContext) {
		env := map[string]any{"bosh": map[string]any{"blob": string(make([]byte, 17<<10))}}
		refused := fail(ctx, director(), "Bosh::Clouds::CloudError", "create_vm", vmArguments(nil, nil, nil, env)...)
		Expect(refused.Message).To(MatchRegexp(`user data has \d+ bytes and EC2 takes 16384`))
		Expect(aws.Calls()).To(BeEmpty())
	})

	It("needs a registry for version 1, and says so before any call", func(ctx SpecContext) {
		cpi := director()
		cpi.StemcellAPIVersion = 1
		refused := fail(ctx, cpi, "Bosh::Clouds::CpiError", "create_vm", vmArguments(nil, nil, nil, nil)...)
		Expect(refused.Message).To(ContainSubstring("registry.endpoint is not configured"))
		Expect(aws.Calls()).To(BeEmpty())
	})
})
