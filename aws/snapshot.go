package aws

import (
	"context"
	"fmt"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// CreateSnapshot takes a snapshot of a volume and returns its id as soon as EC2
// has accepted it (1 CreateSnapshot): what it holds is fixed from then on. A
// snapshot that is in an error state by then is an *Error and is deleted.
func (c *Client) CreateSnapshot(ctx context.Context, volume, description string, tags Tags) (string, error) {
	begun := time.Now()
	type accepted struct {
		id    string
		state types.SnapshotState
		why   string
	}
	create := func() (accepted, error) {
		out, err := c.ec2.CreateSnapshot(ctx, &ec2.CreateSnapshotInput{
			VolumeId:          sdk.String(volume),
			Description:       optional(description),
			TagSpecifications: tags.specification(types.ResourceTypeSnapshot),
		})
		if err != nil {
			return accepted{}, failure(err, "volume "+volume)
		}
		if out.SnapshotId == nil {
			return accepted{}, incomplete("CreateSnapshot", "volume "+volume)
		}
		return accepted{*out.SnapshotId, out.State, sdk.ToString(out.StateMessage)}, nil
	}
	snapshot, err := once(ctx, c, create, func(ctx context.Context) (accepted, bool, error) {
		out, err := c.ec2.DescribeSnapshots(ctx, &ec2.DescribeSnapshotsInput{
			Filters: append(tags.filters(), filter("volume-id", volume)),
		})
		if err != nil {
			return accepted{}, false, failure(err, "")
		}
		for _, found := range out.Snapshots {
			if sdk.ToTime(found.StartTime).After(begun.Add(-recently)) {
				return accepted{sdk.ToString(found.SnapshotId), found.State, sdk.ToString(found.StateMessage)}, true, nil
			}
		}
		return accepted{}, false, nil
	})
	if err != nil || snapshot.state != types.SnapshotStateError {
		return snapshot.id, err
	}
	failed := &Error{Action: "CreateSnapshot", Resource: "volume " + volume, Code: "SnapshotState",
		Message: fmt.Sprintf("snapshot %s is in state \"error\": %s", snapshot.id, orUnknown(snapshot.why))}
	if deleteErr := c.DeleteSnapshot(context.WithoutCancel(ctx), snapshot.id); deleteErr != nil {
		failed.Message += fmt.Sprintf("; and it could not be deleted: %s", deleteErr)
	}
	return "", failed
}

// DeleteSnapshot deletes a snapshot (1 DeleteSnapshot).
func (c *Client) DeleteSnapshot(ctx context.Context, id string) error {
	_, err := c.ec2.DeleteSnapshot(ctx, &ec2.DeleteSnapshotInput{SnapshotId: sdk.String(id)})
	if err != nil {
		return deleted(failure(err, "snapshot "+id))
	}
	return nil
}

// snapshotState returns a snapshot's state, and why it is in it if AWS says.
func (c *Client) snapshotState(ctx context.Context, id string) (state, why string, err error) {
	out, err := c.ec2.DescribeSnapshots(ctx, &ec2.DescribeSnapshotsInput{SnapshotIds: []string{id}})
	if err != nil {
		return "", "", failure(err, "snapshot "+id)
	}
	for _, snapshot := range out.Snapshots {
		return string(snapshot.State), sdk.ToString(snapshot.StateMessage), nil
	}
	return "", "", &Error{Action: "DescribeSnapshots", Resource: "snapshot " + id, Code: "InvalidSnapshot.NotFound", Message: "AWS shows no such snapshot"}
}

// findSnapshot returns the id of the account's snapshot that all filters match.
func (c *Client) findSnapshot(ctx context.Context, filters ...types.Filter) (string, bool, error) {
	out, err := c.ec2.DescribeSnapshots(ctx, &ec2.DescribeSnapshotsInput{OwnerIds: []string{"self"}, Filters: filters})
	if err != nil {
		return "", false, failure(err, "")
	}
	for _, snapshot := range out.Snapshots {
		return sdk.ToString(snapshot.SnapshotId), true, nil
	}
	return "", false, nil
}

// DeleteNewSnapshot deletes a snapshot that this CPI call made.
func (c *Client) DeleteNewSnapshot(ctx context.Context, id string) error {
	return c.visible(ctx, "InvalidSnapshot.NotFound", func() error { return c.DeleteSnapshot(ctx, id) })
}

// SnapshotsTagged returns the ids of the account's snapshots with a tag (1
// DescribeSnapshots).
func (c *Client) SnapshotsTagged(ctx context.Context, key, value string) ([]string, error) {
	out, err := c.ec2.DescribeSnapshots(ctx, &ec2.DescribeSnapshotsInput{
		OwnerIds: []string{"self"}, Filters: []types.Filter{filter("tag:"+key, value)},
	})
	if err != nil {
		return nil, failure(err, "snapshots tagged "+key+"="+value)
	}
	var ids []string
	for _, snapshot := range out.Snapshots {
		ids = append(ids, sdk.ToString(snapshot.SnapshotId))
	}
	return ids, nil
}
