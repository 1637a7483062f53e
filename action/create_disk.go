package action

import (
	"context"
	"math/rand/v2"

	"bosh-aws-cpi/cpi"
)

type createDiskArguments struct {
	Size            int64      `cpi:"size"` // MiB
	CloudProperties cpi.Object `cpi:"cloud_properties"`
	VMCID           string     `cpi:"vm_cid,optional"`
}

// createDisk makes an EBS volume: in the availability zone of the VM that it is
// for, else in any (DescribeInstances or DescribeAvailabilityZones,
// CreateVolume, DescribeVolumes).
type createDisk struct{}

func (createDisk) run(ctx context.Context, s *session, arguments createDiskArguments) (any, error) {
	properties, err := readDiskProperties(s.Method, arguments.CloudProperties, s.config.Defaults)
	if err != nil {
		return nil, err
	}
	size, err := gibibytes("size", arguments.Size)
	if err != nil {
		return nil, invalid(s.Method, "%s", err)
	}
	spec := properties.volume(size, s.config.Defaults)
	spec.Tags = s.originTags(tagsFrom(properties.Tags))
	if spec.AvailabilityZone, err = s.diskZone(ctx, arguments.VMCID); err != nil {
		return nil, err
	}
	volume, err := s.aws.CreateVolume(ctx, spec)
	if err != nil {
		return nil, err
	}
	made := undo{s: s}
	made.add("volume "+volume, func(ctx context.Context) error { return s.aws.DeleteNewVolume(ctx, volume) })
	if err := s.aws.WaitVolumeAvailable(ctx, volume); err != nil {
		return nil, made.run(ctx, err)
	}
	return volume, nil
}

func (s *session) diskZone(ctx context.Context, vm string) (string, error) {
	if vm != "" {
		instance, err := s.aws.NamedInstance(ctx, vm)
		if err == nil && instance.Gone() {
			err = vmGone(s.Method, instance)
		}
		return instance.AvailabilityZone, err
	}
	zones, err := s.aws.AvailableZones(ctx)
	if err != nil {
		return "", err
	}
	// Nothing speaks for one zone: spread.
	return zones[rand.IntN(len(zones))], nil
}
