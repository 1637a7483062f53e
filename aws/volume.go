package aws

import (
	"context"
	"fmt"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// VolumeSpec describes an EBS volume to be made. Zero values are left to EC2.
type VolumeSpec struct {
	AvailabilityZone string
	SizeGiB          int32
	Type             string
	IOPS             int32
	Throughput       int32 // MiB/s
	Encrypted        bool
	KMSKey           string
	Tags             Tags
}

// The states of a volume that decide something.
const (
	VolumeAvailable = "available"
	VolumeInUse     = "in-use"
	VolumeDeleting  = "deleting"
	VolumeDeleted   = "deleted"
	volumeError     = "error"
)

// Volume is an EBS volume as DescribeVolumes shows it.
type Volume struct {
	ID               string
	State            string
	AvailabilityZone string
	SizeGiB          int32
	Type             string
	IOPS             int32
	Throughput       int32
	Encrypted        bool
	KMSKey           string
	Attachments      []Attachment
}

// Attachment is a volume's being at an instance, or on its way there or away.
type Attachment struct {
	InstanceID string
	Device     string
	State      string // attaching, attached, detaching, detached, busy
}

func volumeOf(sent types.Volume) Volume {
	volume := Volume{
		ID:               sdk.ToString(sent.VolumeId),
		State:            string(sent.State),
		AvailabilityZone: sdk.ToString(sent.AvailabilityZone),
		SizeGiB:          sdk.ToInt32(sent.Size),
		Type:             string(sent.VolumeType),
		IOPS:             sdk.ToInt32(sent.Iops),
		Throughput:       sdk.ToInt32(sent.Throughput),
		Encrypted:        sdk.ToBool(sent.Encrypted),
		KMSKey:           sdk.ToString(sent.KmsKeyId),
	}
	for _, attachment := range sent.Attachments {
		volume.Attachments = append(volume.Attachments, Attachment{
			sdk.ToString(attachment.InstanceId), sdk.ToString(attachment.Device), string(attachment.State),
		})
	}
	return volume
}

// Holder returns the attachment that keeps the volume; false when it is free.
func (v Volume) Holder() (Attachment, bool) {
	for _, attachment := range v.Attachments {
		if attachment.State != "detached" {
			return attachment, true
		}
	}
	return Attachment{}, false
}

// Volume looks a volume up (1 DescribeVolumes). An unknown one is an *Error
// for which IsNotFound holds.
func (c *Client) Volume(ctx context.Context, id string) (Volume, error) {
	volumes, err := c.Volumes(ctx, id)
	if err != nil {
		return Volume{}, err
	}
	return volumes[0], nil
}

// NamedVolume is Volume for an id that the caller named; see NamedInstance.
func (c *Client) NamedVolume(ctx context.Context, id string) (volume Volume, err error) {
	err = c.graced(ctx, func() error {
		volume, err = c.Volume(ctx, id)
		return err
	})
	return volume, err
}

// Volumes looks volumes up, all of which must be there (1 DescribeVolumes).
func (c *Client) Volumes(ctx context.Context, ids ...string) ([]Volume, error) {
	out, err := c.ec2.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{VolumeIds: ids})
	if err != nil {
		return nil, failure(err, "volume "+join(ids))
	}
	var volumes []Volume
	for _, volume := range out.Volumes {
		volumes = append(volumes, volumeOf(volume))
	}
	if len(volumes) < len(ids) {
		return nil, &Error{Action: "DescribeVolumes", Resource: "volume " + join(ids), Code: "InvalidVolume.NotFound", Message: "AWS does not show all of them"}
	}
	return volumes, nil
}

// CreateVolume begins to make a volume and returns its id (1 CreateVolume).
func (c *Client) CreateVolume(ctx context.Context, spec VolumeSpec) (string, error) {
	begun := time.Now()
	input := &ec2.CreateVolumeInput{
		ClientToken:       newToken(),
		AvailabilityZone:  sdk.String(spec.AvailabilityZone),
		Size:              sdk.Int32(spec.SizeGiB),
		VolumeType:        types.VolumeType(spec.Type),
		Iops:              positive(spec.IOPS),
		Throughput:        positive(spec.Throughput),
		Encrypted:         encryptedOnly(spec.Encrypted),
		KmsKeyId:          optional(spec.KMSKey),
		TagSpecifications: spec.Tags.specification(types.ResourceTypeVolume),
	}
	create := func() (string, error) {
		out, err := c.ec2.CreateVolume(ctx, input)
		if err != nil {
			return "", failure(err, fmt.Sprintf("volume of %d GiB in %s", spec.SizeGiB, spec.AvailabilityZone))
		}
		if out.VolumeId == nil {
			return "", incomplete("CreateVolume", "volume in "+spec.AvailabilityZone)
		}
		return *out.VolumeId, nil
	}
	return recovered(ctx, c, create, func(ctx context.Context) (string, bool, error) {
		out, err := c.ec2.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{Filters: spec.Tags.filters()})
		if err != nil {
			return "", false, failure(err, "")
		}
		for _, volume := range out.Volumes {
			if sdk.ToTime(volume.CreateTime).After(begun.Add(-recently)) {
				return sdk.ToString(volume.VolumeId), true, nil
			}
		}
		return "", false, nil
	})
}

// WaitVolumeAvailable waits until a volume made by this CPI call can be used
// (1 DescribeVolumes for each poll).
func (c *Client) WaitVolumeAvailable(ctx context.Context, id string) error {
	return c.wait(ctx, "CreateVolume", "volume "+id+" to be available", limitVolumeAvailable, func(ctx context.Context) (bool, error) {
		var volume Volume
		err := c.visible(ctx, "InvalidVolume.NotFound", func() (err error) {
			volume, err = c.Volume(ctx, id)
			return err
		})
		if err != nil {
			return false, err
		}
		if volume.State == volumeError || volume.State == VolumeDeleting || volume.State == VolumeDeleted {
			return false, &Error{Action: "CreateVolume", Resource: "volume " + id, Code: "VolumeState", Message: fmt.Sprintf(
				"the volume is in state %q instead of available; a KMS key that cannot be used is the usual reason", volume.State)}
		}
		return volume.State == VolumeAvailable, nil
	})
}

// WaitVolumeFree waits until a volume that another instance gives up is free
// (1 DescribeVolumes for each poll).
func (c *Client) WaitVolumeFree(ctx context.Context, id string) error {
	return c.wait(ctx, "DescribeVolumes", "volume "+id+" to be free", limitAttachment, func(ctx context.Context) (bool, error) {
		volume, err := c.Volume(ctx, id)
		return volume.State == VolumeAvailable, err
	})
}

// DeleteVolume begins to delete a volume (1 DeleteVolume).
func (c *Client) DeleteVolume(ctx context.Context, id string) error {
	_, err := c.ec2.DeleteVolume(ctx, &ec2.DeleteVolumeInput{VolumeId: sdk.String(id)})
	if err != nil {
		return deleted(failure(err, "volume "+id))
	}
	return nil
}

// DeleteNewVolume deletes a volume that this CPI call made.
func (c *Client) DeleteNewVolume(ctx context.Context, id string) error {
	err := c.visible(ctx, "InvalidVolume.NotFound", func() error { return c.DeleteVolume(ctx, id) })
	if err != nil {
		return err
	}
	return c.WaitVolumeDeleted(ctx, id)
}

// WaitVolumeDeleted waits until a volume is gone (1 DescribeVolumes for each
// poll).
func (c *Client) WaitVolumeDeleted(ctx context.Context, id string) error {
	return c.wait(ctx, "DeleteVolume", "volume "+id+" to be deleted", limitVolumeDeleted, func(ctx context.Context) (bool, error) {
		volume, err := c.Volume(ctx, id)
		if IsNotFound(err) {
			return true, nil
		}
		if err == nil && volume.State == volumeError {
			return false, &Error{Action: "DeleteVolume", Resource: "volume " + id, Code: "VolumeState", Message: "the volume is in state \"error\""}
		}
		return err == nil && volume.State == VolumeDeleted, err
	})
}
