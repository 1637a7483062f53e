package proxy_test

import (
	"errors"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/emulator"
	"bosh-aws-cpi/integration/emulator/query"
	"bosh-aws-cpi/integration/proxy"
)

var _ = Describe("what AWS does and the emulator does not", func() {
	var w *world

	BeforeEach(func(ctx SpecContext) { w = newWorld(ctx) })

	nic := func(ctx SpecContext, more ...string) string {
		GinkgoHelper()
		return w.ec2(ctx, "CreateNetworkInterface", append([]string{"SubnetId", w.account.Subnets[0].ID}, more...)...).
			Value("networkInterface/networkInterfaceId")
	}
	first := func(root *query.Node) *query.Node {
		return root.Get("reservationSet/item/instancesSet/item")
	}
	instance := func(ctx SpecContext, id string) *query.Node {
		GinkgoHelper()
		return first(w.ec2(ctx, "DescribeInstances", "InstanceId.1", id))
	}
	// given is a launch with an interface made before.
	given := func(id string) []string {
		return []string{"ImageId", w.account.Image, "InstanceType", "t3.micro", "MinCount", "1", "MaxCount", "1",
			"NetworkInterface.1.DeviceIndex", "0", "NetworkInterface.1.NetworkInterfaceId", id,
			"BlockDeviceMapping.1.DeviceName", w.account.RootDevice, "BlockDeviceMapping.1.Ebs.DeleteOnTermination", "true"}
	}

	DescribeTable("refuses a launch",
		func(ctx SpecContext, code string, more func() []string) {
			w.run(ctx, "NetworkInterface.1.PrivateIpAddress", w.account.Subnets[0].IP(10))
			before := w.inventory(ctx)
			Expect(w.refused(ctx, "RunInstances", w.launch(more()...)...)).To(Equal(code))
			Expect(emulator.Diff(before, w.inventory(ctx))).To(BeEmpty())
		},
		Entry("with an address in use", "InvalidIPAddress.InUse",
			func() []string { return []string{"NetworkInterface.1.PrivateIpAddress", w.account.Subnets[0].IP(10)} }),
		Entry("with an address of another subnet", "InvalidParameterValue",
			func() []string { return []string{"NetworkInterface.1.PrivateIpAddress", w.account.Subnets[1].IP(10)} }),
		Entry("with an address that AWS keeps", "InvalidParameterValue",
			func() []string { return []string{"NetworkInterface.1.PrivateIpAddress", w.account.Subnets[0].IP(3)} }),
		Entry("with an unknown group", "InvalidGroup.NotFound",
			func() []string { return []string{"NetworkInterface.1.SecurityGroupId.1", "sg-00000000000000000"} }),
		Entry("with an unknown subnet", "InvalidSubnetID.NotFound",
			func() []string {
				return []string{"NetworkInterface.1.SubnetId", "subnet-00000000000000000", "NetworkInterface.1.PrivateIpAddress", "10.0.0.9"}
			}),
		Entry("in another zone than the subnet's", "InvalidParameterValue",
			func() []string { return []string{"Placement.AvailabilityZone", "us-east-1b"} }),
		Entry("with an unknown profile", "InvalidParameterValue", func() []string { return []string{"IamInstanceProfile.Name", "nobody"} }),
		Entry("with an unknown key pair", "InvalidKeyPair.NotFound", func() []string { return []string{"KeyName", "nobody"} }),
		Entry("with an unknown image", "InvalidAMIID.NotFound", func() []string { return []string{"ImageId", "ami-00000000000000000"} }),
		Entry("with a disk of no size", "MissingParameter", func() []string { return []string{"BlockDeviceMapping.2.DeviceName", "/dev/sdb"} }),
	)

	It("launches with all that the emulator cannot", func(ctx SpecContext) {
		vm := w.run(ctx, "KeyName", w.account.KeyName, "IamInstanceProfile.Name", w.account.InstanceProfile,
			"Placement.AvailabilityZone", w.account.Subnets[0].Zone,
			"BlockDeviceMapping.1.Ebs.VolumeType", "io1", "BlockDeviceMapping.1.Ebs.Iops", "100",
			"BlockDeviceMapping.2.DeviceName", "/dev/xvdba", "BlockDeviceMapping.2.VirtualName", "ephemeral0",
			"BlockDeviceMapping.3.DeviceName", "/dev/sdb", "BlockDeviceMapping.3.Ebs.VolumeSize", "10", "BlockDeviceMapping.3.Ebs.DeleteOnTermination", "true",
			"NetworkInterface.1.Ipv6Addresses.1.Ipv6Address", w.account.Subnets[0].IPv6(10),
			"NetworkInterface.1.Ipv4Prefix.1.Ipv4Prefix", "10.0.1.0/28",
			"TagSpecification.1.ResourceType", "network-interface", "TagSpecification.1.Tag.1.Key", "k", "TagSpecification.1.Tag.1.Value", "v")
		shown := instance(ctx, vm)
		var devices []string
		for _, mapping := range shown.All("blockDeviceMapping/item") {
			devices = append(devices, mapping.Value("deviceName"))
		}
		Expect(devices).To(ConsistOf(w.account.RootDevice, "/dev/sdb"))
		shownNIC := shown.Get("networkInterfaceSet/item")
		Expect(shownNIC.Value("ipv6AddressesSet/item/ipv6Address")).To(Equal(w.account.Subnets[0].IPv6(10)))
		Expect(shownNIC.Value("ipv4PrefixSet/item/ipv4Prefix")).To(Equal("10.0.1.0/28"))
		Expect(shownNIC.Value("attachment/deleteOnTermination")).To(Equal("true"))
		tagged := w.ec2(ctx, "DescribeNetworkInterfaces", "NetworkInterfaceId.1", shownNIC.Value("networkInterfaceId"))
		Expect(tagged.Value("networkInterfaceSet/item/tagSet/item/key")).To(Equal("k"))
		w.ec2(ctx, "TerminateInstances", "InstanceId.1", vm)
		Expect(w.left(ctx)).To(BeEmpty())
	})

	It("deletes an interface with its instance when told so afterwards", func(ctx SpecContext) {
		id := nic(ctx, "PrivateIpAddress", w.account.Subnets[0].IP(10))
		vm := w.ec2(ctx, "RunInstances", given(id)...).Value("instancesSet/item/instanceId")
		attached := instance(ctx, vm).Get("networkInterfaceSet/item/attachment")
		Expect(attached.Value("deleteOnTermination")).To(Equal("false"))
		Expect(w.refused(ctx, "RunInstances", given(id)...)).To(Equal("InvalidNetworkInterface.InUse"))
		Expect(w.refused(ctx, "DeleteNetworkInterface", "NetworkInterfaceId", id)).To(Equal("InvalidParameterValue"))
		Expect(w.refused(ctx, "ModifyNetworkInterfaceAttribute", "NetworkInterfaceId", id,
			"Attachment.AttachmentId", attached.Value("attachmentId"), "Attachment.DeleteOnTermination", "true",
			"SourceDestCheck.Value", "false")).To(Equal("InvalidParameterCombination"))
		Expect(w.refused(ctx, "ModifyNetworkInterfaceAttribute", "NetworkInterfaceId", id,
			"Attachment.DeleteOnTermination", "true")).To(Equal("MissingParameter"))

		w.ec2(ctx, "ModifyNetworkInterfaceAttribute", "NetworkInterfaceId", id,
			"Attachment.AttachmentId", attached.Value("attachmentId"), "Attachment.DeleteOnTermination", "true")
		Expect(instance(ctx, vm).Value("networkInterfaceSet/item/attachment/deleteOnTermination")).To(Equal("true"))
		w.ec2(ctx, "TerminateInstances", "InstanceId.1", vm)
		Expect(w.left(ctx)).To(BeEmpty())
		nic(ctx, "PrivateIpAddress", w.account.Subnets[0].IP(10))
	})

	It("keeps an interface that nobody told so, free to be deleted", func(ctx SpecContext) {
		id := nic(ctx)
		vm := w.ec2(ctx, "RunInstances", given(id)...).Value("instancesSet/item/instanceId")
		w.ec2(ctx, "TerminateInstances", "InstanceId.1", vm)
		Expect(w.left(ctx)).To(Equal([]string{"+ network-interface " + id}))
		Expect(w.state(ctx, id)).To(Equal("available"))
		w.ec2(ctx, "DeleteNetworkInterface", "NetworkInterfaceId", id)
		Expect(w.left(ctx)).To(BeEmpty())
	})

	It("puts an instance where its given interface is", func(ctx SpecContext) {
		id := w.ec2(ctx, "CreateNetworkInterface", "SubnetId", w.account.Subnets[1].ID).Value("networkInterface/networkInterfaceId")
		vm := w.ec2(ctx, "RunInstances", given(id)...).Value("instancesSet/item/instanceId")
		Expect(instance(ctx, vm).Value("placement/availabilityZone")).To(Equal(w.account.Subnets[1].Zone))
	})

	It("frees what a terminated instance held, shows it bare, and lets it be terminated again", func(ctx SpecContext) {
		vm := w.run(ctx)
		w.ec2(ctx, "AssociateAddress", "InstanceId", vm, "AllocationId", w.account.ElasticIP.AllocationID)
		_, err := w.Do(ctx, query.ELB, "RegisterInstancesWithLoadBalancer", "LoadBalancerName", w.account.LoadBalancer, "Instances.member.1.InstanceId", vm)
		Expect(err).NotTo(HaveOccurred())
		_, err = w.Do(ctx, query.ELBv2, "RegisterTargets", "TargetGroupArn", w.account.TargetGroup.ARN, "Targets.member.1.Id", vm)
		Expect(err).NotTo(HaveOccurred())
		w.ec2(ctx, "TerminateInstances", "InstanceId.1", vm)
		Expect(w.left(ctx)).To(BeEmpty())
		shown := instance(ctx, vm)
		Expect(shown.All("networkInterfaceSet/item")).To(BeEmpty())
		Expect(shown.All("blockDeviceMapping/item")).To(BeEmpty())
		Expect(shown.Value("privateIpAddress")).To(BeEmpty())
		again := w.ec2(ctx, "TerminateInstances", "InstanceId.1", vm)
		Expect(again.Value("instancesSet/item/currentState/name")).To(Equal("terminated"))
		Expect(w.refused(ctx, "RebootInstances", "InstanceId.1", vm)).To(Equal("IncorrectInstanceState"))
		Expect(w.state(ctx, vm)).To(Equal("terminated"))
	})

	It("does not let a pending instance be used", func(ctx SpecContext) {
		w.proxy.SetDelays(proxy.Delays{InstanceRunning: time.Hour})
		vm := w.run(ctx)
		eni := instance(ctx, vm).Value("networkInterfaceSet/item/networkInterfaceId")
		allocation := w.account.ElasticIP.AllocationID
		Expect(w.refused(ctx, "AssociateAddress", "InstanceId", vm, "AllocationId", allocation)).To(Equal("InvalidInstanceID"))
		Expect(w.refused(ctx, "AssociateAddress", "NetworkInterfaceId", eni, "AllocationId", allocation)).To(Equal("IncorrectInstanceState"))
		Expect(w.refused(ctx, "AttachVolume", "VolumeId", w.volume(ctx), "InstanceId", vm, "Device", "/dev/sdf")).To(Equal("IncorrectState"))
		_, err := w.Do(ctx, query.ELBv2, "RegisterTargets", "TargetGroupArn", w.account.TargetGroup.ARN, "Targets.member.1.Id", vm)
		var failure *query.Error
		Expect(errors.As(err, &failure)).To(BeTrue())
		Expect(failure.Code).To(Equal("InvalidTarget"))
	})

	It("attaches a volume once, to a free device, in its zone", func(ctx SpecContext) {
		vm, other := w.run(ctx), w.run(ctx)
		disk, another := w.volume(ctx), w.volume(ctx)
		far := w.ec2(ctx, "CreateVolume", "Size", "1", "AvailabilityZone", "us-east-1b").Value("volumeId")
		w.ec2(ctx, "AttachVolume", "VolumeId", disk, "InstanceId", vm, "Device", "/dev/sdf")
		for _, id := range []string{vm, other} {
			Expect(w.refused(ctx, "AttachVolume", "VolumeId", disk, "InstanceId", id, "Device", "/dev/sdg")).To(Equal("VolumeInUse"))
		}
		_, err := w.Do(ctx, query.EC2, "AttachVolume", "VolumeId", another, "InstanceId", vm, "Device", "/dev/sdf")
		Expect(err).To(MatchError(And(ContainSubstring("InvalidParameterValue"), ContainSubstring("/dev/sdf is already in use"))))
		Expect(w.refused(ctx, "AttachVolume", "VolumeId", far, "InstanceId", vm, "Device", "/dev/sdg")).To(Equal("InvalidVolume.ZoneMismatch"))
		Expect(w.refused(ctx, "DetachVolume", "VolumeId", disk, "InstanceId", other)).To(Equal("InvalidAttachment.NotFound"))
		Expect(w.refused(ctx, "DetachVolume", "VolumeId", another)).To(Equal("IncorrectState"))
		Expect(w.refused(ctx, "DeleteVolume", "VolumeId", disk)).To(Equal("VolumeInUse"))
	})

	It("makes volumes in its own zones only", func(ctx SpecContext) {
		Expect(w.refused(ctx, "CreateVolume", "Size", "1", "AvailabilityZone", "eu-west-1a")).To(Equal("InvalidZone.NotFound"))
	})

	It("modifies a volume for hours, and never makes it smaller", func(ctx SpecContext) {
		disk := w.ec2(ctx, "CreateVolume", "Size", "2", "VolumeType", "gp3", "AvailabilityZone", "us-east-1a").Value("volumeId")
		Expect(w.refused(ctx, "DescribeVolumesModifications", "VolumeId.1", disk)).To(Equal("InvalidVolumeModification.NotFound"))
		Expect(w.refused(ctx, "ModifyVolume", "VolumeId", disk, "Size", "1")).To(Equal("InvalidParameterValue"))
		w.proxy.SetDelays(proxy.Delays{VolumeModified: late})
		started := w.ec2(ctx, "ModifyVolume", "VolumeId", disk, "Size", "3")
		Expect(started.Value("volumeModification/modificationState")).To(Equal("modifying"))
		Expect(started.Value("volumeModification/originalSize")).To(Equal("2"))
		Expect(started.Value("volumeModification/targetVolumeType")).To(Equal("gp3"))
		modification := func() *query.Node {
			return w.ec2(ctx, "DescribeVolumesModifications", "VolumeId.1", disk)
		}
		Expect(modification().Value("volumeModificationSet/item/modificationState")).To(Equal("modifying"))
		Expect(w.refused(ctx, "ModifyVolume", "VolumeId", disk, "Size", "4")).To(Equal("IncorrectModificationState"))
		Eventually(func() string { return modification().Value("volumeModificationSet/item/modificationState") }).
			WithPolling(faster).Should(Equal("optimizing"))
		w.ec2(ctx, "ModifyVolume", "VolumeId", disk, "Size", "4")
		Expect(modification().All("volumeModificationSet/item")).To(HaveLen(1))
		Expect(modification().Value("volumeModificationSet/item/targetSize")).To(Equal("4"))
	})

	It("makes snapshots that are pending first", func(ctx SpecContext) {
		disk := w.volume(ctx)
		w.proxy.SetDelays(proxy.Delays{SnapshotCompleted: late})
		made := w.ec2(ctx, "CreateSnapshot", "VolumeId", disk)
		Expect(made.Value("status")).To(Equal("pending"))
		Expect(w.state(ctx, made.Value("snapshotId"))).To(Equal("pending"))
		Eventually(w.state).WithContext(ctx).WithArguments(made.Value("snapshotId")).WithPolling(faster).Should(Equal("completed"))
		_, err := w.Do(ctx, query.EC2, "DeleteSnapshot", "SnapshotId", "snap-00000000000000000")
		Expect(err).To(MatchError(ContainSubstring("InvalidSnapshot.NotFound (HTTP 400): The snapshot 'snap-00000000000000000' does not exist.")))
	})

	It("keeps all that an image is registered with", func(ctx SpecContext) {
		snapshot := w.ec2(ctx, "CreateSnapshot", "VolumeId", w.volume(ctx)).Value("snapshotId")
		before := w.inventory(ctx)
		register := []string{"Name", "stemcell", "Architecture", "x86_64", "RootDeviceName", "/dev/xvda", "BootMode", "uefi-preferred",
			"VirtualizationType", "hvm", "EnaSupport", "true",
			"BlockDeviceMapping.1.DeviceName", "/dev/xvda", "BlockDeviceMapping.1.Ebs.SnapshotId", snapshot, "BlockDeviceMapping.1.Ebs.VolumeSize", "7",
			"TagSpecification.1.ResourceType", "image", "TagSpecification.1.Tag.1.Key", "k", "TagSpecification.1.Tag.1.Value", "v"}
		w.proxy.SetDelays(proxy.Delays{ImageAvailable: late})
		id := w.ec2(ctx, "RegisterImage", register...).Value("imageId")
		Expect(w.state(ctx, id)).To(Equal("pending"))
		Expect(w.refused(ctx, "RunInstances", w.launch("ImageId", id)...)).To(Equal("InvalidAMIID.Unavailable"))
		Eventually(w.state).WithContext(ctx).WithArguments(id).WithPolling(faster).Should(Equal("available"))

		image := w.ec2(ctx, "DescribeImages", "ImageId.1", id).Get("imagesSet/item")
		Expect(image.Value("rootDeviceName")).To(Equal("/dev/xvda"))
		Expect(image.Value("bootMode")).To(Equal("uefi-preferred"))
		Expect(image.Value("blockDeviceMapping/item/ebs/snapshotId")).To(Equal(snapshot))
		Expect(image.Value("blockDeviceMapping/item/ebs/volumeSize")).To(Equal("7"))
		Expect(image.Value("tagSet/item/value")).To(Equal("v"))
		_, err := w.Do(ctx, query.EC2, "RegisterImage", register...)
		Expect(err).To(MatchError(And(ContainSubstring("InvalidAMIName.Duplicate"), ContainSubstring(id))))
		Expect(w.refused(ctx, "DeleteSnapshot", "SnapshotId", snapshot)).To(Equal("InvalidSnapshot.InUse"))
		Expect(instance(ctx, w.run(ctx, "ImageId", id)).Value("rootDeviceName")).To(Equal("/dev/xvda"))
		Expect(emulator.Diff(before, w.inventory(ctx))).To(ContainElement("+ image " + id))
		Expect(emulator.Diff(before, w.inventory(ctx))).NotTo(ContainElement(HavePrefix("+ snapshot")))

		w.ec2(ctx, "DeregisterImage", "ImageId", id)
		w.ec2(ctx, "DeleteSnapshot", "SnapshotId", snapshot)
		w.ec2(ctx, "RegisterImage", "Name", "stemcell")
	})

	It("copies an image with its root device, encryption and tags", func(ctx SpecContext) {
		id := w.ec2(ctx, "CopyImage", "SourceImageId", w.account.Image, "SourceRegion", "us-east-1", "Name", "copy", "Encrypted", "true",
			"TagSpecification.1.ResourceType", "image", "TagSpecification.1.Tag.1.Key", "k", "TagSpecification.1.Tag.1.Value", "v",
			"TagSpecification.2.ResourceType", "snapshot", "TagSpecification.2.Tag.1.Key", "s", "TagSpecification.2.Tag.1.Value", "v").Value("imageId")
		image := w.ec2(ctx, "DescribeImages", "ImageId.1", id).Get("imagesSet/item")
		Expect(image.Value("rootDeviceName")).To(Equal(w.account.RootDevice))
		Expect(image.Value("blockDeviceMapping/item/deviceName")).To(Equal(w.account.RootDevice))
		Expect(image.Value("blockDeviceMapping/item/ebs/encrypted")).To(Equal("true"))
		Expect(image.Value("tagSet/item/key")).To(Equal("k"))
		snapshot := image.Value("blockDeviceMapping/item/ebs/snapshotId")
		Expect(w.ec2(ctx, "DescribeSnapshots", "SnapshotId.1", snapshot).Value("snapshotSet/item/tagSet/item/key")).To(Equal("s"))
		w.ec2(ctx, "DeregisterImage", "ImageId", id)
		Expect(w.left(ctx)).To(Equal([]string{"+ snapshot " + snapshot}))
		w.ec2(ctx, "DeleteSnapshot", "SnapshotId", snapshot)
	})

	It("refuses to show an unknown image beside a known one", func(ctx SpecContext) {
		Expect(w.refused(ctx, "DescribeImages", "ImageId.1", w.account.Image, "ImageId.2", "ami-00000000000000000")).To(Equal("InvalidAMIID.NotFound"))
	})

	It("makes interfaces with known groups and free addresses", func(ctx SpecContext) {
		nic(ctx, "PrivateIpAddress", w.account.Subnets[0].IP(10))
		create := func(more ...string) []string { return append([]string{"SubnetId", w.account.Subnets[0].ID}, more...) }
		Expect(w.refused(ctx, "CreateNetworkInterface", create("PrivateIpAddress", w.account.Subnets[0].IP(10))...)).To(Equal("InvalidIPAddress.InUse"))
		Expect(w.refused(ctx, "CreateNetworkInterface", create("SecurityGroupId.1", "sg-00000000000000000")...)).To(Equal("InvalidSecurityGroupID.NotFound"))
		Expect(w.refused(ctx, "CreateNetworkInterface", create("Ipv6Addresses.1.Ipv6Address", w.account.Subnets[0].IPv6(9),
			"Ipv6Prefix.1.Ipv6Prefix", "2001:db8::/80")...)).To(Equal("InvalidParameterCombination"))
	})

	It("delegates prefixes", func(ctx SpecContext) {
		made := w.ec2(ctx, "CreateNetworkInterface", "SubnetId", w.account.Subnets[0].ID)
		Expect(made.Value("networkInterface/status")).To(Equal("pending"))
		id := made.Value("networkInterface/networkInterfaceId")
		Expect(w.ec2(ctx, "AssignPrivateIpAddresses", "NetworkInterfaceId", id, "Ipv4Prefix.1", "10.0.2.0/28").
			Value("assignedIpv4PrefixSet/item/ipv4Prefix")).To(Equal("10.0.2.0/28"))
		Expect(w.ec2(ctx, "AssignIpv6Addresses", "NetworkInterfaceId", id, "Ipv6Prefix.1", "2001:db8::/80").
			Value("assignedIpv6PrefixSet/item")).To(Equal("2001:db8::/80"))
		shown := w.ec2(ctx, "DescribeNetworkInterfaces", "NetworkInterfaceId.1", id).Get("networkInterfaceSet/item")
		Expect(shown.Value("status")).To(Equal("available"))
		Expect(shown.Value("ipv4PrefixSet/item/ipv4Prefix")).To(Equal("10.0.2.0/28"))
		Expect(shown.Value("ipv6PrefixSet/item/ipv6Prefix")).To(Equal("2001:db8::/80"))
	})

	It("moves an elastic IP when allowed to, wholly", func(ctx SpecContext) {
		one, two := w.run(ctx), w.run(ctx)
		eni := func(vm string) string { return instance(ctx, vm).Value("networkInterfaceSet/item/networkInterfaceId") }
		associate := func(vm string) []string {
			return []string{"NetworkInterfaceId", eni(vm), "AllocationId", w.account.ElasticIP.AllocationID}
		}
		w.ec2(ctx, "AssociateAddress", associate(one)...)
		Expect(w.refused(ctx, "AssociateAddress", associate(two)...)).To(Equal("Resource.AlreadyAssociated"))
		w.ec2(ctx, "AssociateAddress", append(associate(two), "AllowReassociation", "true")...)
		address := w.ec2(ctx, "DescribeAddresses", "PublicIp.1", w.account.ElasticIP.IP).Get("addressesSet/item")
		Expect(address.Value("networkInterfaceId")).To(Equal(eni(two)))
		Expect(address.Value("instanceId")).To(Equal(two))
		Expect(instance(ctx, one).Value("ipAddress")).NotTo(Equal(w.account.ElasticIP.IP))
		Expect(instance(ctx, two).Value("ipAddress")).To(Equal(w.account.ElasticIP.IP))
	})

	DescribeTable("knows its routes",
		func(ctx SpecContext, parameter, destination string) {
			vm := w.run(ctx)
			eni := instance(ctx, vm).Value("networkInterfaceSet/item/networkInterfaceId")
			route := []string{"RouteTableId", w.account.RouteTable, parameter, destination}
			w.ec2(ctx, "CreateRoute", append(route, "NetworkInterfaceId", eni)...)
			Expect(w.refused(ctx, "CreateRoute", append(route, "NetworkInterfaceId", eni)...)).To(Equal("RouteAlreadyExists"))
			shown := func() *query.Node {
				for _, item := range w.ec2(ctx, "DescribeRouteTables", "RouteTableId.1", w.account.RouteTable).All("routeTableSet/item/routeSet/item") {
					if item.Value(strings.ToLower(parameter[:1])+parameter[1:]) == destination {
						return item
					}
				}
				return nil
			}
			Expect(shown().Value("state")).To(Equal("active"))
			w.ec2(ctx, "ReplaceRoute", append(route, "NetworkInterfaceId", nic(ctx))...)
			Expect(shown().Value("networkInterfaceId")).NotTo(Equal(eni))
			w.ec2(ctx, "ReplaceRoute", append(route, "NetworkInterfaceId", eni)...)
			w.ec2(ctx, "TerminateInstances", "InstanceId.1", vm)
			Expect(shown().Value("state")).To(Equal("blackhole"))
			w.ec2(ctx, "DeleteRoute", route...)
			Expect(shown()).To(BeNil())
		},
		Entry("IPv4", "DestinationCidrBlock", "10.9.0.0/16"),
		Entry("IPv6", "DestinationIpv6CidrBlock", "2001:db8:9::/48"),
	)

	It("keeps a subnet that is used, and forgets all about one that is not", func(ctx SpecContext) {
		Expect(w.refused(ctx, "CreateSubnet", "VpcId", w.account.VPC, "CidrBlock", "10.0.64.0/24", "AvailabilityZone", "eu-west-1a")).
			To(Equal("InvalidParameterValue"))
		id := w.ec2(ctx, "CreateSubnet", "VpcId", w.account.VPC, "CidrBlock", "10.0.64.0/24", "AvailabilityZone", "us-east-1a").Value("subnet/subnetId")
		w.ec2(ctx, "AssociateRouteTable", "RouteTableId", w.account.RouteTable, "SubnetId", id)
		used := w.ec2(ctx, "CreateNetworkInterface", "SubnetId", id).Value("networkInterface/networkInterfaceId")
		Expect(w.refused(ctx, "DeleteSubnet", "SubnetId", id)).To(Equal("DependencyViolation"))
		w.ec2(ctx, "DeleteNetworkInterface", "NetworkInterfaceId", used)
		w.ec2(ctx, "DeleteSubnet", "SubnetId", id)
		Expect(w.left(ctx)).To(BeEmpty())
	})

	DescribeTable("refuses tags",
		func(ctx SpecContext, code, id, key, value string) {
			if id == "" {
				id = w.volume(ctx)
			}
			Expect(w.refused(ctx, "CreateTags", "ResourceId.1", id, "Tag.1.Key", key, "Tag.1.Value", value)).To(Equal(code))
		},
		Entry("on an unknown instance", "InvalidInstanceID.NotFound", "i-00000000000000000", "k", "v"),
		Entry("on an unknown interface", "InvalidNetworkInterfaceID.NotFound", "eni-00000000000000000", "k", "v"),
		Entry("on an unknown volume", "InvalidVolume.NotFound", "vol-00000000000000000", "k", "v"),
		Entry("with a long key", "InvalidParameterValue", "", strings.Repeat("k", 129), "v"),
		Entry("with a long value", "InvalidParameterValue", "", "k", strings.Repeat("v", 257)),
		Entry("of its own", "InvalidParameterValue", "", "aws:k", "v"),
	)

	DescribeTable("tells malformed ids from unknown ones",
		func(ctx SpecContext, action, parameter, id, code string) {
			Expect(w.refused(ctx, action, parameter, id)).To(Equal(code))
		},
		Entry(nil, "DescribeInstances", "InstanceId.1", "i-00000000000000000", "InvalidInstanceID.NotFound"),
		Entry(nil, "DescribeInstances", "InstanceId.1", "i-00000000", "InvalidInstanceID.NotFound"),
		Entry(nil, "DescribeInstances", "InstanceId.1", "i-nobody", "InvalidInstanceID.Malformed"),
		Entry(nil, "TerminateInstances", "InstanceId.1", "vol-00000000000000000", "InvalidInstanceID.Malformed"),
		Entry(nil, "DescribeVolumes", "VolumeId.1", "vol-00000000000000000", "InvalidVolume.NotFound"),
		Entry(nil, "DescribeVolumes", "VolumeId.1", "vol-nobody", "InvalidVolumeID.Malformed"),
		Entry(nil, "CreateSnapshot", "VolumeId", "nobody", "InvalidParameterValue"),
		Entry(nil, "DescribeImages", "ImageId.1", "stemcell", "InvalidAMIID.Malformed"),
		Entry(nil, "DescribeSubnets", "SubnetId.1", "subnet-nobody", "InvalidSubnetID.NotFound"),
	)

	It("passes everything as it is when told to", func(ctx SpecContext) {
		verbatim, err := proxy.Start(proxy.Options{Upstream: moto().URL, Verbatim: true})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(verbatim.Close)
		disk := w.volume(ctx)
		Expect(callerOf(verbatim).ec2(ctx, "CreateSnapshot", "VolumeId", disk).Value("status")).To(Equal("completed"))
	})
})
