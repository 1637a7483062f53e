package aws

import (
	"context"
	"fmt"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// Image is an AMI.
type Image struct {
	ID           string
	State        string
	Reason       string
	RootDevice   string
	Architecture string
	Devices      []ImageDevice
}

// ImageDevice is a block device that an AMI defines.
type ImageDevice struct {
	Name       string
	SizeGiB    int32
	SnapshotID string
}

func imageOf(sent types.Image) Image {
	image := Image{
		ID:           sdk.ToString(sent.ImageId),
		State:        string(sent.State),
		RootDevice:   sdk.ToString(sent.RootDeviceName),
		Architecture: string(sent.Architecture),
	}
	if sent.StateReason != nil {
		image.Reason = sdk.ToString(sent.StateReason.Message)
	}
	for _, mapping := range sent.BlockDeviceMappings {
		device := ImageDevice{Name: sdk.ToString(mapping.DeviceName)}
		if mapping.Ebs != nil {
			device.SizeGiB = sdk.ToInt32(mapping.Ebs.VolumeSize)
			device.SnapshotID = sdk.ToString(mapping.Ebs.SnapshotId)
		}
		image.Devices = append(image.Devices, device)
	}
	return image
}

// RootMapping returns the device that holds the root file system: the one with
// the root device's name, or the whole disk of which the root is a partition
// (/dev/sda for /dev/sda1).
func (i Image) RootMapping() (ImageDevice, bool) {
	for _, device := range i.Devices {
		if device.Name == i.RootDevice {
			return device, true
		}
	}
	for _, device := range i.Devices {
		if device.Name != "" && strings.HasPrefix(i.RootDevice, device.Name) {
			return device, true
		}
	}
	return ImageDevice{}, false
}

// Images returns those of the AMIs that this region shows, deprecated ones
// included (1 DescribeImages). Unknown ids are no error: a filter is used.
func (c *Client) Images(ctx context.Context, ids ...string) ([]Image, error) {
	out, err := c.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{
		Filters: []types.Filter{filter("image-id", ids...)}, IncludeDeprecated: sdk.Bool(true),
	})
	if err != nil {
		return nil, failure(err, "image "+join(ids))
	}
	var images []Image
	for _, image := range out.Images {
		images = append(images, imageOf(image))
	}
	return images, nil
}

// CopyImage begins to copy an AMI of this region, encrypted, and returns the
// new AMI's id (1 CopyImage). An empty key is the account's default key.
func (c *Client) CopyImage(ctx context.Context, source, name, kmsKey string, tags Tags) (string, error) {
	input := &ec2.CopyImageInput{
		ClientToken:       newToken(),
		SourceImageId:     sdk.String(source),
		SourceRegion:      sdk.String(c.region),
		Name:              sdk.String(name),
		Encrypted:         sdk.Bool(true),
		KmsKeyId:          optional(kmsKey),
		TagSpecifications: tags.specification(types.ResourceTypeImage, types.ResourceTypeSnapshot),
	}
	duplicate := func() (string, error) {
		out, err := c.ec2.CopyImage(ctx, input)
		if err != nil {
			return "", failure(err, "image "+source)
		}
		if out.ImageId == nil {
			return "", incomplete("CopyImage", "image "+source)
		}
		return *out.ImageId, nil
	}
	return recovered(ctx, c, duplicate, func(ctx context.Context) (string, bool, error) { return c.imageNamed(ctx, name) })
}

// imageNamed returns the id of the account's AMI with a name.
func (c *Client) imageNamed(ctx context.Context, name string) (string, bool, error) {
	out, err := c.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{Owners: []string{"self"}, Filters: []types.Filter{filter("name", name)}})
	if err != nil {
		return "", false, failure(err, "")
	}
	for _, image := range out.Images {
		return sdk.ToString(image.ImageId), true, nil
	}
	return "", false, nil
}

// WaitImageCopied waits until an AMI that is a copy can be used (1
// DescribeImages for each poll).
func (c *Client) WaitImageCopied(ctx context.Context, id string) error {
	return c.wait(ctx, "CopyImage", "image "+id+" to be available", limitImageCopy, c.pollImage("CopyImage", id))
}

// pollImage asks whether an AMI can be used.
func (c *Client) pollImage(action, id string) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		images, err := c.Images(ctx, id)
		if err != nil || len(images) == 0 { // not visible yet
			return false, err
		}
		switch image := images[0]; image.State {
		case "available":
			return true, nil
		case "pending", "transient":
			return false, nil
		default:
			return false, &Error{Action: action, Resource: "image " + id, Code: "ImageState",
				Message: fmt.Sprintf("the image is in state %q instead of available: %s", image.State, orUnknown(image.Reason))}
		}
	}
}

// DeregisterImage deregisters an AMI (1 DeregisterImage).
func (c *Client) DeregisterImage(ctx context.Context, id string) error {
	_, err := c.ec2.DeregisterImage(ctx, &ec2.DeregisterImageInput{ImageId: sdk.String(id)})
	if err != nil {
		return failure(err, "image "+id)
	}
	return nil
}
