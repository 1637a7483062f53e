package instancetypes_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/aws/instancetypes"
)

var _ = Describe("Smallest", func() {
	const gib = 1024

	DescribeTable("picks the smallest type that fits",
		func(cpu int, ramMiB int64, want string) {
			got, _, ok := instancetypes.Smallest(cpu, ramMiB)
			Expect(ok).To(BeTrue())
			Expect(got.Name).To(Equal(want))
		},
		Entry("nothing asked", 0, int64(0), "t3.nano"),
		Entry("one processor, little memory", 1, int64(512), "t3.nano"),
		Entry("exactly as much memory as there is", 1, int64(1*gib), "t3.micro"),
		Entry("1 MiB more", 1, int64(1*gib+1), "t3.small"),
		Entry("two processors, little memory", 2, int64(2*gib), "t3.small"),
		Entry("no burstable type where a steady one is as small: c5", 2, int64(4*gib), "c5.large"),
		Entry("no burstable type where a steady one is as small: m5", 2, int64(8*gib), "m5.large"),
		Entry("no burstable type where a steady one is as small: more of both", 8, int64(32*gib), "m5.2xlarge"),
		Entry("memory for one processor", 1, int64(16*gib), "r5.large"),
		Entry("1 MiB more than the family has at that size", 2, int64(16*gib+1), "r5.xlarge"),
		Entry("one processor more", 3, int64(4*gib), "c5.xlarge"),
		Entry("fewer processors before less memory", 20, int64(64*gib), "m5.8xlarge"),
		Entry("a size that one family only has", 33, int64(72*gib), "c5.9xlarge"),
		Entry("as many processors as there are, never bare metal", 96, int64(1*gib), "c5.24xlarge"),
		Entry("as much of both as there is, never bare metal", 96, int64(768*gib), "r5.24xlarge"),
	)

	DescribeTable("names the largest when nothing fits",
		func(cpu int, ramMiB int64) {
			got, largest, ok := instancetypes.Smallest(cpu, ramMiB)
			Expect(ok).To(BeFalse())
			Expect(got).To(BeZero())
			Expect(largest.Name).To(Equal("r5.24xlarge"))
			Expect(largest.VCPUs).To(Equal(int32(96)))
			Expect(largest.MemoryMiB).To(Equal(int64(768 * gib)))
		},
		Entry("a processor too many", 97, int64(1*gib)),
		Entry("a MiB too much", 1, int64(768*gib+1)),
		Entry("a number beyond 32 bits", 1<<40, int64(1)),
	)

	It("names the largest when something fits, too", func() {
		_, largest, _ := instancetypes.Smallest(1, 1)
		Expect(largest.Name).To(Equal("r5.24xlarge"))
	})

	DescribeTable("chooses from",
		func(name string, want bool) {
			t, ok := instancetypes.Lookup(name)
			Expect(ok).To(BeTrue())
			Expect(instancetypes.IsSmallestCandidate(t)).To(Equal(want))
		},
		Entry("c5", "c5.large", true),
		Entry("m5", "m5.24xlarge", true),
		Entry("r5", "r5.xlarge", true),
		Entry("t3", "t3.nano", true),
		Entry("no bare metal", "m5.metal", false),
		Entry("no family whose name only begins alike: c5d", "c5d.large", false),
		Entry("no family whose name only begins alike: t3a", "t3a.nano", false),
		Entry("no arm64", "t4g.nano", false),
		Entry("no other family", "t2.nano", false),
	)

	It("answers nothing but virtual x86_64 types of the four families", func() {
		for cpu := range 97 {
			for ram := int64(256); ram <= 768*gib; ram *= 2 {
				got, _, ok := instancetypes.Smallest(cpu, ram)
				Expect(ok).To(BeTrue())
				Expect(got.Name).To(MatchRegexp(`^(c5|m5|r5|t3)\.[0-9]*(nano|micro|small|medium|x?large)$`))
			}
		}
	})
})
