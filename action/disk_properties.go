package action

import (
	"fmt"
	"math"

	"bosh-aws-cpi/aws"
	"bosh-aws-cpi/cpi"
)

// DiskProperties are the cloud properties of a persistent disk; each key is
// described in docs/cloud-properties.md.
type DiskProperties struct {
	VolumeProperties
	Tags cpi.Object `json:"tags"`
}

// VolumeProperties are the cloud properties that every EBS volume has.
type VolumeProperties struct {
	Type       string `json:"type"`
	IOPS       int32  `json:"iops"`
	Throughput int32  `json:"throughput"` // MiB/s
	Encrypted  *bool  `json:"encrypted"`
	KMSKeyARN  string `json:"kms_key_arn"`
}

// defaultVolumeType is what a volume is made of unless its properties say
// otherwise.
const defaultVolumeType = "gp3"

// takesIOPS and takesThroughput list the volume types whose speed can be set
// (EC2 API Reference, CreateVolume). For others a setting is left out: it may
// come from a disk type that an operator shares between volume types.
var (
	takesIOPS       = map[string]bool{"gp3": true, "io1": true, "io2": true}
	takesThroughput = map[string]bool{"gp3": true}
	needsIOPS       = map[string]bool{"io1": true, "io2": true}
	volumeTypes     = map[string]bool{"gp2": true, "gp3": true, "io1": true, "io2": true, "st1": true, "sc1": true, "standard": true}
)

// validate checks the properties; its errors name the key.
func (p VolumeProperties) validate(defaults Defaults) error {
	kind := p.volumeType()
	switch {
	case !volumeTypes[kind]:
		return fmt.Errorf("type: expected gp2, gp3, io1, io2, st1, sc1 or standard, got %q", kind)
	case p.IOPS < 0:
		return fmt.Errorf("iops: expected a whole number above 0, got %d", p.IOPS)
	case p.Throughput < 0:
		return fmt.Errorf("throughput: expected a whole number above 0, got %d", p.Throughput)
	case needsIOPS[kind] && p.IOPS == 0:
		return fmt.Errorf("iops is missing: a volume of type %s needs it", kind)
	case p.KMSKeyARN != "" && !p.encrypted(defaults):
		return fmt.Errorf("kms_key_arn is set, and encrypted is not true, here or in the configuration: a key is of use with an encrypted volume only")
	}
	return nil
}

func (p VolumeProperties) encrypted(defaults Defaults) bool {
	if p.Encrypted != nil {
		return *p.Encrypted
	}
	return defaults.Encrypted
}

func (p VolumeProperties) volumeType() string {
	if p.Type == "" {
		return defaultVolumeType
	}
	return p.Type
}

// volume returns what to ask EC2 for. The volume's own encryption and key go
// before the configuration's.
func (p VolumeProperties) volume(sizeGiB int32, defaults Defaults) aws.VolumeSpec {
	spec := aws.VolumeSpec{SizeGiB: sizeGiB, Type: p.volumeType(), Encrypted: p.encrypted(defaults)}
	if spec.Encrypted {
		spec.KMSKey = defaults.KMSKeyARN
		if p.KMSKeyARN != "" {
			spec.KMSKey = p.KMSKeyARN
		}
	}
	if takesIOPS[spec.Type] {
		spec.IOPS = p.IOPS
	}
	if takesThroughput[spec.Type] {
		spec.Throughput = p.Throughput
	}
	return spec
}

// maxVolumeGiB is the largest EBS volume there is, 64 TiB (EBS User Guide,
// "EBS volume types").
const maxVolumeGiB = 64 << 10

// gibibytes rounds a size in MiB up to whole GiB, in which EBS sizes are. what
// names the size in errors.
func gibibytes(what string, mebibytes int64) (int32, error) {
	if mebibytes <= 0 {
		return 0, fmt.Errorf("%s: expected a size in MiB above 0, got %d", what, mebibytes)
	}
	gib := int64(math.Ceil(float64(mebibytes) / 1024))
	if gib > maxVolumeGiB {
		return 0, fmt.Errorf("%s: %d MiB are more than EBS takes (64 TiB)", what, mebibytes)
	}
	return int32(gib), nil
}

// readDiskProperties reads and checks the cloud properties of a persistent disk.
func readDiskProperties(method string, sent cpi.Object, defaults Defaults) (DiskProperties, error) {
	var properties DiskProperties
	if err := decodeProperties(method, "cloud_properties", sent, &properties); err != nil {
		return properties, err
	}
	if err := properties.validate(defaults); err != nil {
		return properties, invalid(method, "cloud_properties.%s", err)
	}
	return properties, nil
}
