package action

import (
	"context"
	"net/netip"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/cpi"
)

var _ = Describe("A network to be made", func() {
	prefixes := func(texts ...string) (all []netip.Prefix) {
		for _, text := range texts {
			all = append(all, netip.MustParsePrefix(text))
		}
		return all
	}

	DescribeTable("has addresses that are AWS's: the first four, the second as gateway, and the last",
		func(block, gateway, expectedGateway string, reserved ...string) {
			plan, err := addressPlan("create_network", netip.MustParsePrefix(block), gateway)
			Expect(err).NotTo(HaveOccurred())
			Expect(plan).To(Equal(networkAddresses{Range: block, Gateway: expectedGateway, Reserved: reserved}))
		},
		Entry("/24", "10.0.16.0/24", "", "10.0.16.1", "10.0.16.0", "10.0.16.1", "10.0.16.2", "10.0.16.3", "10.0.16.255"),
		Entry("/28 in the middle", "10.0.16.32/28", "", "10.0.16.33", "10.0.16.32", "10.0.16.33", "10.0.16.34", "10.0.16.35", "10.0.16.47"),
		Entry("/16", "10.5.0.0/16", "", "10.5.0.1", "10.5.0.0", "10.5.0.1", "10.5.0.2", "10.5.0.3", "10.5.255.255"),
		Entry("with the gateway named", "10.0.16.0/24", "10.0.16.1", "10.0.16.1", "10.0.16.0", "10.0.16.1", "10.0.16.2", "10.0.16.3", "10.0.16.255"),
	)

	DescribeTable("cannot have another gateway",
		func(gateway string) {
			_, err := addressPlan("create_network", netip.MustParsePrefix("10.0.16.0/24"), gateway)
			Expect(err).To(beTyped(cpi.CloudError, ContainSubstring("gateway: a subnet of range 10.0.16.0/24 has its gateway at 10.0.16.1")))
		},
		Entry("in the range", "10.0.16.254"), Entry("elsewhere", "10.0.0.1"), Entry("that is no address", "router"),
	)

	DescribeTable("takes the first range of the VPC that is free",
		func(whole string, bits int, expected string, taken ...string) {
			block, found := freeBlock(netip.MustParsePrefix(whole), prefixes(taken...), bits)
			Expect(found).To(Equal(expected != ""))
			if found {
				Expect(block.String()).To(Equal(expected))
			}
		},
		Entry("of an empty VPC", "10.0.0.0/16", 24, "10.0.0.0/24"),
		Entry("behind what is taken", "10.0.0.0/16", 24, "10.0.1.0/24", "10.0.0.0/24"),
		Entry("in a gap", "10.0.0.0/16", 24, "10.0.1.0/24", "10.0.2.0/24", "10.0.0.0/24"),
		Entry("beside a smaller one", "10.0.0.0/16", 24, "10.0.1.0/24", "10.0.0.128/28"),
		Entry("beyond a larger one", "10.0.0.0/16", 24, "10.0.16.0/24", "10.0.0.0/20"),
		Entry("as large as the VPC", "10.0.0.0/24", 24, "10.0.0.0/24"),
		Entry("the last one", "10.0.0.0/24", 25, "10.0.0.128/25", "10.0.0.0/25"),
		Entry("of a VPC at the end of all addresses", "255.255.255.0/24", 28, "255.255.255.16/28", "255.255.255.0/28"),
		Entry("none in a full VPC", "10.0.0.0/24", 25, "", "10.0.0.0/25", "10.0.0.128/25"),
		Entry("none larger than the VPC", "10.0.0.0/24", 23, ""),
		Entry("none of IPv6", "2001:db8::/56", 24, ""),
	)

	const properties = `"cloud_properties":{"vpc":"vpc-1","availability_zone":"us-east-1a"}`

	It("is read with what the Director adds", func() {
		definition, own, err := readNetwork("create_network", jsonObject(`{"type":"manual","range":"10.0.16.0/24","gateway":"10.0.16.1","unknown":1,
			"cloud_properties":{"vpc":"vpc-1","availability_zone":"us-east-1a","route_table":"rtb-1","security_groups":["a"],"tags":{"k":"v"}}}`))
		Expect(err).NotTo(HaveOccurred())
		Expect(definition).To(And(HaveField("Range", "10.0.16.0/24"), HaveField("Gateway", "10.0.16.1")))
		Expect(own).To(And(HaveField("VPC", "vpc-1"), HaveField("AvailabilityZone", "us-east-1a"), HaveField("RouteTable", "rtb-1"), HaveField("SecurityGroups", []string{"a"})))
	})

	DescribeTable("is refused before any call, and the error names the key",
		func(definition, message string) {
			s, _ := testSession("create_network", Config{})
			_, err := createNetwork{}.run(context.Background(), s, createNetworkArguments{jsonObject(definition)})
			Expect(err).To(beTyped(cpi.CloudError, HavePrefix("create_network: "+message)))
		},
		Entry(nil, `{"type":"dynamic","range":"10.0.0.0/24",`+properties+`}`, `type: only manual networks can be made, got "dynamic"`),
		Entry(nil, `{"type":5}`, "subnet_definition.type: expected a string, got a number"),
		Entry(nil, `{"range":"10.0.0.0/24"}`, "cloud_properties.vpc is missing"),
		Entry(nil, `{"range":"10.0.0.0/24","cloud_properties":{"vpc":5}}`, "cloud_properties.vpc: expected a string, got a number"),
		Entry(nil, `{"range":"10.0.0.0/24","cloud_properties":{"vpc":"vpc-1"}}`, "cloud_properties.availability_zone is missing"),
		Entry(nil, `{`+properties+`}`, "range and netmask_bits are missing"),
		Entry(nil, `{"range":"10.0.0.0",`+properties+`}`, `range: expected an IPv4 range such as 10.0.16.0/24, got "10.0.0.0"`),
		Entry(nil, `{"range":"10.0.0.5/24",`+properties+`}`, "range: expected an IPv4 range"),
		Entry(nil, `{"range":"2001:db8::/64",`+properties+`}`, "range: expected an IPv4 range"),
		Entry(nil, `{"range":"10.0.0.0/15",`+properties+`}`, "range: expected a size of /16 to /28, got /15"),
		Entry(nil, `{"range":"10.0.0.0/29",`+properties+`}`, "range: expected a size of /16 to /28, got /29"),
		Entry(nil, `{"netmask_bits":29,`+properties+`}`, "netmask_bits: expected a size of /16 to /28, got /29"),
		Entry(nil, `{"netmask_bits":-1,`+properties+`}`, "netmask_bits: expected a size of /16 to /28, got /-1"),
		Entry(nil, `{"range":"10.0.0.0/24","gateway":"10.0.0.254",`+properties+`}`, "gateway: "),
	)
})
