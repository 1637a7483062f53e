package instancetypes

import "strings"

// sizedDisk is the ephemeral disk of one member of a family: "large" of "i3".
type sizedDisk struct {
	size string
	gib  int64
}

// The five families c6id, m6id, m6idn, r6id and r6idn have the same disks.
var generation6Disks = []sizedDisk{
	{"large", 118}, {"xlarge", 237}, {"2xlarge", 474}, {"4xlarge", 950}, {"8xlarge", 1900},
	{"12xlarge", 1425}, {"16xlarge", 1900}, {"24xlarge", 1425}, {"32xlarge", 1900},
}

// ephemeralDisks is the table of the Ruby CPI, github.com/cloudfoundry/
// bosh-aws-cpi-release, src/bosh_aws_cpi/lib/cloud/aws/block_device_manager.rb,
// INSTANCE_TYPE_DISK_MAPPING, as of commit ede758f30cf8 (2026). It is written out
// rather than derived from the generated table, because the two differ: EC2 says
// 2048 GB for d2, it no longer knows cc2, cg1, cr1, g2, hi1 and hs1, and it gives
// local disks to many families, such as m5d, that the Ruby CPI never looked at.
var ephemeralDisks = []struct {
	family string
	disks  []sizedDisk
}{
	{"c1", []sizedDisk{{"medium", 350}, {"xlarge", 420}}},
	{"c3", []sizedDisk{{"large", 16}, {"xlarge", 40}, {"2xlarge", 80}, {"4xlarge", 160}, {"8xlarge", 320}}},
	{"c6id", generation6Disks},
	{"cc2", []sizedDisk{{"8xlarge", 840}}},
	{"cg1", []sizedDisk{{"4xlarge", 840}}},
	{"cr1", []sizedDisk{{"8xlarge", 120}}},
	{"d2", []sizedDisk{{"xlarge", 2000}, {"2xlarge", 2000}, {"4xlarge", 2000}, {"8xlarge", 2000}}},
	{"g2", []sizedDisk{{"2xlarge", 60}, {"8xlarge", 120}}},
	{"hi1", []sizedDisk{{"4xlarge", 1024}}},
	{"hs1", []sizedDisk{{"8xlarge", 2000}}},
	{"i2", []sizedDisk{{"xlarge", 800}, {"2xlarge", 800}, {"4xlarge", 800}, {"8xlarge", 800}}},
	{"i3", []sizedDisk{
		{"large", 475}, {"xlarge", 950}, {"2xlarge", 1900},
		{"4xlarge", 1900}, {"8xlarge", 1900}, {"16xlarge", 1900},
	}},
	{"i3en", []sizedDisk{
		{"large", 1250}, {"xlarge", 2500}, {"2xlarge", 2500}, {"3xlarge", 7500},
		{"6xlarge", 7500}, {"12xlarge", 7500}, {"24xlarge", 7500},
	}},
	{"i4i", []sizedDisk{
		{"large", 468}, {"xlarge", 937}, {"2xlarge", 1875}, {"4xlarge", 3750},
		{"8xlarge", 3750}, {"16xlarge", 3750}, {"32xlarge", 3750},
	}},
	{"m1", []sizedDisk{{"small", 160}, {"medium", 410}, {"large", 420}, {"xlarge", 420}}},
	{"m2", []sizedDisk{{"xlarge", 420}, {"2xlarge", 850}, {"4xlarge", 840}}},
	{"m3", []sizedDisk{{"medium", 4}, {"large", 32}, {"xlarge", 40}, {"2xlarge", 80}}},
	{"m6id", generation6Disks},
	{"m6idn", generation6Disks},
	{"r3", []sizedDisk{{"large", 32}, {"xlarge", 80}, {"2xlarge", 160}, {"4xlarge", 320}, {"8xlarge", 320}}},
	{"r6id", generation6Disks},
	{"r6idn", generation6Disks},
	{"x1", []sizedDisk{{"16xlarge", 1920}, {"32xlarge", 1920}}},
}

// DefaultEphemeralGiB returns the size in GiB of the EBS ephemeral disk that a
// VM of this type gets when its cloud properties name none, and whether the type
// has a default of its own; all others have the CPI's general default.
//
// It is the size the Ruby CPI gives, so that a VM recreated by this CPI keeps
// its disk's size. That CPI reads the GB of the type's first local disk as GiB:
// an i3.large, whose local disk has 475 GB, gets an EBS volume of 475 GiB. It
// does not do so with raw_instance_storage, where the general default applies.
func DefaultEphemeralGiB(name string) (gib int64, ok bool) {
	family, size, _ := strings.Cut(name, ".")
	for _, f := range ephemeralDisks {
		if f.family == family {
			return diskOfSize(f.disks, size)
		}
	}
	return 0, false
}

func diskOfSize(disks []sizedDisk, size string) (gib int64, ok bool) {
	for _, d := range disks {
		if d.size == size {
			return d.gib, true
		}
	}
	return 0, false
}
