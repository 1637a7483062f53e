package integration_test

import (
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/proxy"
)

const networkNotFound = "Bosh::Clouds::NetworkNotFound"

// definition is create_network's argument: this range of the account's VPC, and
// more cloud properties; nil takes one out.
func definition(more map[string]any) map[string]any {
	properties := map[string]any{"vpc": account.VPC, "availability_zone": account.Subnets[0].Zone}
	for key, value := range more {
		properties[key] = value
		if value == nil {
			delete(properties, key)
		}
	}
	return map[string]any{"type": "manual", "range": "10.0.64.0/24", "gateway": "10.0.64.1", "cloud_properties": properties}
}

// sized is a definition that leaves the range to the CPI.
func sized(bits int) map[string]any {
	without := definition(nil)
	delete(without, "range")
	delete(without, "gateway")
	without["netmask_bits"] = bits
	return without
}

// subnetOf is the network cid in create_network's result.
func subnetOf(outcome driver.Outcome) string {
	GinkgoHelper()
	var result []any
	Expect(outcome.Decode(&result)).To(Succeed())
	Expect(result).To(HaveLen(3))
	return result[0].(string)
}

var _ = Describe("create_network", func() {
	It("makes a tagged subnet and tells the Director all about it", func(ctx SpecContext) {
		made := succeed(ctx, director(), "create_network", definition(map[string]any{"tags": map[string]any{"team": "platform"}}))
		subnet := subnetOf(made)
		Expect(subnet).To(HavePrefix("subnet-"))
		Expect(made.Response.Result).To(MatchJSON(`["` + subnet + `",
			{"range": "10.0.64.0/24", "gateway": "10.0.64.1", "reserved": ["10.0.64.0", "10.0.64.1", "10.0.64.2", "10.0.64.3", "10.0.64.255"]},
			{"subnet": "` + subnet + `"}]`))
		Expect(aws.Actions()).To(Equal([]string{"CreateSubnet", "DescribeSubnets"}))
		call := only("CreateSubnet")
		for name, value := range map[string]string{"VpcId": account.VPC, "AvailabilityZone": account.Subnets[0].Zone, "CidrBlock": "10.0.64.0/24"} {
			Expect(call).To(haveParam(name, value))
		}
		Expect(call.Tags("subnet")).To(Equal(map[string]string{
			"team": "platform", "bosh-director": driver.DefaultDirector, "bosh-request-id": "cpi-4711",
		}))

		aws.Clear()
		succeed(ctx, director(), "delete_network", subnet)
		Expect(aws.Actions()).To(Equal([]string{"DeleteSubnet"}))
		expectNothingLeft(ctx)
	})

	It("makes networks that VMs can be in", func(ctx SpecContext) {
		subnet := subnetOf(succeed(ctx, director(), "create_network", definition(nil)))
		network := driver.Object("default", map[string]any{
			"type": "manual", "ip": "10.0.64.4", "netmask": "255.255.255.0", "gateway": "10.0.64.1", "cloud_properties": map[string]any{"subnet": subnet},
		})
		vm := createVM(ctx, director(), nil, network)
		refused := fail(ctx, director(), cloudError, "delete_network", subnet)
		Expect(refused.Message).To(And(ContainSubstring(subnet), ContainSubstring("DependencyViolation"), ContainSubstring("delete that first")))
		succeed(ctx, director(), "delete_vm", vm)
		succeed(ctx, director(), "delete_network", subnet)
		expectNothingLeft(ctx)
	})

	It("gives the subnet its route table, which is free again without it", func(ctx SpecContext) {
		subnet := subnetOf(succeed(ctx, director(), "create_network", definition(map[string]any{"route_table": account.RouteTable})))
		Expect(aws.Actions()).To(Equal([]string{"CreateSubnet", "DescribeSubnets", "AssociateRouteTable"}))
		Expect(only("AssociateRouteTable")).To(haveParam("RouteTableId", account.RouteTable))
		Expect(only("AssociateRouteTable")).To(haveParam("SubnetId", subnet))
		Expect(inventory(ctx)).To(ContainElement("route " + account.RouteTable + " of " + subnet))
		succeed(ctx, director(), "delete_network", subnet)
		expectNothingLeft(ctx)
	})

	It("takes the first free range of a size", func(ctx SpecContext) {
		subnetOf(succeed(ctx, director(), "create_network", sized(20)))
		subnetOf(succeed(ctx, director(), "create_network", sized(28)))
		subnetOf(succeed(ctx, director(), "create_network", sized(24)))
		ranges := []string{}
		for _, call := range aws.Calls().Of("CreateSubnet") {
			ranges = append(ranges, call.Param("CidrBlock"))
		}
		Expect(ranges).To(Equal([]string{"10.0.32.0/20", "10.0.48.0/28", "10.0.49.0/24"}), "10.0.0.0/20 and 10.0.16.0/20 are taken")
	})

	It("reserves AWS's addresses of the smallest subnet there is", func(ctx SpecContext) {
		made := succeed(ctx, director(), "create_network", sized(28))
		Expect(string(made.Response.Result)).To(ContainSubstring(`"reserved":["10.0.32.0","10.0.32.1","10.0.32.2","10.0.32.3","10.0.32.15"]`))
	})

	It("says so when the VPC has no room", func(ctx SpecContext) {
		refused := fail(ctx, director(), cloudError, "create_network", sized(16))
		Expect(refused.Message).To(And(ContainSubstring(account.VPC), ContainSubstring("/16")))
		Expect(aws.Calls().Of("CreateSubnet")).To(BeEmpty())
	})

	DescribeTable("removes the subnet when a later step fails",
		func(ctx SpecContext, action string) {
			rule := proxy.Rule{Action: action, Do: proxy.Fail(http.StatusBadRequest, "InvalidRouteTableID.NotFound", "no such table")}
			if action == "DescribeSubnets" {
				rule.Do = proxy.Fail(http.StatusForbidden, "UnauthorizedOperation", "no such table")
			}
			aws.Add(rule)
			refused := fail(ctx, director(), cloudError, "create_network", definition(map[string]any{"route_table": "rtb-0123456789abcdef0"}))
			Expect(refused.Message).To(And(HavePrefix("create_network"), ContainSubstring("no such table"), ContainSubstring("subnet-")))
			expectNothingLeft(ctx)
		},
		Entry("waiting", "DescribeSubnets"), Entry("the association", "AssociateRouteTable"),
	)

	It("is refused before any call when it cannot be", func(ctx SpecContext) {
		for key, change := range map[string]func(map[string]any){
			"vpc is missing":               func(d map[string]any) { delete(d["cloud_properties"].(map[string]any), "vpc") },
			"availability_zone is missing": func(d map[string]any) { delete(d["cloud_properties"].(map[string]any), "availability_zone") },
			"netmask_bits are missing":     func(d map[string]any) { delete(d, "range") },
			`got "10.0.64.2"`:              func(d map[string]any) { d["gateway"] = "10.0.64.2" },
			"got /29":                      func(d map[string]any) { d["range"] = "10.0.64.0/29" },
			`got "10.0.64.5/24"`:           func(d map[string]any) { d["range"] = "10.0.64.5/24" },
			`got "dynamic"`:                func(d map[string]any) { d["type"] = "dynamic" },
		} {
			asked := definition(nil)
			change(asked)
			Expect(fail(ctx, director(), cloudError, "create_network", asked).Message).To(And(HavePrefix("create_network"), ContainSubstring(key)))
		}
		Expect(aws.Calls()).To(BeEmpty())
	})
})

var _ = Describe("delete_network", func() {
	It("answers NetworkNotFound for a subnet that is gone", func(ctx SpecContext) {
		refused := fail(ctx, director(), networkNotFound, "delete_network", noSubnet)
		Expect(refused.Message).To(ContainSubstring(noSubnet))
	})
})
