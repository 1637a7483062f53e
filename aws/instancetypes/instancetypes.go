// Package instancetypes knows what every EC2 instance type has: processors,
// memory, disks, and how its disks appear to the operating system.
//
// The answers are compiled in, so that no call of the CPI needs
// DescribeInstanceTypes, nor the permission for it, for a type that was known
// when the CPI was built. The table is generated from that same API call:
//
//	go generate ./aws/instancetypes
//
// asks AWS with the default credential chain. To generate from another endpoint,
// such as a local emulator, name it in the SDK's own environment variable:
//
//	AWS_ENDPOINT_URL_EC2=http://127.0.0.1:5000 \
//	AWS_ACCESS_KEY_ID=x AWS_SECRET_ACCESS_KEY=x go generate ./aws/instancetypes
//
// No region offers every type, so several are asked and their answers merged;
// these are ones that every account has enabled.
package instancetypes

import (
	"slices"
	"strings"
)

//go:generate go run ./generate -regions us-east-1,us-east-2,us-west-2,eu-west-1 -out zz_generated.instance_types.go

// InstanceType is what DescribeInstanceTypes says about one instance type, as
// far as the CPI needs it.
type InstanceType struct {
	// Name is the type's name, such as "m5.large".
	Name string
	// MemoryMiB is the memory in MiB.
	MemoryMiB int64
	// VCPUs is the number of virtual processors at the default number of threads.
	VCPUs int32
	// InstanceStoreDisks is the number of local disks, 0 for a type that has
	// EBS only. Within one type all disks are alike.
	InstanceStoreDisks int32
	// InstanceStoreDiskGB is the size of each local disk in GB (10^9 bytes).
	InstanceStoreDiskGB int32
	// Architectures are the processor architectures an AMI for this type may have.
	Architectures Architectures
	// BootModes are the boot modes an AMI for this type may have.
	BootModes BootModes
	// EBSNVMe tells whether EBS volumes appear as NVMe devices. They always do
	// where it is NVMeRequired (Nitro), and only there does the operating system
	// find a volume under its /dev/disk/by-id name.
	EBSNVMe NVMeSupport
	// InstanceStoreNVMe tells whether local disks are NVMe devices. Where they
	// are, EC2 attaches all of them without being asked.
	InstanceStoreNVMe NVMeSupport
	// BareMetal is true for a type without a hypervisor.
	BareMetal bool
	// CurrentGeneration is false for types AWS calls previous generation.
	CurrentGeneration bool
}

// NVMeSupport is how far a type's disks are NVMe devices, in the API's terms.
type NVMeSupport uint8

// The values of NVMeSupport.
const (
	NVMeUnsupported NVMeSupport = iota
	NVMeSupported
	NVMeRequired
)

// ParseNVMeSupport reads the API's word for NVMe support. A type that has no
// such disks has no word either, which is NVMeUnsupported. A word that is not
// known comes from a type newer than this program, and all of those are
// NVMeRequired.
func ParseNVMeSupport(word string) NVMeSupport {
	switch word {
	case "", "unsupported":
		return NVMeUnsupported
	case "supported":
		return NVMeSupported
	default:
		return NVMeRequired
	}
}

// Architectures is a set of processor architectures.
type Architectures uint8

// The members of Architectures, in the API's words: i386, x86_64, arm64,
// x86_64_mac, arm64_mac.
const (
	ArchI386 Architectures = 1 << iota
	ArchX8664
	ArchARM64
	ArchX8664Mac
	ArchARM64Mac
)

// BootModes is a set of boot modes.
type BootModes uint8

// The members of BootModes, in the API's words: legacy-bios, uefi.
const (
	BootLegacyBIOS BootModes = 1 << iota
	BootUEFI
)

// Lookup returns what is compiled in about a type, and whether there is
// anything. Names are matched exactly, as EC2 does.
func Lookup(name string) (InstanceType, bool) {
	i, found := slices.BinarySearchFunc(table, name, func(t InstanceType, name string) int {
		return strings.Compare(t.Name, name)
	})
	if !found {
		return InstanceType{}, false
	}
	return table[i], true
}

// AssumeNewest is what to take for true of a type that is not compiled in when
// the API cannot be asked either: that it is like every type of the newest
// generations, whose EBS volumes and local disks are NVMe devices. How many
// processors, how much memory and how many disks it has remains unknown (zero).
func AssumeNewest(name string) InstanceType {
	return InstanceType{
		Name:              name,
		EBSNVMe:           NVMeRequired,
		InstanceStoreNVMe: NVMeRequired,
		CurrentGeneration: true,
	}
}
