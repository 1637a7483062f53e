package aws

import (
	"encoding/base64"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("What a launch asks of EC2", func() {
	It("is one instance of type, image and place", func() {
		input := Launch{ImageID: "ami-1", InstanceType: "m5.large", AvailabilityZone: "us-east-1a", KeyName: "bosh", PlacementGroup: "near", Tenancy: "dedicated"}.input()
		Expect(input.MinCount).To(HaveValue(BeEquivalentTo(1)))
		Expect(input.MaxCount).To(HaveValue(BeEquivalentTo(1)))
		Expect(input.ImageId).To(HaveValue(Equal("ami-1")))
		Expect(input.InstanceType).To(BeEquivalentTo("m5.large"))
		Expect(input.KeyName).To(HaveValue(Equal("bosh")))
		Expect(input.Placement).To(Equal(&types.Placement{AvailabilityZone: sdk.String("us-east-1a"), GroupName: sdk.String("near"), Tenancy: types.TenancyDedicated}))
	})

	It("leaves out what is not asked for", func() {
		input := Launch{ImageID: "ami-1", InstanceType: "m5.large", AvailabilityZone: "us-east-1a"}.input()
		Expect(input.KeyName).To(BeNil())
		Expect(input.IamInstanceProfile).To(BeNil())
		Expect(input.InstanceMarketOptions).To(BeNil())
		Expect(input.MetadataOptions).To(BeNil())
		Expect(input.TagSpecifications).To(BeNil())
		Expect(input.SubnetId).To(BeNil())
		Expect(input.SecurityGroupIds).To(BeNil())
		Expect(input.Placement).To(Equal(&types.Placement{AvailabilityZone: sdk.String("us-east-1a")}))
	})

	It("has a token of its own", func() {
		Expect(*Launch{}.input().ClientToken).NotTo(Equal(*Launch{}.input().ClientToken))
	})

	It("has user data in base64, without line breaks", func() {
		data := make([]byte, 10000)
		encoded := *Launch{UserData: data}.input().UserData
		Expect(encoded).NotTo(ContainSubstring("\n"))
		Expect(base64.StdEncoding.DecodeString(encoded)).To(Equal(data))
	})

	DescribeTable("has the instance profile",
		func(profile string, expected *types.IamInstanceProfileSpecification) {
			Expect(Launch{InstanceProfile: profile}.input().IamInstanceProfile).To(Equal(expected))
		},
		Entry("by name", "director", &types.IamInstanceProfileSpecification{Name: sdk.String("director")}),
		Entry("by ARN", "arn:aws:iam::1:instance-profile/director", &types.IamInstanceProfileSpecification{Arn: sdk.String("arn:aws:iam::1:instance-profile/director")}),
		Entry("by the ARN of another partition", "arn:aws-cn:iam::1:instance-profile/d", &types.IamInstanceProfileSpecification{Arn: sdk.String("arn:aws-cn:iam::1:instance-profile/d")}),
	)

	DescribeTable("makes its network interface itself",
		func(spec InterfaceSpec, expected types.InstanceNetworkInterfaceSpecification) {
			Expect(Launch{Interface: &spec}.input().NetworkInterfaces).To(Equal([]types.InstanceNetworkInterfaceSpecification{expected}))
		},
		Entry("at any address", InterfaceSpec{Subnet: "subnet-1", Groups: []string{"sg-1", "sg-2"}}, types.InstanceNetworkInterfaceSpecification{
			DeviceIndex: sdk.Int32(0), SubnetId: sdk.String("subnet-1"), Groups: []string{"sg-1", "sg-2"}, DeleteOnTermination: sdk.Bool(true),
		}),
		Entry("at an address, with a public one", InterfaceSpec{Subnet: "subnet-1", IPv4: "10.0.0.5", PublicIP: true}, types.InstanceNetworkInterfaceSpecification{
			DeviceIndex: sdk.Int32(0), SubnetId: sdk.String("subnet-1"), PrivateIpAddress: sdk.String("10.0.0.5"),
			AssociatePublicIpAddress: sdk.Bool(true), DeleteOnTermination: sdk.Bool(true),
		}),
		Entry("at an IPv6 address", InterfaceSpec{Subnet: "subnet-1", IPv6: "2001:db8::5"}, types.InstanceNetworkInterfaceSpecification{
			DeviceIndex: sdk.Int32(0), SubnetId: sdk.String("subnet-1"),
			Ipv6Addresses: []types.InstanceIpv6Address{{Ipv6Address: sdk.String("2001:db8::5")}}, DeleteOnTermination: sdk.Bool(true),
		}),
	)

	It("takes network interfaces that exist, in their order", func() {
		Expect(Launch{Interfaces: []string{"eni-b", "eni-a"}}.input().NetworkInterfaces).To(Equal([]types.InstanceNetworkInterfaceSpecification{
			{DeviceIndex: sdk.Int32(0), NetworkInterfaceId: sdk.String("eni-b")},
			{DeviceIndex: sdk.Int32(1), NetworkInterfaceId: sdk.String("eni-a")},
		}))
	})

	DescribeTable("is a spot instance",
		func(price string, expected *string) {
			options := Launch{Spot: true, MaxPrice: price}.input().InstanceMarketOptions
			Expect(options.MarketType).To(Equal(types.MarketTypeSpot))
			Expect(options.SpotOptions).To(Equal(&types.SpotMarketOptions{
				MaxPrice: expected, SpotInstanceType: types.SpotInstanceTypeOneTime, InstanceInterruptionBehavior: types.InstanceInterruptionBehaviorTerminate,
			}))
		},
		Entry("up to a price", "0.25", sdk.String("0.25")),
		Entry("up to the on-demand price", "", nil),
	)

	DescribeTable("has block devices",
		func(mapping Mapping, expected types.BlockDeviceMapping) {
			Expect(Launch{Mappings: []Mapping{mapping}}.input().BlockDeviceMappings).To(Equal([]types.BlockDeviceMapping{expected}))
		},
		Entry("of a size and type", Mapping{Device: "/dev/sdb", Volume: VolumeSpec{SizeGiB: 10, Type: "gp3"}}, types.BlockDeviceMapping{
			DeviceName: sdk.String("/dev/sdb"), Ebs: &types.EbsBlockDevice{DeleteOnTermination: sdk.Bool(true), VolumeSize: sdk.Int32(10), VolumeType: types.VolumeTypeGp3},
		}),
		Entry("of the image's size", Mapping{Device: "/dev/xvda", Volume: VolumeSpec{Type: "gp3"}}, types.BlockDeviceMapping{
			DeviceName: sdk.String("/dev/xvda"), Ebs: &types.EbsBlockDevice{DeleteOnTermination: sdk.Bool(true), VolumeType: types.VolumeTypeGp3},
		}),
		Entry("with speed", Mapping{Device: "/dev/sdb", Volume: VolumeSpec{SizeGiB: 10, Type: "gp3", IOPS: 4000, Throughput: 250}}, types.BlockDeviceMapping{
			DeviceName: sdk.String("/dev/sdb"), Ebs: &types.EbsBlockDevice{
				DeleteOnTermination: sdk.Bool(true), VolumeSize: sdk.Int32(10), VolumeType: types.VolumeTypeGp3, Iops: sdk.Int32(4000), Throughput: sdk.Int32(250),
			},
		}),
		Entry("encrypted with a key", Mapping{Device: "/dev/sdb", Volume: VolumeSpec{SizeGiB: 10, Type: "io1", IOPS: 100, Encrypted: true, KMSKey: "arn:key"}}, types.BlockDeviceMapping{
			DeviceName: sdk.String("/dev/sdb"), Ebs: &types.EbsBlockDevice{
				DeleteOnTermination: sdk.Bool(true), VolumeSize: sdk.Int32(10), VolumeType: types.VolumeTypeIo1, Iops: sdk.Int32(100),
				Encrypted: sdk.Bool(true), KmsKeyId: sdk.String("arn:key"),
			},
		}),
		Entry("that are local disks", Mapping{Device: "/dev/xvdba", VirtualName: "ephemeral0"}, types.BlockDeviceMapping{
			DeviceName: sdk.String("/dev/xvdba"), VirtualName: sdk.String("ephemeral0"),
		}),
	)

	It("has block devices in their order", func() {
		mappings := Launch{Mappings: []Mapping{{Device: "/dev/xvda"}, {Device: "/dev/sdb"}}}.input().BlockDeviceMappings
		Expect(mappings).To(HaveExactElements(HaveField("DeviceName", HaveValue(Equal("/dev/xvda"))), HaveField("DeviceName", HaveValue(Equal("/dev/sdb")))))
	})

	It("has the options of the metadata service that are given", func() {
		enabled, required, hops := "enabled", "required", int32(2)
		options := &MetadataOptions{HTTPEndpoint: &enabled, HTTPProtocolIPv6: &enabled, HTTPPutHopLimit: &hops, HTTPTokens: &required, InstanceMetadataTags: &enabled}
		Expect(Launch{Metadata: options}.input().MetadataOptions).To(Equal(&types.InstanceMetadataOptionsRequest{
			HttpEndpoint: types.InstanceMetadataEndpointStateEnabled, HttpProtocolIpv6: types.InstanceMetadataProtocolStateEnabled,
			HttpPutResponseHopLimit: sdk.Int32(2), HttpTokens: types.HttpTokensStateRequired, InstanceMetadataTags: types.InstanceMetadataTagsStateEnabled,
		}))
		Expect(Launch{Metadata: &MetadataOptions{HTTPTokens: &required}}.input().MetadataOptions).To(Equal(&types.InstanceMetadataOptionsRequest{HttpTokens: types.HttpTokensStateRequired}))
	})

	DescribeTable("tags what it makes",
		func(launch Launch, kinds ...types.ResourceType) {
			launch.Tags = Tags{"b": "2", "a": "1"}
			specifications := launch.input().TagSpecifications
			Expect(specifications).To(HaveEach(HaveField("Tags", Equal([]types.Tag{
				{Key: sdk.String("a"), Value: sdk.String("1")}, {Key: sdk.String("b"), Value: sdk.String("2")},
			}))))
			var tagged []types.ResourceType
			for _, specification := range specifications {
				tagged = append(tagged, specification.ResourceType)
			}
			Expect(tagged).To(ConsistOf(kinds))
		},
		Entry("instance, volumes and interface", Launch{Interface: &InterfaceSpec{}}, types.ResourceTypeInstance, types.ResourceTypeVolume, types.ResourceTypeNetworkInterface),
		Entry("not interfaces that exist", Launch{Interfaces: []string{"eni-1"}}, types.ResourceTypeInstance, types.ResourceTypeVolume),
		Entry("the spot request, too", Launch{Interface: &InterfaceSpec{}, Spot: true},
			types.ResourceTypeInstance, types.ResourceTypeVolume, types.ResourceTypeNetworkInterface, types.ResourceTypeSpotInstancesRequest),
	)
})
