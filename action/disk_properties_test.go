package action

import (
	"math"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/aws"
	"bosh-aws-cpi/cpi"
)

var _ = Describe("A size in MiB", func() {
	DescribeTable("is rounded up to GiB",
		func(mib int64, gib int32) { Expect(gibibytes("size", mib)).To(Equal(gib)) },
		Entry(nil, int64(1), int32(1)),
		Entry(nil, int64(1024), int32(1)),
		Entry(nil, int64(1025), int32(2)),
		Entry(nil, int64(10240), int32(10)),
		Entry("the largest volume", int64(64<<20), int32(64<<10)),
	)

	DescribeTable("is refused",
		func(mib int64, fault string) {
			_, err := gibibytes("ephemeral_disk.size", mib)
			Expect(err).To(MatchError(And(HavePrefix("ephemeral_disk.size: "), ContainSubstring(fault))))
		},
		Entry("zero", int64(0), "expected a size in MiB above 0, got 0"),
		Entry("negative", int64(-5), "expected a size in MiB above 0, got -5"),
		Entry("above the largest volume", int64(64<<20+1), "64 TiB"),
		Entry("beyond reason", int64(math.MaxInt64), "64 TiB"),
	)
})

var _ = Describe("The cloud properties of a disk", func() {
	none, encrypting := Defaults{}, Defaults{Encrypted: true, KMSKeyARN: "arn:global"}

	DescribeTable("are valid",
		func(properties string) {
			_, err := readDiskProperties("create_disk", jsonObject(properties), none)
			Expect(err).NotTo(HaveOccurred())
		},
		Entry("none", `{}`),
		Entry("nulls", `{"type":null,"iops":null,"throughput":null,"encrypted":null,"kms_key_arn":null,"tags":null}`),
		Entry("all", `{"type":"gp3","iops":4000,"throughput":250,"encrypted":true,"kms_key_arn":"arn:key","tags":{"a":"b"},"unknown":1}`),
		Entry("gp2", `{"type":"gp2"}`), Entry("io1", `{"type":"io1","iops":100}`), Entry("io2", `{"type":"io2","iops":100}`),
		Entry("st1", `{"type":"st1"}`), Entry("sc1", `{"type":"sc1"}`), Entry("standard", `{"type":"standard"}`),
	)

	It("may name a key for the encryption that the configuration asks for", func() {
		_, err := readDiskProperties("create_disk", jsonObject(`{"kms_key_arn":"arn:key"}`), encrypting)
		Expect(err).NotTo(HaveOccurred())
	})

	DescribeTable("are refused, and the error names method and key",
		func(properties, message string) {
			_, err := readDiskProperties("create_disk", jsonObject(properties), none)
			Expect(err).To(beTyped(cpi.CloudError, "create_disk: cloud_properties."+message))
		},
		Entry("unknown type", `{"type":"gp9"}`, `type: expected gp2, gp3, io1, io2, st1, sc1 or standard, got "gp9"`),
		Entry("negative iops", `{"iops":-1}`, "iops: expected a whole number above 0, got -1"),
		Entry("negative throughput", `{"throughput":-1}`, "throughput: expected a whole number above 0, got -1"),
		Entry("io1 without iops", `{"type":"io1"}`, "iops is missing: a volume of type io1 needs it"),
		Entry("io2 without iops", `{"type":"io2"}`, "iops is missing: a volume of type io2 needs it"),
		Entry("a key, and encryption forbidden", `{"encrypted":false,"kms_key_arn":"arn:key"}`, "kms_key_arn is set, and encrypted is not true, here or in the configuration: a key is of use with an encrypted volume only"),
		Entry("a key, and encryption asked for nowhere", `{"kms_key_arn":"arn:key"}`, "kms_key_arn is set, and encrypted is not true, here or in the configuration: a key is of use with an encrypted volume only"),
		Entry("tags a list", `{"tags":["a"]}`, "tags: expected an object, got a list"),
	)

	DescribeTable("make a volume",
		func(properties VolumeProperties, defaults Defaults, expected aws.VolumeSpec) {
			expected.SizeGiB = 7
			Expect(properties.volume(7, defaults)).To(Equal(expected))
		},
		Entry("gp3 unless they say otherwise", VolumeProperties{}, none, aws.VolumeSpec{Type: "gp3"}),
		Entry("of a type", VolumeProperties{Type: "gp2"}, none, aws.VolumeSpec{Type: "gp2"}),
		Entry("gp3 with its speed", VolumeProperties{IOPS: 4000, Throughput: 250}, none, aws.VolumeSpec{Type: "gp3", IOPS: 4000, Throughput: 250}),
		Entry("io1 without throughput, which it does not take", VolumeProperties{Type: "io1", IOPS: 100, Throughput: 250}, none, aws.VolumeSpec{Type: "io1", IOPS: 100}),
		Entry("io2 with its iops", VolumeProperties{Type: "io2", IOPS: 100}, none, aws.VolumeSpec{Type: "io2", IOPS: 100}),
		Entry("gp2 without speed, which it does not take", VolumeProperties{Type: "gp2", IOPS: 4000, Throughput: 250}, none, aws.VolumeSpec{Type: "gp2"}),
		Entry("st1 without speed, which it does not take", VolumeProperties{Type: "st1", IOPS: 4000, Throughput: 250}, none, aws.VolumeSpec{Type: "st1"}),
		Entry("encrypted by the configuration", VolumeProperties{}, encrypting, aws.VolumeSpec{Type: "gp3", Encrypted: true, KMSKey: "arn:global"}),
		Entry("encrypted by themselves", VolumeProperties{Encrypted: pointer(true)}, none, aws.VolumeSpec{Type: "gp3", Encrypted: true}),
		Entry("not encrypted, before the configuration's encryption", VolumeProperties{Encrypted: pointer(false)}, encrypting, aws.VolumeSpec{Type: "gp3"}),
		Entry("encrypted with a key of its own", VolumeProperties{KMSKeyARN: "arn:own"}, encrypting, aws.VolumeSpec{Type: "gp3", Encrypted: true, KMSKey: "arn:own"}),
		Entry("encrypted by themselves with the configuration's key", VolumeProperties{Encrypted: pointer(true)}, Defaults{KMSKeyARN: "arn:global"}, aws.VolumeSpec{Type: "gp3", Encrypted: true, KMSKey: "arn:global"}),
		Entry("without a key when it is not encrypted", VolumeProperties{KMSKeyARN: "arn:own"}, Defaults{KMSKeyARN: "arn:global"}, aws.VolumeSpec{Type: "gp3"}),
	)
})

var _ = Describe("A change of a disk", func() {
	volume := aws.Volume{ID: "vol-1", SizeGiB: 10, Type: "gp3", IOPS: 3000, Throughput: 125}

	DescribeTable("of size",
		func(gib, asked int32) { Expect(growth("resize_disk", volume, gib)).To(Equal(asked)) },
		Entry("is asked for", int32(11), int32(11)),
		Entry("is none when it has the size already", int32(10), int32(0)),
	)

	It("cannot make it smaller", func() {
		_, err := growth("resize_disk", volume, 9)
		Expect(err).To(beTyped(cpi.NotSupported, "resize_disk: volume vol-1 has 10 GiB, and EBS cannot shrink it to 9 GiB"))
	})

	DescribeTable("of type and speed asks for what differs",
		func(now aws.Volume, wanted aws.VolumeSpec, change aws.VolumeChange) {
			Expect(speedChange(now, wanted)).To(Equal(change))
		},
		Entry("nothing", volume, aws.VolumeSpec{Type: "gp3"}, aws.VolumeChange{}),
		Entry("nothing, named", volume, aws.VolumeSpec{Type: "gp3", IOPS: 3000, Throughput: 125}, aws.VolumeChange{}),
		Entry("faster", volume, aws.VolumeSpec{Type: "gp3", IOPS: 4000, Throughput: 250}, aws.VolumeChange{IOPS: 4000, Throughput: 250}),
		Entry("iops alone", volume, aws.VolumeSpec{Type: "gp3", IOPS: 4000}, aws.VolumeChange{IOPS: 4000}),
		Entry("back to what gp3 has unasked", aws.Volume{Type: "gp3", IOPS: 4000, Throughput: 250}, aws.VolumeSpec{Type: "gp3"}, aws.VolumeChange{IOPS: 3000, Throughput: 125}),
		Entry("from gp2 to gp3", aws.Volume{Type: "gp2", IOPS: 100}, aws.VolumeSpec{Type: "gp3"}, aws.VolumeChange{Type: "gp3", IOPS: 3000, Throughput: 125}),
		Entry("from gp3 to gp2", volume, aws.VolumeSpec{Type: "gp2"}, aws.VolumeChange{Type: "gp2"}),
		Entry("from gp3 to io1", volume, aws.VolumeSpec{Type: "io1", IOPS: 500}, aws.VolumeChange{Type: "io1", IOPS: 500}),
	)

	const key = "arn:aws:kms:us-east-1:1:key/1234"
	encrypted := aws.Volume{ID: "vol-1", Encrypted: true, KMSKey: key}
	plain := aws.Volume{ID: "vol-1"}

	DescribeTable("keeps the encryption",
		func(now aws.Volume, wanted VolumeProperties) {
			Expect(sameEncryption("update_disk", now, wanted)).To(Succeed())
		},
		Entry("of which nothing is said", encrypted, VolumeProperties{}),
		Entry("or its absence, of which nothing is said", plain, VolumeProperties{}),
		Entry("that is named", encrypted, VolumeProperties{Encrypted: pointer(true)}),
		Entry("whose key is named by ARN", encrypted, VolumeProperties{Encrypted: pointer(true), KMSKeyARN: key}),
		Entry("whose key is named by id", encrypted, VolumeProperties{KMSKeyARN: "1234"}),
		Entry("whose absence is named", plain, VolumeProperties{Encrypted: pointer(false)}),
	)

	DescribeTable("cannot change the encryption",
		func(now aws.Volume, wanted VolumeProperties, fault string) {
			Expect(sameEncryption("update_disk", now, wanted)).To(beTyped(cpi.NotSupported, ContainSubstring(fault)))
		},
		Entry("to none", encrypted, VolumeProperties{Encrypted: pointer(false)}, "cloud_properties.encrypted is false"),
		Entry("from none", plain, VolumeProperties{Encrypted: pointer(true)}, "cloud_properties.encrypted is true"),
		Entry("to another key", encrypted, VolumeProperties{KMSKeyARN: "arn:aws:kms:us-east-1:1:key/5678"}, "vol-1 is encrypted with key "+key),
		Entry("to a key whose id ends alike", encrypted, VolumeProperties{KMSKeyARN: "234"}, "EBS cannot change it to 234"),
		Entry("to what an alias stands for, which cannot be seen", encrypted, VolumeProperties{KMSKeyARN: "alias/bosh"}, "alias/bosh"),
	)
})
