package instancetypes_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/aws/instancetypes"
)

var _ = Describe("Lookup", func() {
	const bothModes = instancetypes.BootLegacyBIOS | instancetypes.BootUEFI

	DescribeTable("of a type that is compiled in",
		func(want instancetypes.InstanceType) {
			got, ok := instancetypes.Lookup(want.Name)
			Expect(ok).To(BeTrue())
			Expect(got).To(Equal(want))
		},
		Entry("Nitro without local disks", instancetypes.InstanceType{
			Name: "m5.large", VCPUs: 2, MemoryMiB: 8192,
			Architectures: instancetypes.ArchX8664, BootModes: bothModes,
			EBSNVMe: instancetypes.NVMeRequired,
		}),
		Entry("Nitro, burstable", instancetypes.InstanceType{
			Name: "t3.micro", VCPUs: 2, MemoryMiB: 1024,
			Architectures: instancetypes.ArchX8664, BootModes: bothModes,
			EBSNVMe: instancetypes.NVMeRequired, CurrentGeneration: true,
		}),
		Entry("Nitro with one local disk", instancetypes.InstanceType{
			Name: "m5d.large", VCPUs: 2, MemoryMiB: 8192,
			Architectures: instancetypes.ArchX8664, BootModes: bothModes,
			EBSNVMe: instancetypes.NVMeRequired, InstanceStoreNVMe: instancetypes.NVMeRequired,
			InstanceStoreDisks: 1, InstanceStoreDiskGB: 75, CurrentGeneration: true,
		}),
		Entry("Nitro with several local disks", instancetypes.InstanceType{
			Name: "i3en.2xlarge", VCPUs: 8, MemoryMiB: 65536,
			Architectures: instancetypes.ArchX8664, BootModes: bothModes,
			EBSNVMe: instancetypes.NVMeRequired, InstanceStoreNVMe: instancetypes.NVMeRequired,
			InstanceStoreDisks: 2, InstanceStoreDiskGB: 2500, CurrentGeneration: true,
		}),
		Entry("Xen whose local disk is NVMe and whose EBS volumes need not be", instancetypes.InstanceType{
			Name: "i3.large", VCPUs: 2, MemoryMiB: 15616,
			Architectures: instancetypes.ArchX8664, BootModes: instancetypes.BootLegacyBIOS,
			EBSNVMe: instancetypes.NVMeSupported, InstanceStoreNVMe: instancetypes.NVMeRequired,
			InstanceStoreDisks: 1, InstanceStoreDiskGB: 475, CurrentGeneration: true,
		}),
		Entry("Xen without local disks", instancetypes.InstanceType{
			Name: "m4.large", VCPUs: 2, MemoryMiB: 8192,
			Architectures: instancetypes.ArchX8664, BootModes: instancetypes.BootLegacyBIOS,
		}),
		Entry("Xen, burstable, 32-bit too", instancetypes.InstanceType{
			Name: "t2.micro", VCPUs: 1, MemoryMiB: 1024,
			Architectures: instancetypes.ArchI386 | instancetypes.ArchX8664, BootModes: instancetypes.BootLegacyBIOS,
			CurrentGeneration: true,
		}),
		Entry("Xen with a local disk, previous generation", instancetypes.InstanceType{
			Name: "m3.medium", VCPUs: 1, MemoryMiB: 3840,
			Architectures: instancetypes.ArchX8664, BootModes: instancetypes.BootLegacyBIOS,
			InstanceStoreDisks: 1, InstanceStoreDiskGB: 4,
		}),
		Entry("arm64", instancetypes.InstanceType{
			Name: "t4g.nano", VCPUs: 2, MemoryMiB: 512,
			Architectures: instancetypes.ArchARM64, BootModes: instancetypes.BootUEFI,
			EBSNVMe: instancetypes.NVMeRequired, CurrentGeneration: true,
		}),
		Entry("bare metal", instancetypes.InstanceType{
			Name: "m5.metal", VCPUs: 96, MemoryMiB: 393216,
			Architectures: instancetypes.ArchX8664, BootModes: instancetypes.BootLegacyBIOS,
			EBSNVMe: instancetypes.NVMeRequired, BareMetal: true,
		}),
	)

	DescribeTable("of a name that is no type",
		func(name string) {
			got, ok := instancetypes.Lookup(name)
			Expect(ok).To(BeFalse())
			Expect(got).To(BeZero())
		},
		Entry("empty", ""),
		Entry("before the first", "a"),
		Entry("after the last", "zzz.large"),
		Entry("a family", "m5"),
		Entry("a part of a name", "m5.larg"),
		Entry("longer than a name", "m5.large1"),
		Entry("another case", "M5.large"),
	)

	It("finds every type of the table", func() {
		for _, want := range instancetypes.Table {
			got, ok := instancetypes.Lookup(want.Name)
			Expect(ok).To(BeTrue(), want.Name)
			Expect(got).To(Equal(want))
		}
	})

	It("allocates nothing", func() {
		Expect(testing.AllocsPerRun(10, func() { instancetypes.Lookup("m5.large") })).To(BeZero())
	})
})

var _ = Describe("The table", func() {
	It("is strictly sorted by name, as the search needs it", func() {
		for i, t := range instancetypes.Table[1:] {
			Expect(instancetypes.Table[i].Name < t.Name).To(BeTrue(), "%s before %s", instancetypes.Table[i].Name, t.Name)
		}
	})

	It("has more than a thousand types, each complete", func() {
		Expect(len(instancetypes.Table)).To(BeNumerically(">", 1000))
		for _, t := range instancetypes.Table {
			Expect(t.VCPUs).To(BeNumerically(">", 0), t.Name)
			Expect(t.MemoryMiB).To(BeNumerically(">", 0), t.Name)
			Expect(t.Architectures).NotTo(BeZero(), t.Name)
			Expect(t.InstanceStoreDisks > 0).To(Equal(t.InstanceStoreDiskGB > 0), t.Name)
		}
	})
})

var _ = Describe("A type that nobody can tell about", func() {
	It("is taken for one of the newest generation", func() {
		Expect(instancetypes.AssumeNewest("m99.large")).To(Equal(instancetypes.InstanceType{
			Name: "m99.large", EBSNVMe: instancetypes.NVMeRequired,
			InstanceStoreNVMe: instancetypes.NVMeRequired, CurrentGeneration: true,
		}))
	})

	DescribeTable("the API's words for NVMe support",
		func(word string, want instancetypes.NVMeSupport) {
			Expect(instancetypes.ParseNVMeSupport(word)).To(Equal(want))
		},
		Entry("no disks of the kind", "", instancetypes.NVMeUnsupported),
		Entry("unsupported", "unsupported", instancetypes.NVMeUnsupported),
		Entry("supported", "supported", instancetypes.NVMeSupported),
		Entry("required", "required", instancetypes.NVMeRequired),
		Entry("a word of the future", "mandatory", instancetypes.NVMeRequired),
	)
})
