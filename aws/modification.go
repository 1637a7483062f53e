package aws

import (
	"context"
	"fmt"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// VolumeChange is what a volume is to become. Zero values stay as they are.
type VolumeChange struct {
	SizeGiB    int32
	Type       string
	IOPS       int32
	Throughput int32 // MiB/s
}

// ModifyVolume begins to change a volume in place (1 ModifyVolume).
func (c *Client) ModifyVolume(ctx context.Context, id string, change VolumeChange) error {
	begun := time.Now()
	modify := func() (bool, error) {
		_, err := c.ec2.ModifyVolume(ctx, &ec2.ModifyVolumeInput{
			VolumeId:   sdk.String(id),
			Size:       positive(change.SizeGiB),
			VolumeType: types.VolumeType(change.Type),
			Iops:       positive(change.IOPS),
			Throughput: positive(change.Throughput),
		})
		if err != nil {
			return false, failure(err, "volume "+id)
		}
		return true, nil
	}
	_, err := once(ctx, c, modify, func(ctx context.Context) (bool, bool, error) {
		modification, err := c.modification(ctx, id)
		if err != nil || modification == nil {
			return false, false, err
		}
		return true, sdk.ToTime(modification.StartTime).After(begun.Add(-recently)) && change.isTargetOf(modification), nil
	})
	return err
}

// isTargetOf says whether a modification leads to the change.
func (v VolumeChange) isTargetOf(modification *types.VolumeModification) bool {
	return (v.SizeGiB == 0 || v.SizeGiB == sdk.ToInt32(modification.TargetSize)) &&
		(v.Type == "" || v.Type == string(modification.TargetVolumeType)) &&
		(v.IOPS == 0 || v.IOPS == sdk.ToInt32(modification.TargetIops)) &&
		(v.Throughput == 0 || v.Throughput == sdk.ToInt32(modification.TargetThroughput))
}

// modification returns the last change of a volume; nil when there is none (1
// DescribeVolumesModifications).
func (c *Client) modification(ctx context.Context, id string) (*types.VolumeModification, error) {
	out, err := c.ec2.DescribeVolumesModifications(ctx, &ec2.DescribeVolumesModificationsInput{VolumeIds: []string{id}})
	if HasCode(err, "InvalidVolumeModification.NotFound") {
		return nil, nil
	}
	if err != nil {
		return nil, failure(err, "volume "+id)
	}
	var latest *types.VolumeModification
	for i, one := range out.VolumesModifications {
		if latest == nil || sdk.ToTime(one.StartTime).After(sdk.ToTime(latest.StartTime)) {
			latest = &out.VolumesModifications[i]
		}
	}
	return latest, nil
}

// WaitModified waits until a volume has its new size and speed (1
// DescribeVolumesModifications for each poll). It has them from the state
// `optimizing` on, which can last hours.
func (c *Client) WaitModified(ctx context.Context, id string) error {
	return c.wait(ctx, "ModifyVolume", "volume "+id+" to be modified", limitModification, func(ctx context.Context) (bool, error) {
		modification, err := c.modification(ctx, id)
		if err != nil || modification == nil {
			return false, err
		}
		switch modification.ModificationState {
		case types.VolumeModificationStateOptimizing, types.VolumeModificationStateCompleted:
			return true, nil
		case types.VolumeModificationStateFailed:
			return false, &Error{Action: "ModifyVolume", Resource: "volume " + id, Code: "VolumeModificationFailed",
				Message: fmt.Sprintf("AWS could not modify the volume: %s", orUnknown(sdk.ToString(modification.StatusMessage)))}
		}
		return false, nil
	})
}
