package aws

import (
	"context"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

// Attach begins to attach a volume to an instance (1 AttachVolume).
func (c *Client) Attach(ctx context.Context, volume, instance, device string) error {
	attach := func() (bool, error) {
		err := c.graced(ctx, func() error {
			_, err := c.ec2.AttachVolume(ctx, &ec2.AttachVolumeInput{
				VolumeId: sdk.String(volume), InstanceId: sdk.String(instance), Device: sdk.String(device),
			})
			if err != nil {
				return failure(err, "volume "+volume+" to instance "+instance+" as "+device)
			}
			return nil
		})
		return err == nil, err
	}
	_, err := once(ctx, c, attach, func(ctx context.Context) (bool, bool, error) {
		found, err := c.Volume(ctx, volume)
		holder, held := found.Holder()
		return true, held && holder.InstanceID == instance, err
	})
	return err
}

// WaitAttached waits until a volume is attached to an instance (1
// DescribeVolumes for each poll).
func (c *Client) WaitAttached(ctx context.Context, volume, instance string) error {
	what := "volume " + volume + " to be attached to instance " + instance
	// For a while EC2 may show the volume as it was before.
	shown := time.Now().Add(c.timing.scaled(limitVisible))
	return c.wait(ctx, "AttachVolume", what, limitAttachment, func(ctx context.Context) (bool, error) {
		found, err := c.Volume(ctx, volume)
		if err != nil {
			return false, err
		}
		holder, held := found.Holder()
		switch {
		case held && holder.InstanceID == instance:
			return holder.State == "attached", nil
		case found.State == VolumeAvailable && time.Now().Before(shown):
			return false, nil
		case found.State == VolumeAvailable, held, found.State == volumeError, found.State == VolumeDeleting:
			return false, &Error{Action: "AttachVolume", Resource: "volume " + volume, Code: "VolumeState",
				Message: "AWS gave the attachment to instance " + instance + " up; the volume is " + found.State}
		}
		return false, nil
	})
}

// Detach begins to detach a volume from an instance (1 DetachVolume).
func (c *Client) Detach(ctx context.Context, volume, instance string) error {
	detach := func() (bool, error) {
		_, err := c.ec2.DetachVolume(ctx, &ec2.DetachVolumeInput{VolumeId: sdk.String(volume), InstanceId: sdk.String(instance)})
		if err != nil {
			return false, failure(err, "volume "+volume+" from instance "+instance)
		}
		return true, nil
	}
	_, err := once(ctx, c, detach, func(ctx context.Context) (bool, bool, error) {
		found, err := c.Volume(ctx, volume)
		holder, held := found.Holder()
		return true, !held || holder.InstanceID != instance || holder.State == "detaching", err
	})
	return err
}

// WaitDetached waits until a volume is not at an instance any more (1
// DescribeVolumes for each poll). A volume that is gone is a success.
func (c *Client) WaitDetached(ctx context.Context, volume, instance string) error {
	what := "volume " + volume + " to be detached from instance " + instance
	return c.wait(ctx, "DetachVolume", what, limitAttachment, func(ctx context.Context) (bool, error) {
		found, err := c.Volume(ctx, volume)
		if IsNotFound(err) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		holder, held := found.Holder()
		return !held || holder.InstanceID != instance, nil
	})
}
