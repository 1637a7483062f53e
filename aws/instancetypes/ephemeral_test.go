package instancetypes_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/aws/instancetypes"
)

var _ = Describe("DefaultEphemeralGiB", func() {
	DescribeTable("of a type with a default of its own",
		func(name string, want int64) {
			got, ok := instancetypes.DefaultEphemeralGiB(name)
			Expect(ok).To(BeTrue())
			Expect(got).To(Equal(want))
		},
		Entry(nil, "m1.small", int64(160)),
		Entry(nil, "m2.2xlarge", int64(850)),
		Entry("smaller than the general default", "m3.medium", int64(4)),
		Entry(nil, "c3.8xlarge", int64(320)),
		Entry("the first of several disks, not their sum", "r3.8xlarge", int64(320)),
		Entry("2000, where EC2 says 2048", "d2.8xlarge", int64(2000)),
		Entry("long retired", "cc2.8xlarge", int64(840)),
		Entry("long retired", "hi1.4xlarge", int64(1024)),
		Entry("long retired", "hs1.8xlarge", int64(2000)),
		Entry(nil, "g2.8xlarge", int64(120)),
		Entry(nil, "i2.xlarge", int64(800)),
		Entry(nil, "i3.large", int64(475)),
		Entry(nil, "i3.16xlarge", int64(1900)),
		Entry(nil, "i3en.large", int64(1250)),
		Entry(nil, "i3en.24xlarge", int64(7500)),
		Entry(nil, "i4i.large", int64(468)),
		Entry(nil, "i4i.32xlarge", int64(3750)),
		Entry(nil, "x1.32xlarge", int64(1920)),
		Entry(nil, "c6id.large", int64(118)),
		Entry("less than the next smaller size", "m6id.12xlarge", int64(1425)),
		Entry(nil, "m6idn.24xlarge", int64(1425)),
		Entry(nil, "r6id.2xlarge", int64(474)),
		Entry(nil, "r6idn.32xlarge", int64(1900)),
	)

	DescribeTable("of every other type",
		func(name string) {
			got, ok := instancetypes.DefaultEphemeralGiB(name)
			Expect(ok).To(BeFalse())
			Expect(got).To(BeZero())
		},
		Entry("without local disks", "m5.large"),
		Entry("with local disks, but not in the table", "m5d.large"),
		Entry("with local disks, but not in the table: i4g", "i4g.large"),
		Entry("bare metal of a family in the table", "m6id.metal"),
		Entry("bare metal of a family in the table", "i3.metal"),
		Entry("unknown", "m99.large"),
		Entry("a family", "i3"),
		Entry("empty", ""),
	)

	It("is what EC2 says of the first local disk, for every type it still has but d2", func() {
		same := 0
		for _, t := range instancetypes.Table {
			gib, ok := instancetypes.DefaultEphemeralGiB(t.Name)
			if !ok || t.InstanceStoreDiskGB == 2048 {
				continue
			}
			Expect(gib).To(Equal(int64(t.InstanceStoreDiskGB)), t.Name)
			same++
		}
		Expect(same).To(Equal(94)) // 105 in all, 4 of d2, 7 that EC2 no longer has
	})
})
