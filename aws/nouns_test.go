package aws

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/aws/instancetypes"
)

var _ = Describe("An image's root mapping", func() {
	DescribeTable("is the device that holds the root file system",
		func(root, expected string, devices ...string) {
			image := Image{RootDevice: root}
			for i, name := range devices {
				image.Devices = append(image.Devices, ImageDevice{Name: name, SizeGiB: int32(i + 1)})
			}
			device, found := image.RootMapping()
			Expect(found).To(Equal(expected != ""))
			Expect(device.Name).To(Equal(expected))
		},
		Entry("with the root's name", "/dev/xvda", "/dev/xvda", "/dev/sdb", "/dev/xvda"),
		Entry("the disk of which the root is a partition", "/dev/sda1", "/dev/sda", "/dev/sdb", "/dev/sda"),
		Entry("with the root's name rather than the disk", "/dev/sda1", "/dev/sda1", "/dev/sda", "/dev/sda1"),
		Entry("none of another disk", "/dev/sda1", "", "/dev/sdb", "/dev/sda2"),
		Entry("none of a device without a name", "/dev/sda1", "", ""),
		Entry("none without devices", "/dev/sda1", ""),
	)
})

var _ = Describe("An instance", func() {
	It("has its network interfaces in the order of their device indexes", func() {
		nic := func(id string, index int32) types.InstanceNetworkInterface {
			return types.InstanceNetworkInterface{NetworkInterfaceId: sdk.String(id), Attachment: &types.InstanceNetworkInterfaceAttachment{
				AttachmentId: sdk.String("attach-" + id), DeviceIndex: sdk.Int32(index),
			}}
		}
		instance := instanceOf(types.Instance{NetworkInterfaces: []types.InstanceNetworkInterface{nic("eni-2", 2), nic("eni-0", 0), nic("eni-1", 1)}})
		Expect(instance.Interfaces).To(Equal([]AttachedInterface{{"eni-0", "attach-eni-0"}, {"eni-1", "attach-eni-1"}, {"eni-2", "attach-eni-2"}}))
	})

	It("may be shown with next to nothing", func() {
		Expect(instanceOf(types.Instance{InstanceId: sdk.String("i-1")})).To(Equal(Instance{ID: "i-1", Tags: Tags{}, Interfaces: []AttachedInterface{}}))
	})

	DescribeTable("is labelled for people",
		func(tags Tags, label string) { Expect(Instance{ID: "i-1", Tags: tags}.Label()).To(Equal(label)) },
		Entry("by its id", nil, "instance i-1"),
		Entry("by name", Tags{"Name": "web/0"}, `instance i-1 "web/0"`),
		Entry("by name and deployment", Tags{"Name": "web/0", "deployment": "cf", "job": "web"}, `instance i-1 "web/0" of deployment "cf"`),
	)

	DescribeTable("is gone or not",
		func(state string, gone bool) { Expect(Instance{State: state}.Gone()).To(Equal(gone)) },
		Entry(nil, "pending", false), Entry(nil, "running", false), Entry(nil, "stopped", false),
		Entry(nil, "shutting-down", true), Entry(nil, "terminated", true),
	)

	DescribeTable("that does not run has a reason with a code",
		func(reason, code string) { Expect(reasonCode(reason)).To(Equal(code)) },
		Entry("of AWS", "Server.InsufficientInstanceCapacity: Insufficient capacity to satisfy instance request", "InsufficientInstanceCapacity"),
		Entry("of AWS, inside", "Server.InternalError: Internal error on launch", "InternalError"),
		Entry("of the account", "Client.InternalError: Client error on launch", "Client.InternalError"),
		Entry("of the account, with a dot", "Client.InvalidSnapshot.NotFound: gone", "Client.InvalidSnapshot.NotFound"),
		Entry("none", "", ""),
		Entry("words", "User initiated (2026-01-01 00:00:00 GMT)", ""),
		Entry("words and a colon", "User initiated: shutdown", ""),
	)
})

var _ = Describe("A volume", func() {
	DescribeTable("is held by an attachment that is not over",
		func(states []string, holder string) {
			volume := Volume{}
			for _, state := range states {
				volume.Attachments = append(volume.Attachments, Attachment{InstanceID: "i-" + state, State: state})
			}
			found, held := volume.Holder()
			Expect(held).To(Equal(holder != ""))
			Expect(found.InstanceID).To(Equal(holder))
		},
		Entry("none", nil, ""),
		Entry("attaching", []string{"attaching"}, "i-attaching"),
		Entry("attached", []string{"attached"}, "i-attached"),
		Entry("detaching", []string{"detaching"}, "i-detaching"),
		Entry("over", []string{"detached"}, ""),
		Entry("over, and the next one", []string{"detached", "busy"}, "i-busy"),
	)
})

var _ = Describe("Tags", func() {
	It("are sent in the order of their keys, so that a retry is the same request", func() {
		tags := Tags{"z": "1", "a": "2", "M": "3"}
		expected := []types.Tag{
			{Key: sdk.String("M"), Value: sdk.String("3")}, {Key: sdk.String("a"), Value: sdk.String("2")}, {Key: sdk.String("z"), Value: sdk.String("1")},
		}
		for range 20 {
			Expect(tags.list()).To(Equal(expected))
		}
	})

	It("are sent for each kind of resource, and never as an empty list", func() {
		Expect(Tags{"a": "1"}.specification(types.ResourceTypeVolume, types.ResourceTypeInstance)).To(HaveExactElements(
			HaveField("ResourceType", types.ResourceTypeVolume), HaveField("ResourceType", types.ResourceTypeInstance),
		))
		Expect(Tags{}.specification(types.ResourceTypeVolume)).To(BeNil())
		Expect(Tags(nil).specification(types.ResourceTypeVolume)).To(BeNil())
	})

	Describe("set on resources", func() {
		ctx := context.Background()
		// refusing answers CreateTags for these resources with a code.
		refusing := func(code string, resources ...string) *endpointOfAWS {
			return newEndpoint(func(w http.ResponseWriter, sent url.Values, _ int) {
				for key, values := range sent {
					if strings.HasPrefix(key, "ResourceId.") && slices.Contains(resources, values[0]) {
						refuse(w, 400, code)
						return
					}
				}
				reply(w, "CreateTags", "<return>true</return>")
			})
		}

		It("take one call, and none when there is nothing to do", func() {
			e := refusing("")
			c, _ := e.client()
			Expect(c.Tag(ctx, Tags{"a": "1"}, "i-1", "vol-1")).To(Succeed())
			Expect(c.Tag(ctx, nil, "i-1")).To(Succeed())
			Expect(c.Tag(ctx, Tags{"a": "1"})).To(Succeed())
			Expect(e.actions()).To(Equal([]string{"CreateTags"}))
		})

		DescribeTable("are set one by one when AWS refuses one, which is logged and fails nothing",
			func(code string) {
				e := refusing(code, "vol-1")
				c, log := e.client()
				Expect(c.Tag(ctx, Tags{"a": "1"}, "i-1", "vol-1", "vol-2")).To(Succeed())
				Expect(e.actions()).To(HaveLen(4))
				Expect(log.String()).To(ContainSubstring("WARN - not tagged: CreateTags (vol-1): " + code))
			},
			Entry(nil, "TagLimitExceeded"), Entry(nil, "InvalidParameterValue"),
		)

		It("are not tried again on a single resource that AWS refuses", func() {
			e := refusing("TagLimitExceeded", "vol-1")
			c, _ := e.client()
			Expect(c.Tag(ctx, Tags{"a": "1"}, "vol-1")).To(Succeed())
			Expect(e.actions()).To(HaveLen(1))
		})

		It("fail for any other reason", func() {
			e := refusing("UnauthorizedOperation", "vol-1")
			c, _ := e.client()
			Expect(IsPermission(c.Tag(ctx, Tags{"a": "1"}, "i-1", "vol-1"))).To(BeTrue())
			Expect(e.actions()).To(HaveLen(1))
		})
	})
})

var _ = Describe("A route", func() {
	DescribeTable("has its destination in the field of its family",
		func(destination string, ipv4, ipv6 *string) {
			first, second := Route{Destination: netip.MustParsePrefix(destination)}.destinations()
			Expect(first).To(Equal(ipv4))
			Expect(second).To(Equal(ipv6))
		},
		Entry("IPv4", "10.2.0.0/16", sdk.String("10.2.0.0/16"), nil),
		Entry("IPv6", "2001:db8::/64", nil, sdk.String("2001:db8::/64")),
	)

	It("is found by table and destination among those that exist, or has the zero value", func() {
		e := newEndpoint(func(w http.ResponseWriter, sent url.Values, _ int) {
			reply(w, sent.Get("Action"), `<routeTableSet>
				<item><routeTableId>rtb-1</routeTableId><routeSet>
					<item><destinationCidrBlock>10.2.0.0/16</destinationCidrBlock><networkInterfaceId>eni-1</networkInterfaceId></item>
					<item><destinationIpv6CidrBlock>2001:db8::/64</destinationIpv6CidrBlock><networkInterfaceId>eni-6</networkInterfaceId></item>
				</routeSet></item>
				<item><routeTableId>rtb-2</routeTableId><routeSet/></item></routeTableSet>`)
		})
		c, _ := e.client()
		wanted := func(table, destination string) Route {
			return Route{Table: table, Destination: netip.MustParsePrefix(destination)}
		}
		found, err := c.Routes(context.Background(), []Route{
			wanted("rtb-2", "10.2.0.0/16"), wanted("rtb-1", "2001:db8::/64"), wanted("rtb-1", "10.2.0.0/16"), wanted("rtb-1", "10.2.0.0/24"),
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(found[0]).To(BeZero())
		Expect(found[1].target.NetworkInterfaceId).To(HaveValue(Equal("eni-6")))
		Expect(found[2].target.NetworkInterfaceId).To(HaveValue(Equal("eni-1")))
		Expect(found[3]).To(BeZero())
		Expect(e.requests[0]).To(HaveKeyWithValue("RouteTableId.2", []string{"rtb-1"}), "each table is asked for once")
		Expect(e.requests[0]).NotTo(HaveKey("RouteTableId.3"))
	})
})

var _ = Describe("Security groups", func() {
	groups := func() *endpointOfAWS {
		return newEndpoint(func(w http.ResponseWriter, sent url.Values, _ int) {
			reply(w, sent.Get("Action"), `<securityGroupInfo>
				<item><groupId>sg-a</groupId><groupName>a</groupName></item><item><groupId>sg-b</groupId><groupName>b</groupName></item></securityGroupInfo>`)
		})
	}

	It("are found by name, all in one call, in the order that was asked for", func() {
		e := groups()
		c, _ := e.client()
		Expect(c.SecurityGroupIDs(context.Background(), "vpc-1", []string{"b", "a"})).To(Equal([]string{"sg-b", "sg-a"}))
		Expect(e.actions()).To(Equal([]string{"DescribeSecurityGroups"}))
	})

	It("that are not there are named", func() {
		c, _ := groups().client()
		_, err := c.SecurityGroupIDs(context.Background(), "vpc-1", []string{"x", "a", "y"})
		Expect(err).To(MatchError("DescribeSecurityGroups (security group x, y): InvalidGroup.NotFound: VPC vpc-1 has no security group of that name"))
	})
})

var _ = Describe("An instance type", func() {
	ctx := context.Background()
	asked := func(answer func(http.ResponseWriter)) *endpointOfAWS {
		return newEndpoint(func(w http.ResponseWriter, _ url.Values, _ int) { answer(w) })
	}
	unexpected := func(w http.ResponseWriter) { refuse(w, 500, "InsufficientInstanceCapacity") }

	It("that is compiled in takes no call", func() {
		e := asked(unexpected)
		c, _ := e.client()
		known, err := c.InstanceType(ctx, "m5.large", true)
		Expect(err).NotTo(HaveOccurred())
		Expect(known.EBSNVMe).To(Equal(instancetypes.NVMeRequired))
		Expect(e.actions()).To(BeEmpty())
	})

	It("that is not compiled in is asked of AWS", func() {
		e := asked(func(w http.ResponseWriter) {
			reply(w, "DescribeInstanceTypes", `<instanceTypeSet><item><instanceType>z9.large</instanceType>
				<ebsInfo><nvmeSupport>supported</nvmeSupport></ebsInfo>
				<instanceStorageInfo><nvmeSupport>required</nvmeSupport><disks><item><count>2</count><sizeInGB>900</sizeInGB></item></disks></instanceStorageInfo>
				</item></instanceTypeSet>`)
		})
		c, _ := e.client()
		Expect(c.InstanceType(ctx, "z9.large", true)).To(Equal(instancetypes.InstanceType{
			Name: "z9.large", EBSNVMe: instancetypes.NVMeSupported, InstanceStoreNVMe: instancetypes.NVMeRequired, InstanceStoreDisks: 2, InstanceStoreDiskGB: 900,
		}))
		Expect(e.actions()).To(Equal([]string{"DescribeInstanceTypes"}))
	})

	It("is taken for one of the newest generation when AWS must not be asked", func() {
		e := asked(unexpected)
		c, _ := e.client()
		Expect(c.InstanceType(ctx, "z9.large", false)).To(Equal(instancetypes.AssumeNewest("z9.large")))
		Expect(e.actions()).To(BeEmpty())
	})

	It("is taken for one of the newest generation without the permission to ask", func() {
		c, _ := asked(func(w http.ResponseWriter) { refuse(w, 403, "UnauthorizedOperation") }).client()
		Expect(c.InstanceType(ctx, "z9.large", true)).To(Equal(instancetypes.AssumeNewest("z9.large")))
	})

	It("that AWS does not know is an error", func() {
		c, _ := asked(func(w http.ResponseWriter) { reply(w, "DescribeInstanceTypes", `<instanceTypeSet/>`) }).client()
		_, err := c.InstanceType(ctx, "z9.large", true)
		Expect(err).To(MatchError(ContainSubstring("InvalidInstanceType")))
	})
})
