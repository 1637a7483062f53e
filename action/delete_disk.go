package action

import (
	"context"

	"bosh-aws-cpi/aws"
)

// deleteDisk deletes a volume and waits until it is gone (DeleteVolume,
// DescribeVolumes). With fast_path_delete it names the volume "to be deleted"
// and does not wait (CreateTags, DeleteVolume).
type deleteDisk struct{}

func (deleteDisk) run(ctx context.Context, s *session, arguments diskArguments) (any, error) {
	disk := arguments.DiskCID
	if s.config.Defaults.FastPathDelete {
		if err := s.aws.Tag(ctx, doomed, disk); err != nil && !aws.IsNotFound(err) {
			s.Logger.Warn(s.Tag, "not tagged: %s", err)
		}
	}
	err := s.aws.DeleteVolume(ctx, disk)
	if aws.HasCode(err, "VolumeInUse", "IncorrectState") {
		err = s.deleteHeld(ctx, disk, err)
	}
	if err != nil || s.config.Defaults.FastPathDelete {
		return nil, err
	}
	return nil, s.aws.WaitVolumeDeleted(ctx, disk)
}

// deleteHeld deletes a volume as soon as an instance that gives it up has done
// so.
func (s *session) deleteHeld(ctx context.Context, disk string, refused error) error {
	volume, err := s.aws.Volume(ctx, disk)
	if err != nil {
		return err
	}
	if volume.State == aws.VolumeDeleting || volume.State == aws.VolumeDeleted {
		return nil
	}
	holder, held := volume.Holder()
	if !held && volume.State != aws.VolumeAvailable {
		return refused
	}
	if held {
		if err := s.waitForHolder(ctx, volume, holder); err != nil {
			return err
		}
	}
	return s.aws.DeleteVolume(ctx, disk)
}
