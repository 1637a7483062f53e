package action

import (
	"context"

	"bosh-aws-cpi/aws"
	"bosh-aws-cpi/cpi"
)

type resizeDiskArguments struct {
	DiskCID string `cpi:"disk_cid"`
	Size    int64  `cpi:"new_size"` // MiB
}

// resizeDisk makes a volume larger in place, attached or not (DescribeVolumes,
// ModifyVolume, DescribeVolumesModifications). NotSupported makes the Director
// copy the disk instead.
type resizeDisk struct{}

func (resizeDisk) run(ctx context.Context, s *session, arguments resizeDiskArguments) (any, error) {
	size, err := gibibytes("new_size", arguments.Size)
	if err != nil {
		return nil, invalid(s.Method, "%s", err)
	}
	volume, err := s.aws.NamedVolume(ctx, arguments.DiskCID)
	if err != nil {
		return nil, err
	}
	change, err := growth(s.Method, volume, size)
	if err != nil {
		return nil, err
	}
	return nil, s.modify(ctx, volume, aws.VolumeChange{SizeGiB: change})
}

// growth returns the size to ask for, 0 when the volume has it already.
func growth(method string, volume aws.Volume, sizeGiB int32) (int32, error) {
	if sizeGiB < volume.SizeGiB {
		return 0, cpi.Errorf(cpi.NotSupported, "%s: volume %s has %d GiB, and EBS cannot shrink it to %d GiB", method, volume.ID, volume.SizeGiB, sizeGiB)
	}
	if sizeGiB == volume.SizeGiB {
		return 0, nil
	}
	return sizeGiB, nil
}

// modify changes a volume and waits until the change is effective. What EBS
// cannot do in place now is NotSupported.
func (s *session) modify(ctx context.Context, volume aws.Volume, change aws.VolumeChange) error {
	if change == (aws.VolumeChange{}) {
		s.Logger.Info(s.Tag, "volume %s is as it should be already", volume.ID)
		return nil
	}
	err := s.aws.ModifyVolume(ctx, volume.ID, change)
	if aws.HasCode(err, "IncorrectModificationState", "VolumeModificationRateExceeded", "VolumeModificationSizeLimitExceeded") {
		return cpi.Errorf(cpi.NotSupported, "%s: EBS cannot modify volume %s in place now: %w", s.Method, volume.ID, err)
	}
	if err != nil {
		return err
	}
	return s.aws.WaitModified(ctx, volume.ID)
}
