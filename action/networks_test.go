package action

import (
	"net/netip"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/cpi"
)

var _ = Describe("The networks of a VM", func() {
	read := func(sent string) networks {
		GinkgoHelper()
		read, err := readNetworks("create_vm", jsonObject(sent))
		Expect(err).NotTo(HaveOccurred())
		return read
	}
	// names are those of the NIC groups, in order.
	names := func(n networks) (all []string) {
		for _, group := range n.groups {
			all = append(all, group.name)
		}
		return all
	}
	const subnet = `"cloud_properties":{"subnet":"subnet-1"}`

	It("are manual when they say nothing, each on a NIC of its own", func() {
		n := read(`{"b":{"ip":"10.0.0.5",` + subnet + `},"a":{"type":"manual","ip":"10.0.0.6","cloud_properties":{"subnet":"subnet-2"}}}`)
		Expect(names(n)).To(Equal([]string{"b", "a"}))
		Expect(n.groups[0]).To(HaveValue(Equal(nicGroup{name: "b", subnet: "subnet-1", ipv4: "10.0.0.5"})))
		Expect(n.groups[1]).To(HaveValue(Equal(nicGroup{name: "a", subnet: "subnet-2", ipv4: "10.0.0.6"})))
		Expect(n.several).To(BeTrue())
		Expect(n.vip).To(BeNil())
	})

	It("make NICs in the order of their groups' first appearance, the dynamic network's last", func() {
		n := read(`{"dyn":{"type":"dynamic",` + subnet + `},
			"one":{"ip":"10.0.0.5","nic_group":"y",` + subnet + `},
			"two":{"ip":"10.0.0.6","nic_group":"x",` + subnet + `},
			"three":{"ip":"2001:db8::5","nic_group":"y",` + subnet + `}}`)
		Expect(names(n)).To(Equal([]string{"y", "x", "dyn"}))
	})

	It("share a NIC within a group: an IPv4 and an IPv6 address, and delegated prefixes", func() {
		n := read(`{"v4":{"ip":"10.0.0.5","prefix":"32","nic_group":1,` + subnet + `},
			"v6":{"ip":"2001:db8::5","prefix":128,"nic_group":"1",` + subnet + `},
			"pods4":{"ip":"10.0.1.0","prefix":"28","nic_group":"1",` + subnet + `},
			"pods6":{"ip":"2001:db8:0:0:1::","prefix":"80","nic_group":"1",` + subnet + `}}`)
		Expect(n.groups).To(HaveExactElements(HaveValue(Equal(nicGroup{
			name: "1", subnet: "subnet-1", ipv4: "10.0.0.5", ipv6: "2001:db8::5",
			prefixes: []netip.Prefix{netip.MustParsePrefix("10.0.1.0/28"), netip.MustParsePrefix("2001:db8:0:0:1::/80")},
		}))))
		Expect(n.several).To(BeTrue())
	})

	It("may be one IPv6 address", func() {
		Expect(read(`{"v6":{"ip":"2001:db8::5",` + subnet + `}}`).groups).To(HaveExactElements(HaveValue(Equal(nicGroup{name: "v6", subnet: "subnet-1", ipv6: "2001:db8::5"}))))
	})

	It("may be one dynamic network, at any address", func() {
		n := read(`{"d":{"type":"dynamic",` + subnet + `}}`)
		Expect(n.groups).To(HaveExactElements(HaveValue(Equal(nicGroup{name: "d", subnet: "subnet-1"}))))
		Expect(n.several).To(BeFalse())
	})

	It("make one NIC of all dynamic networks, the first one's", func() {
		n := read(`{"d1":{"type":"dynamic",` + subnet + `},"d2":{"type":"dynamic","cloud_properties":{"subnet":"subnet-2"}}}`)
		Expect(n.groups).To(HaveExactElements(HaveValue(Equal(nicGroup{name: "d1", subnet: "subnet-1"}))))
		Expect(n.several).To(BeTrue())
	})

	DescribeTable("name the security groups of all, once each",
		func(sent string, expected []string) { Expect(read(sent).securityGroups).To(Equal(expected)) },
		Entry("none", `{"a":{"ip":"10.0.0.5",`+subnet+`}}`, nil),
		Entry("their union", `{"a":{"ip":"10.0.0.5","cloud_properties":{"subnet":"s","security_groups":["x","y"]}},"d":{"type":"dynamic","cloud_properties":{"subnet":"s","security_groups":["y","z"]}}}`, []string{"x", "y", "z"}),
		Entry("a vip's, too", `{"v":{"type":"vip","ip":"1.2.3.4","cloud_properties":{"security_groups":["w"]}},"a":{"ip":"10.0.0.5",`+subnet+`}}`, []string{"w"}),
	)

	DescribeTable("have the DNS of the first manual one that has any",
		func(sent, expected string) {
			Expect(string(read(sent).dns)).To(Equal(expected))
		},
		Entry("none", `{"a":{"ip":"10.0.0.5",`+subnet+`}}`, ""),
		Entry("empty", `{"a":{"ip":"10.0.0.5","dns":[],`+subnet+`},"b":{"ip":"10.0.0.6","dns":["2.2.2.2","3.3.3.3"],`+subnet+`}}`, `["2.2.2.2","3.3.3.3"]`),
		Entry("the first one's", `{"a":{"ip":"10.0.0.5","dns":["1.1.1.1"],`+subnet+`},"b":{"ip":"10.0.0.6","dns":["2.2.2.2"],`+subnet+`}}`, `["1.1.1.1"]`),
		Entry("not a dynamic one's", `{"d":{"type":"dynamic","dns":["9.9.9.9"],`+subnet+`}}`, ""),
	)

	Describe("and an elastic IP", func() {
		const manual = `"a":{"ip":"10.0.0.5",` + subnet + `},"b":{"ip":"10.0.0.6","nic_group":"g",` + subnet + `}`

		DescribeTable("which goes to a NIC",
			func(sent, group string) {
				n := read(sent)
				Expect(n.vip.ip).To(Equal("1.2.3.4"))
				Expect(n.vip.group.name).To(Equal(group))
			},
			Entry("the primary one", `{`+manual+`,"v":{"type":"vip","ip":"1.2.3.4"}}`, "a"),
			Entry("the primary one, when the vip comes first", `{"v":{"type":"vip","ip":"1.2.3.4"},`+manual+`}`, "a"),
			Entry("that of its group", `{"v":{"type":"vip","ip":"1.2.3.4","nic_group":"g"},`+manual+`}`, "g"),
			Entry("a dynamic network's", `{"d":{"type":"dynamic",`+subnet+`},"v":{"type":"vip","ip":"1.2.3.4"}}`, "d"),
		)

		It("make no second network", func() {
			Expect(read(`{"a":{"ip":"10.0.0.5",` + subnet + `},"v":{"type":"vip","ip":"1.2.3.4"}}`).several).To(BeFalse())
		})
	})

	DescribeTable("are refused before any call, and the error names network and key",
		func(sent, message string) {
			_, err := readNetworks("create_vm", jsonObject(sent))
			Expect(err).To(beTyped(cpi.CloudError, HavePrefix("create_vm: networks"+message)))
		},
		Entry("none", `{}`, ": a manual or dynamic network is needed"),
		Entry("a vip alone", `{"v":{"type":"vip","ip":"1.2.3.4"}}`, ": a manual or dynamic network is needed"),
		Entry("no object", `{"a":"x"}`, ".a: expected an object"),
		Entry("an unknown type", `{"a":{"type":"magic",`+subnet+`}}`, `.a.type: expected manual, dynamic or vip, got "magic"`),
		Entry("a type that is no string", `{"a":{"type":5}}`, ".a: type: expected a string, got a number"),
		Entry("cloud_properties that are no object", `{"a":{"cloud_properties":[]}}`, ".a: cloud_properties: expected an object, got a list"),
		Entry("no subnet", `{"a":{"ip":"10.0.0.5"}}`, ".a.cloud_properties.subnet is missing"),
		Entry("a dynamic one without subnet", `{"a":{"type":"dynamic","cloud_properties":{}}}`, ".a.cloud_properties.subnet is missing"),
		Entry("a subnet that is no string", `{"a":{"cloud_properties":{"subnet":5}}}`, ".a.cloud_properties.subnet: expected a string, got a number"),
		Entry("security groups that are no list", `{"a":{"cloud_properties":{"subnet":"s","security_groups":"x"}}}`, ".a.cloud_properties.security_groups: expected a list, got a string"),
		Entry("no ip", `{"a":{`+subnet+`}}`, `.a.ip: expected an IP address, got ""`),
		Entry("an ip that is none", `{"a":{"ip":"10.0.0",`+subnet+`}}`, `.a.ip: expected an IP address, got "10.0.0"`),
		Entry("two IPv4 addresses on a NIC", `{"a":{"ip":"10.0.0.5","nic_group":"g",`+subnet+`},"b":{"ip":"10.0.0.6","nic_group":"g",`+subnet+`}}`, `.b.ip: nic_group "g" has address 10.0.0.5 already`),
		Entry("two IPv6 addresses on a NIC", `{"a":{"ip":"2001:db8::5","nic_group":"g",`+subnet+`},"b":{"ip":"2001:db8::6","nic_group":"g",`+subnet+`}}`, `.b.ip: nic_group "g" has address 2001:db8::5 already`),
		Entry("different subnets on a NIC", `{"a":{"ip":"10.0.0.5","nic_group":"g",`+subnet+`},"b":{"ip":"2001:db8::6","nic_group":"g","cloud_properties":{"subnet":"subnet-2"}}}`, `.b.cloud_properties.subnet: the networks of nic_group "g" share a NIC and must have the same subnet, got subnet-1 and subnet-2`),
		Entry("an IPv4 prefix that AWS does not delegate", `{"a":{"ip":"10.0.0.0","prefix":"24",`+subnet+`}}`, `.a.prefix: expected 32 for an address or 28 for a delegated prefix, got "24"`),
		Entry("an IPv6 prefix that AWS does not delegate", `{"a":{"ip":"2001:db8::","prefix":64,`+subnet+`}}`, `.a.prefix: expected 128 for an address or 80 for a delegated prefix, got "64"`),
		Entry("an address inside the prefix", `{"a":{"ip":"10.0.0.5","prefix":"28",`+subnet+`}}`, ".a.ip: 10.0.0.5 is not the first address of a /28"),
		Entry("nothing but prefixes on a NIC", `{"a":{"ip":"10.0.0.5",`+subnet+`},"p":{"ip":"10.0.1.0","prefix":"28",`+subnet+`}}`, `: nic_group "p" has only delegated prefixes`),
		Entry("two vips", `{"a":{"ip":"10.0.0.5",`+subnet+`},"v":{"type":"vip","ip":"1.2.3.4"},"w":{"type":"vip","ip":"1.2.3.5"}}`, ": v and w are both of type vip"),
		Entry("a vip without an ip", `{"a":{"ip":"10.0.0.5",`+subnet+`},"v":{"type":"vip"}}`, `.v.ip: a vip network needs an elastic IP as its static IP, got ""`),
		Entry("a vip of IPv6", `{"a":{"ip":"10.0.0.5",`+subnet+`},"v":{"type":"vip","ip":"2001:db8::5"}}`, ".v.ip: a vip network needs an elastic IP"),
	)

	Describe("as the agent gets them", func() {
		It("are as they were sent, with DHCP", func() {
			n := read(`{"a":{"ip":"10.0.0.5","netmask":"255.255.255.0","default":["dns","gateway"],"x":{"y":1.0},` + subnet + `},"v":{"type":"vip","ip":"1.2.3.4"}}`)
			Expect(jsonOf(n.forAgent(nil))).To(Equal(`{"a":{"ip":"10.0.0.5","netmask":"255.255.255.0","default":["dns","gateway"],"x":{"y":1.0},` + subnet + `,"use_dhcp":true},` +
				`"v":{"type":"vip","ip":"1.2.3.4","use_dhcp":true}}`))
		})

		It("have no MAC where there is one, vip or not: the agent takes the only interface", func() {
			n := read(`{"a":{"ip":"10.0.0.5",` + subnet + `},"v":{"type":"vip","ip":"1.2.3.4"}}`)
			Expect(jsonOf(n.forAgent(map[*nicGroup]string{n.groups[0]: "02:00:00:00:00:01"}))).NotTo(ContainSubstring("mac"))
		})

		It("have the MAC of their NIC where there are several, on one NIC or more; a vip has none", func() {
			n := read(`{"b":{"ip":"10.0.0.5","nic_group":"g",` + subnet + `},"a":{"ip":"2001:db8::5","nic_group":"g",` + subnet + `},` +
				`"v":{"type":"vip","ip":"1.2.3.4"},"d":{"type":"dynamic",` + subnet + `}}`)
			Expect(jsonOf(n.forAgent(map[*nicGroup]string{n.groups[0]: "02:01", n.groups[1]: "02:02"}))).To(Equal(
				`{"b":{"ip":"10.0.0.5","nic_group":"g",` + subnet + `,"use_dhcp":true,"mac":"02:01"},` +
					`"a":{"ip":"2001:db8::5","nic_group":"g",` + subnet + `,"use_dhcp":true,"mac":"02:01"},` +
					`"v":{"type":"vip","ip":"1.2.3.4","use_dhcp":true},` +
					`"d":{"type":"dynamic",` + subnet + `,"use_dhcp":true,"mac":"02:02"}}`))
		})

		It("leave the request's as they are", func() {
			n := read(`{"a":{"ip":"10.0.0.5",` + subnet + `}}`)
			n.forAgent(nil)
			Expect(jsonOf(n.sent)).NotTo(ContainSubstring("use_dhcp"))
		})
	})
})
