package integration_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	gomegatypes "github.com/onsi/gomega/types"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/life"
	"bosh-aws-cpi/integration/proxy"
)

// launch returns the only RunInstances.
func launch() proxy.Call {
	GinkgoHelper()
	launches := aws.Calls().Of("RunInstances")
	Expect(launches).To(HaveLen(1))
	return launches[0]
}

// mapping returns a launch's block device mapping by device name: the
// parameters behind its number.
func mapping(call proxy.Call, device string) map[string]string {
	for i := 1; ; i++ {
		prefix := "BlockDeviceMapping." + string(rune('0'+i)) + "."
		name := call.Param(prefix + "DeviceName")
		if name == "" {
			return nil
		}
		if name != device {
			continue
		}
		found := map[string]string{}
		for key := range call.Params {
			if short, is := strings.CutPrefix(key, prefix); is {
				found[short] = call.Param(key)
			}
		}
		return found
	}
}

// haveParam matches a call with a parameter on the wire.
func haveParam(name, value string) gomegatypes.GomegaMatcher {
	return WithTransform(func(c proxy.Call) string { return c.Param(name) }, Equal(value))
}

var _ = Describe("create_vm on the wire", func() {
	make := func(ctx SpecContext, change map[string]any) proxy.Call {
		GinkgoHelper()
		createVM(ctx, director(), change, nil)
		return launch()
	}

	It("launches with all that has to be there in one call", func(ctx SpecContext) {
		vm := createVM(ctx, director(), nil, nil)
		call := launch()
		Expect(vm).To(HavePrefix("i-"))
		for name, value := range map[string]string{
			"ImageId": account.Image, "InstanceType": "m5.large", "MinCount": "1", "MaxCount": "1", "KeyName": account.KeyName,
			"Placement.AvailabilityZone":             account.Subnets[0].Zone,
			"NetworkInterface.1.DeviceIndex":         "0",
			"NetworkInterface.1.SubnetId":            account.Subnets[0].ID,
			"NetworkInterface.1.PrivateIpAddress":    account.Subnets[0].IP(10),
			"NetworkInterface.1.SecurityGroupId.1":   account.Groups[0].ID,
			"NetworkInterface.1.DeleteOnTermination": "true",
		} {
			Expect(call).To(haveParam(name, value), name)
		}
		Expect(call.Param("ClientToken")).NotTo(BeEmpty())
		Expect(call.Params).NotTo(HaveKey("NetworkInterface.1.AssociatePublicIpAddress"))
		Expect(call.Params).NotTo(HaveKey("InstanceMarketOptions.MarketType"))
		Expect(mapping(call, "/dev/xvda")).To(Equal(map[string]string{
			"DeviceName": "/dev/xvda", "Ebs.VolumeType": "gp3", "Ebs.VolumeSize": "15", "Ebs.DeleteOnTermination": "true"}))
		Expect(mapping(call, "/dev/sdb")).To(Equal(map[string]string{
			"DeviceName": "/dev/sdb", "Ebs.VolumeType": "gp3", "Ebs.VolumeSize": "10", "Ebs.DeleteOnTermination": "true"}))
	})

	It("tags instance, volumes and NIC at creation: env's tags, the VM's before them, and where they come from", func(ctx SpecContext) {
		env := map[string]any{"bosh": map[string]any{"tags": map[string]any{"a": "env", "b": "env", "n": 1, "none": nil}}}
		succeed(ctx, director(), "create_vm", vmArguments(map[string]any{"tags": map[string]any{"b": "vm"}}, nil, nil, env)...)
		whole := map[string]string{"a": "env", "b": "vm", "n": "1", "bosh-director": driver.DefaultDirector, "bosh-request-id": "cpi-4711", "bosh-agent-id": life.AgentID}
		for _, kind := range []string{"instance", "volume", "network-interface"} {
			Expect(launch().Tags(kind)).To(Equal(whole), kind)
		}
	})

	DescribeTable("passes each property on",
		func(ctx SpecContext, change map[string]any, name, value string) {
			Expect(make(ctx, change)).To(haveParam(name, value))
		},
		Entry("placement_group", map[string]any{"placement_group": "pg"}, "Placement.GroupName", "pg"),
		Entry("tenancy", map[string]any{"tenancy": "dedicated"}, "Placement.Tenancy", "dedicated"),
		Entry("auto_assign_public_ip", map[string]any{"auto_assign_public_ip": true}, "NetworkInterface.1.AssociatePublicIpAddress", "true"),
		Entry("metadata_options", map[string]any{"metadata_options": map[string]any{"http_tokens": "required"}}, "MetadataOptions.HttpTokens", "required"),
		Entry("spot_bid_price as a number", map[string]any{"spot_bid_price": 0.05}, "InstanceMarketOptions.SpotOptions.MaxPrice", "0.05"),
		Entry("spot_bid_price as a string", map[string]any{"spot_bid_price": "0.05"}, "InstanceMarketOptions.SpotOptions.MaxPrice", "0.05"),
		Entry("the spot market", map[string]any{"spot_bid_price": 1}, "InstanceMarketOptions.MarketType", "spot"),
	)

	It("takes key, profile, groups, encryption and metadata options from the configuration where the VM names none", func(ctx SpecContext) {
		config.AWS = map[string]any{
			"default_key_name": account.KeyName, "default_iam_instance_profile": account.InstanceProfile,
			"default_security_groups": []string{account.Groups[1].ID}, "encrypted": true, "kms_key_arn": "arn:aws:kms:us-east-1:123456789012:key/global",
			"metadata_options": map[string]any{"http_tokens": "optional", "http_put_response_hop_limit": 3},
		}
		call := make(ctx, map[string]any{"key_name": nil, "security_groups": nil, "metadata_options": map[string]any{"http_tokens": "required"}})
		Expect(call).To(haveParam("KeyName", account.KeyName))
		Expect(call).To(haveParam("IamInstanceProfile.Name", account.InstanceProfile))
		Expect(call).To(haveParam("NetworkInterface.1.SecurityGroupId.1", account.Groups[1].ID))
		Expect(call).To(haveParam("MetadataOptions.HttpTokens", "required"))
		Expect(call).To(haveParam("MetadataOptions.HttpPutResponseHopLimit", "3"))
		for _, device := range []string{"/dev/xvda", "/dev/sdb"} {
			Expect(mapping(call, device)).To(HaveKeyWithValue("Ebs.Encrypted", "true"), device)
			Expect(mapping(call, device)).To(HaveKeyWithValue("Ebs.KmsKeyId", "arn:aws:kms:us-east-1:123456789012:key/global"), device)
		}
	})

	It("prefers the disks' own encryption, size and speed", func(ctx SpecContext) {
		config.AWS = map[string]any{"encrypted": true}
		call := make(ctx, map[string]any{
			"root_disk":      map[string]any{"size": 20481, "type": "gp3", "iops": 4000, "throughput": 200},
			"ephemeral_disk": map[string]any{"size": 30000, "type": "gp2", "iops": 4000, "encrypted": false},
		})
		root, ephemeral := mapping(call, "/dev/xvda"), mapping(call, "/dev/sdb")
		Expect(root).To(SatisfyAll(HaveKeyWithValue("Ebs.VolumeSize", "21"), HaveKeyWithValue("Ebs.Iops", "4000"),
			HaveKeyWithValue("Ebs.Throughput", "200"), HaveKeyWithValue("Ebs.Encrypted", "true")))
		Expect(ephemeral).To(SatisfyAll(HaveKeyWithValue("Ebs.VolumeSize", "30"), HaveKeyWithValue("Ebs.VolumeType", "gp2"),
			Not(HaveKey("Ebs.Iops")), Not(HaveKey("Ebs.Encrypted"))))
	})

	It("takes the groups of the networks before the configuration's, on every NIC", func(ctx SpecContext) {
		config.AWS = map[string]any{"default_security_groups": []string{"sg-unused"}}
		groups := func(id string) map[string]any {
			return map[string]any{"cloud_properties": map[string]any{"subnet": account.Subnets[0].ID, "security_groups": []string{id}}}
		}
		networks := driver.Object("a", manual(account.Subnets[0], "10.0.0.10", groups(account.Groups[0].ID)), "b", manual(account.Subnets[0], "10.0.0.11", groups(account.Groups[1].ID)))
		createVM(ctx, director(), map[string]any{"security_groups": nil}, networks)
		nics := aws.Calls().Of("CreateNetworkInterface")
		Expect(nics).To(HaveLen(2))
		for _, nic := range nics {
			Expect(nic.List("SecurityGroupId")).To(Equal([]string{account.Groups[0].ID, account.Groups[1].ID}))
		}
	})

	It("gives the agent the local disks as they are: NVMe ones by hint only", func(ctx SpecContext) {
		call := make(ctx, map[string]any{"instance_type": "i3.4xlarge", "raw_instance_storage": true})
		Expect(call.Params).NotTo(HaveKey("BlockDeviceMapping.3.DeviceName"))
		Expect(userData()["disks"]).To(HaveKeyWithValue("raw_ephemeral", ConsistOf(
			HaveKeyWithValue("path", "/dev/nvme0n1"), HaveKeyWithValue("path", "/dev/nvme1n1"))))
		Expect(mapping(call, "/dev/sdb")).To(HaveKeyWithValue("Ebs.VolumeSize", "10"))
	})

	It("makes the ephemeral disk as large as today's CPI does for storage types", func(ctx SpecContext) {
		Expect(mapping(make(ctx, map[string]any{"instance_type": "i3.large"}), "/dev/sdb")).To(HaveKeyWithValue("Ebs.VolumeSize", "475"))
	})

	It("makes no ephemeral disk with use_root_disk", func(ctx SpecContext) {
		call := make(ctx, map[string]any{"ephemeral_disk": map[string]any{"use_root_disk": true}, "root_disk": map[string]any{"size": 40960}})
		Expect(mapping(call, "/dev/sdb")).To(BeNil())
		Expect(mapping(call, "/dev/xvda")).To(HaveKeyWithValue("Ebs.VolumeSize", "40"))
		Expect(userData()["disks"]).NotTo(HaveKey("ephemeral"))
	})

	It("advertises routes at the primary NIC, and puts the VM behind its load balancers", func(ctx SpecContext) {
		ipv6 := "2001:db8::/64"
		createVM(ctx, director(), map[string]any{
			"elbs": []string{account.LoadBalancer}, "lb_target_groups": []string{account.TargetGroup.ARN},
			"advertised_routes": []map[string]any{{"table_id": account.RouteTable, "destination": "10.99.0.0/16"}, {"table_id": account.RouteTable, "destination": ipv6}},
		}, nil)
		routes := aws.Calls().Of("CreateRoute")
		Expect(routes).To(HaveLen(2))
		Expect(routes[0]).To(haveParam("DestinationCidrBlock", "10.99.0.0/16"))
		Expect(routes[1]).To(haveParam("DestinationIpv6CidrBlock", ipv6))
		for _, route := range routes {
			Expect(route.Param("NetworkInterfaceId")).To(HavePrefix("eni-"))
			Expect(route.Params).NotTo(HaveKey("InstanceId"))
		}
		Expect(inventory(ctx)).To(ContainElements(HavePrefix("target "), HavePrefix("elb ")))
	})

	It("returns the networks as they were sent, and in version 1 the cid alone", func(ctx SpecContext) {
		networks := driver.Object("default", manual(account.Subnets[0], "10.0.0.10", map[string]any{"unknown": "kept"}))
		var result []any
		Expect(succeed(ctx, director(), "create_vm", vmArguments(nil, networks, nil, nil)...).Decode(&result)).To(Succeed())
		Expect(result).To(HaveLen(2))
		Expect(result[1]).To(HaveKeyWithValue("default", HaveKeyWithValue("unknown", "kept")))
	})
})
