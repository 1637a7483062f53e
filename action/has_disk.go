package action

import (
	"context"

	"bosh-aws-cpi/aws"
)

type diskArguments struct {
	DiskCID string `cpi:"disk_cid"`
}

// hasDisk says whether an EBS volume exists (DescribeVolumes).
type hasDisk struct{}

func (hasDisk) run(ctx context.Context, s *session, arguments diskArguments) (any, error) {
	volume, err := s.aws.Volume(ctx, arguments.DiskCID)
	if aws.IsNotFound(err) {
		return false, nil
	}
	return err == nil && volume.State != aws.VolumeDeleting && volume.State != aws.VolumeDeleted, err
}
