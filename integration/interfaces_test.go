package integration_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/driver"
)

var _ = Describe("NICs made beforehand", func() {
	It("follow the order of the networks, and go with the VM", func(ctx SpecContext) {
		networks := driver.Object(
			"dyn", map[string]any{"type": "dynamic", "cloud_properties": map[string]any{"subnet": account.Subnets[0].ID}},
			"second", manual(account.Subnets[0], "10.0.0.11", nil),
			"first", manual(account.Subnets[0], "10.0.0.10", nil))
		vm := createVM(ctx, director(), nil, networks)
		addresses := []string{}
		created := aws.Calls().Of("CreateNetworkInterface")
		for _, call := range created {
			addresses = append(addresses, call.Param("PrivateIpAddress"))
			Expect(call.Tags("network-interface")).To(HaveKeyWithValue("bosh-director", driver.DefaultDirector))
			Expect(call.Param("ClientToken")).NotTo(BeEmpty())
		}
		Expect(addresses).To(ConsistOf("10.0.0.11", "10.0.0.10", ""))
		Expect(launch()).To(haveParam("NetworkInterface.1.DeviceIndex", "0"))
		primary, err := describe(ctx, "DescribeNetworkInterfaces", "NetworkInterfaceId.1", launch().Param("NetworkInterface.1.NetworkInterfaceId"))
		Expect(err).NotTo(HaveOccurred())
		Expect(primary.Value("networkInterfaceSet/item/privateIpAddress")).To(Equal("10.0.0.11"))

		kept := aws.Calls().Of("ModifyNetworkInterfaceAttribute")
		Expect(kept).To(HaveLen(3))
		for _, call := range kept {
			Expect(call).To(haveParam("Attachment.DeleteOnTermination", "true"))
		}
		succeed(ctx, director(), "delete_vm", vm)
		expectNothingLeft(ctx)
	})

	It("are made side by side", func(ctx SpecContext) {
		networks := driver.Object("a", manual(account.Subnets[0], "10.0.0.10", nil), "b", manual(account.Subnets[0], "10.0.0.11", nil), "c", manual(account.Subnets[0], "10.0.0.12", nil))
		createVM(ctx, director(), nil, networks)
		created := aws.Calls().Of("CreateNetworkInterface")
		Expect(created).To(HaveLen(3))
		for _, call := range created[1:] {
			Expect(call.Start).To(BeTemporally("<", created[0].Start.Add(created[0].Duration)), "each begins before the first one ends")
		}
	})

	It("take delegated prefixes, a public address and no source/dest check", func(ctx SpecContext) {
		group := func(more map[string]any) map[string]any {
			more["nic_group"] = "1"
			return more
		}
		networks := driver.Object(
			"v4", manual(account.Subnets[0], "10.0.0.10", group(map[string]any{})),
			"p4", manual(account.Subnets[0], "10.0.1.0", group(map[string]any{"prefix": "28"})),
			"v6", manual(account.Subnets[0], account.Subnets[0].IPv6(16), group(map[string]any{"prefix": 128})),
			"p6", manual(account.Subnets[0], account.Subnets[0].IPv6(0), group(map[string]any{"prefix": 80})))
		vm := createVM(ctx, director(), map[string]any{"auto_assign_public_ip": true, "source_dest_check": false}, networks)
		calls := aws.Calls()
		Expect(calls.Of("CreateNetworkInterface")).To(HaveLen(1))
		Expect(calls.Of("CreateNetworkInterface")[0]).To(haveParam("Ipv6Addresses.1.Ipv6Address", account.Subnets[0].IPv6(16)))
		Expect(calls.Of("CreateNetworkInterface")[0].Params).NotTo(HaveKey("Ipv6Prefix.1.Ipv6Prefix"))
		Expect(calls.Of("AssignPrivateIpAddresses")).To(ConsistOf(haveParam("Ipv4Prefix.1", "10.0.1.0/28")))
		Expect(calls.Of("AssignIpv6Addresses")).To(ConsistOf(haveParam("Ipv6Prefix.1", account.Subnets[0].IPv6(0)+"/80")))
		Expect(calls.Of("ModifyNetworkInterfaceAttribute")).To(ConsistOf(
			haveParam("AssociatePublicIpAddress", "true"), haveParam("SourceDestCheck.Value", "false"), haveParam("Attachment.DeleteOnTermination", "true")))
		succeed(ctx, director(), "delete_vm", vm)
		expectNothingLeft(ctx)
	})

	It("are the one to which the elastic IP of a nic_group goes", func(ctx SpecContext) {
		networks := driver.Object(
			"a", manual(account.Subnets[0], "10.0.0.10", nil),
			"b", manual(account.Subnets[0], "10.0.0.11", map[string]any{"nic_group": "public"}),
			"vip", map[string]any{"type": "vip", "ip": account.ElasticIP.IP, "nic_group": "public"})
		createVM(ctx, director(), nil, networks)
		associated := aws.Calls().Of("AssociateAddress")
		Expect(associated).To(HaveLen(1))
		Expect(associated[0]).To(haveParam("NetworkInterfaceId", launch().Param("NetworkInterface.2.NetworkInterfaceId")))
		Expect(associated[0]).To(haveParam("AllowReassociation", "true"))
	})
})
