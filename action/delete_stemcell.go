package action

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"bosh-aws-cpi/aws"
)

type deleteStemcellArguments struct {
	StemcellCID string `cpi:"stemcell_cid"`
}

// imageTag names, on a snapshot, the AMI that was made from it: a second
// delete_stemcell finds what a first one could not delete.
const imageTag = "bosh-image-id"

// deleteStemcell deletes an AMI and its snapshots (DescribeImages,
// DescribeSnapshots, DeregisterImage, DeleteSnapshot). A light stemcell is not
// ours to delete: no call. One that is gone is a success.
type deleteStemcell struct{}

func (deleteStemcell) run(ctx context.Context, s *session, arguments deleteStemcellArguments) (any, error) {
	if strings.HasSuffix(arguments.StemcellCID, lightSuffix) {
		return nil, nil
	}
	return nil, s.deleteImage(ctx, arguments.StemcellCID)
}

// deleteImage deregisters an AMI, then deletes its snapshots: those that it
// names and those that name it.
func (s *session) deleteImage(ctx context.Context, id string) error {
	var images []aws.Image
	var snapshots []string
	err := s.concurrently(ctx,
		func(ctx context.Context) (err error) {
			images, err = s.aws.Images(ctx, id)
			return err
		},
		func(ctx context.Context) (err error) {
			snapshots, err = s.aws.SnapshotsTagged(ctx, imageTag, id)
			return err
		})
	if err != nil {
		return err
	}
	snapshots = addSnapshots(snapshots, images)
	if len(images) > 0 {
		err := s.aws.DeregisterImage(ctx, id)
		if err != nil && !aws.HasCode(err, "InvalidAMIID.NotFound", "InvalidAMIID.Unavailable") {
			return err
		}
	}
	return s.deleteSnapshots(ctx, id, snapshots)
}

func addSnapshots(snapshots []string, images []aws.Image) []string {
	seen := map[string]bool{}
	for _, snapshot := range snapshots {
		seen[snapshot] = true
	}
	for _, image := range images {
		for _, device := range image.Devices {
			if device.SnapshotID != "" && !seen[device.SnapshotID] {
				seen[device.SnapshotID] = true
				snapshots = append(snapshots, device.SnapshotID)
			}
		}
	}
	return snapshots
}

// deleteSnapshots deletes all that it can. What it cannot delete is named, and
// marked for the next delete_stemcell.
func (s *session) deleteSnapshots(ctx context.Context, image string, snapshots []string) error {
	var left []error
	for _, snapshot := range snapshots {
		err := s.aws.DeleteSnapshot(ctx, snapshot)
		if err == nil || aws.HasCode(err, "InvalidSnapshot.NotFound") {
			continue
		}
		left = append(left, err)
		if err := s.aws.Tag(ctx, aws.Tags{imageTag: image}, snapshot); err != nil {
			s.Logger.Warn(s.Tag, "not tagged: %s", err)
		}
	}
	if len(left) == 0 {
		return nil
	}
	return fmt.Errorf("image %s is deregistered, and not all of its snapshots could be deleted: %w", image, errors.Join(left...))
}
