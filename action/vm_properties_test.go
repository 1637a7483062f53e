package action

import (
	"net/netip"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/aws"
	"bosh-aws-cpi/cpi"
)

var _ = Describe("The cloud properties of a VM", func() {
	// with reads properties that are valid but for these.
	with := func(properties string, defaults Defaults) (VMProperties, error) {
		GinkgoHelper()
		object := jsonObject(`{"instance_type":"m5.large","availability_zone":"us-east-1a"}`)
		for _, member := range jsonObject(properties).Members() {
			object = object.With(member.Key, member.Value)
		}
		return readVMProperties("create_vm", object, defaults)
	}

	DescribeTable("take from the configuration what they do not say",
		func(properties, keyName, profile string) {
			read, err := with(properties, Defaults{KeyName: "global-key", IAMInstanceProfile: "global-profile"})
			Expect(err).NotTo(HaveOccurred())
			Expect(read.KeyName).To(Equal(keyName))
			Expect(read.IAMInstanceProfile).To(Equal(profile))
		},
		Entry("all", `{}`, "global-key", "global-profile"),
		Entry("the profile", `{"key_name":"own-key"}`, "own-key", "global-profile"),
		Entry("the key name", `{"iam_instance_profile":"own-profile"}`, "global-key", "own-profile"),
		Entry("what is null", `{"key_name":null,"iam_instance_profile":null}`, "global-key", "global-profile"),
	)

	Describe("and the configuration's metadata_options", func() {
		global := func() Defaults {
			return Defaults{MetadataOptions: &aws.MetadataOptions{HTTPTokens: pointer("required"), HTTPPutHopLimit: pointer(int32(1))}}
		}

		DescribeTable("are merged key by key",
			func(properties, expected string) {
				read, err := with(properties, global())
				Expect(err).NotTo(HaveOccurred())
				Expect(jsonOf(read.MetadataOptions)).To(MatchJSON(expected))
			},
			Entry("the configuration's alone", `{}`, `{"http_tokens":"required","http_put_response_hop_limit":1}`),
			Entry("the VM's win", `{"metadata_options":{"http_tokens":"optional"}}`, `{"http_tokens":"optional","http_put_response_hop_limit":1}`),
			Entry("others are added", `{"metadata_options":{"instance_metadata_tags":"enabled"}}`, `{"http_tokens":"required","http_put_response_hop_limit":1,"instance_metadata_tags":"enabled"}`),
			Entry("null changes nothing", `{"metadata_options":{"http_tokens":null}}`, `{"http_tokens":"required","http_put_response_hop_limit":1}`),
		)

		It("are the VM's when the configuration has none", func() {
			read, err := with(`{"metadata_options":{"http_tokens":"required"}}`, Defaults{})
			Expect(err).NotTo(HaveOccurred())
			Expect(jsonOf(read.MetadataOptions)).To(MatchJSON(`{"http_tokens":"required"}`))
		})

		It("are none when neither has any", func() {
			read, err := with(`{}`, Defaults{})
			Expect(err).NotTo(HaveOccurred())
			Expect(read.MetadataOptions).To(BeNil())
		})
	})

	DescribeTable("have a spot price",
		func(price, expected string) {
			read, err := with(`{"spot_bid_price":`+price+`}`, Defaults{})
			Expect(err).NotTo(HaveOccurred())
			Expect(read.SpotBidPrice).To(BeEquivalentTo(expected))
		},
		Entry("as a number", `0.24`, "0.24"), Entry("as a whole number", `2`, "2"), Entry("as a string", `"0.24"`, "0.24"), Entry("not", `null`, ""),
	)

	It("have routes", func() {
		read, err := with(`{"advertised_routes":[{"table_id":"rtb-1","destination":"10.2.0.0/16"},{"table_id":"rtb-2","destination":"2001:db8::/64"}]}`, Defaults{})
		Expect(err).NotTo(HaveOccurred())
		Expect(read.routes).To(Equal([]aws.Route{
			{Table: "rtb-1", Destination: netip.MustParsePrefix("10.2.0.0/16")}, {Table: "rtb-2", Destination: netip.MustParsePrefix("2001:db8::/64")},
		}))
	})

	DescribeTable("are valid",
		func(properties string, defaults Defaults) {
			_, err := with(properties, defaults)
			Expect(err).NotTo(HaveOccurred())
		},
		Entry("with unknown keys", `{"unknown":{"a":1}}`, Defaults{}),
		Entry("with instance storage, and encryption inherited", `{"ephemeral_disk":{"use_instance_storage":true}}`, Defaults{Encrypted: true, KMSKeyARN: "arn:key"}),
		Entry("with each tenancy", `{"tenancy":"dedicated"}`, Defaults{}),
		Entry("with source_dest_check", `{"source_dest_check":false}`, Defaults{}),
		Entry("with disks", `{"root_disk":{"size":20480,"type":"gp2"},"ephemeral_disk":{"size":10240,"type":"io1","iops":100,"encrypted":true,"kms_key_arn":"arn:key"}}`, Defaults{}),
		Entry("with nulls", `{"security_groups":null,"tags":null,"ephemeral_disk":null,"root_disk":null,"metadata_options":null,"elbs":null}`, Defaults{}),
	)

	DescribeTable("are refused before any call, and the error names method and key",
		func(properties, message string) {
			_, err := with(properties, Defaults{})
			Expect(err).To(beTyped(cpi.CloudError, HavePrefix("create_vm: cloud_properties."+message)))
		},
		Entry(nil, `{"instance_type":""}`, "instance_type is missing"),
		Entry(nil, `{"instance_type":null}`, "instance_type is missing"),
		Entry(nil, `{"availability_zone":""}`, "availability_zone is missing"),
		Entry(nil, `{"instance_type":5}`, "instance_type: expected a string, got a number"),
		Entry(nil, `{"security_groups":"sg-1"}`, "security_groups: expected a list, got a string"),
		Entry(nil, `{"security_groups":["sg-1",""]}`, "security_groups: one of its names is empty"),
		Entry(nil, `{"elbs":[""]}`, "elbs: one of its names is empty"),
		Entry(nil, `{"lb_target_groups":[""]}`, "lb_target_groups: one of its names is empty"),
		Entry(nil, `{"tenancy":"shared"}`, `tenancy: expected default, dedicated or host, got "shared"`),
		Entry(nil, `{"spot_bid_price":0}`, "spot_bid_price: expected a price in USD above 0"),
		Entry(nil, `{"spot_bid_price":-0.1}`, "spot_bid_price: expected a price in USD above 0"),
		Entry(nil, `{"spot_bid_price":"cheap"}`, "spot_bid_price: expected a price in USD above 0"),
		Entry(nil, `{"spot_bid_price":{}}`, "spot_bid_price: expected a price in USD above 0"),
		Entry(nil, `{"auto_assign_public_ip":"yes"}`, "auto_assign_public_ip: expected true or false, got a string"),
		Entry(nil, `{"advertised_routes":[{"destination":"10.0.0.0/8"}]}`, "advertised_routes[0].table_id is missing"),
		Entry(nil, `{"advertised_routes":[{"table_id":"rtb-1","destination":"10.0.0.0/8"},{"table_id":"rtb-1","destination":"10.1.0.0/8"}]}`, `advertised_routes[1].destination: expected a range such as 10.2.0.0/16, got "10.1.0.0/8"`),
		Entry(nil, `{"advertised_routes":[{"table_id":"rtb-1","destination":"10.0.0.1"}]}`, "advertised_routes[0].destination: expected a range"),
		Entry(nil, `{"ephemeral_disk":{"size":0}}`, "ephemeral_disk.size: expected a size in MiB above 0, got 0"),
		Entry(nil, `{"ephemeral_disk":{"size":"10"}}`, "ephemeral_disk.size: expected a whole number, got a string"),
		Entry(nil, `{"ephemeral_disk":{"type":"io1"}}`, "ephemeral_disk.iops is missing"),
		Entry(nil, `{"ephemeral_disk":{"encrypted":false,"kms_key_arn":"arn:key"}}`, "ephemeral_disk.kms_key_arn is set"),
		Entry(nil, `{"root_disk":{"size":-1}}`, "root_disk.size: expected a size in MiB above 0, got -1"),
		Entry(nil, `{"root_disk":{"type":"gp9"}}`, "root_disk.type: expected gp2"),
		Entry(nil, `{"metadata_options":{"http_tokens":"sometimes"}}`, `metadata_options.http_tokens: expected "required" or "optional", got "sometimes"`),
		Entry(nil, `{"metadata_options":{"http_endpoint":"on"}}`, `metadata_options.http_endpoint: expected "enabled" or "disabled", got "on"`),
		Entry(nil, `{"metadata_options":{"http_protocol_ipv6":"on"}}`, "metadata_options.http_protocol_ipv6: expected"),
		Entry(nil, `{"metadata_options":{"instance_metadata_tags":"on"}}`, "metadata_options.instance_metadata_tags: expected"),
		Entry(nil, `{"metadata_options":{"http_put_response_hop_limit":0}}`, "metadata_options.http_put_response_hop_limit: expected 1 to 64, got 0"),
		Entry(nil, `{"metadata_options":{"http_put_response_hop_limit":65}}`, "metadata_options.http_put_response_hop_limit: expected 1 to 64, got 65"),
		Entry(nil, `{"tags":["a"]}`, "tags: expected an object, got a list"),
	)

	DescribeTable("with instance storage are refused",
		func(properties, fault string) {
			_, err := with(properties, Defaults{})
			Expect(err).To(beTyped(cpi.CloudError, And(HavePrefix("create_vm: cloud_properties.ephemeral_disk.use_instance_storage "), ContainSubstring(fault))))
		},
		Entry("beside raw_instance_storage", `{"ephemeral_disk":{"use_instance_storage":true},"raw_instance_storage":true}`, "raw_instance_storage contradict"),
		Entry("beside use_root_disk", `{"ephemeral_disk":{"use_instance_storage":true,"use_root_disk":true}}`, "use_root_disk contradict"),
		Entry("of a size", `{"ephemeral_disk":{"use_instance_storage":true,"size":1024}}`, "cannot be combined"),
		Entry("of a type", `{"ephemeral_disk":{"use_instance_storage":true,"type":"gp2"}}`, "cannot be combined"),
		Entry("with iops", `{"ephemeral_disk":{"use_instance_storage":true,"iops":100}}`, "cannot be combined"),
		Entry("with throughput", `{"ephemeral_disk":{"use_instance_storage":true,"throughput":100}}`, "cannot be combined"),
		Entry("encrypted", `{"ephemeral_disk":{"use_instance_storage":true,"encrypted":true}}`, "cannot be combined"),
	)
})
