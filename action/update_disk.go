package action

import (
	"context"
	"strings"

	"bosh-aws-cpi/aws"
	"bosh-aws-cpi/cpi"
)

type updateDiskArguments struct {
	DiskCID         string     `cpi:"disk_cid"`
	Size            int64      `cpi:"new_size"` // MiB
	CloudProperties cpi.Object `cpi:"cloud_properties"`
}

// updateDisk makes a volume what create_disk would make of the same arguments,
// in place (DescribeVolumes, ModifyVolume, DescribeVolumesModifications). It
// returns null: the disk keeps its cid. Shrinking or another encryption is
// NotSupported: the Director copies the disk instead.
type updateDisk struct{}

func (updateDisk) run(ctx context.Context, s *session, arguments updateDiskArguments) (any, error) {
	properties, err := readDiskProperties(s.Method, arguments.CloudProperties, s.config.Defaults)
	if err != nil {
		return nil, err
	}
	size, err := gibibytes("new_size", arguments.Size)
	if err != nil {
		return nil, invalid(s.Method, "%s", err)
	}
	volume, err := s.aws.NamedVolume(ctx, arguments.DiskCID)
	if err != nil {
		return nil, err
	}
	if err := sameEncryption(s.Method, volume, properties.VolumeProperties); err != nil {
		return nil, err
	}
	change := speedChange(volume, properties.volume(size, s.config.Defaults))
	if change.SizeGiB, err = growth(s.Method, volume, size); err != nil {
		return nil, err
	}
	return nil, s.modify(ctx, volume, change)
}

// sameEncryption holds what the properties themselves say of encryption against
// the volume: a volume keeps its encryption and key for life. Properties that
// say nothing change nothing: the account may encrypt by default.
func sameEncryption(method string, volume aws.Volume, wanted VolumeProperties) error {
	if wanted.Encrypted != nil && *wanted.Encrypted != volume.Encrypted {
		return cpi.Errorf(cpi.NotSupported, "%s: cloud_properties.encrypted is %t, and EBS cannot change the encryption of volume %s", method, *wanted.Encrypted, volume.ID)
	}
	if wanted.KMSKeyARN != "" && volume.Encrypted && !sameKey(wanted.KMSKeyARN, volume.KMSKey) {
		return cpi.Errorf(cpi.NotSupported, "%s: volume %s is encrypted with key %s, and EBS cannot change it to %s", method, volume.ID, volume.KMSKey, wanted.KMSKeyARN)
	}
	return nil
}

// sameKey compares a key as an operator names it, by ARN or id, with the ARN
// that EC2 shows. What an alias stands for cannot be seen, so it counts as
// changed.
func sameKey(wanted, shown string) bool {
	return wanted == shown || strings.HasSuffix(shown, "/"+wanted)
}

// The speed of a gp3 volume for which none is asked (EBS User Guide, "General
// Purpose SSD volumes"): what create_disk would get.
const (
	gp3IOPS       = 3000
	gp3Throughput = 125 // MiB/s
)

// speedChange returns what of type and speed has to change.
func speedChange(volume aws.Volume, wanted aws.VolumeSpec) aws.VolumeChange {
	if wanted.Type == "gp3" {
		wanted.IOPS = max(wanted.IOPS, gp3IOPS)
		wanted.Throughput = max(wanted.Throughput, gp3Throughput)
	}
	change := aws.VolumeChange{}
	if wanted.Type != volume.Type {
		change.Type = wanted.Type
	}
	if wanted.IOPS != 0 && wanted.IOPS != volume.IOPS {
		change.IOPS = wanted.IOPS
	}
	if wanted.Throughput != 0 && wanted.Throughput != volume.Throughput {
		change.Throughput = wanted.Throughput
	}
	return change
}
