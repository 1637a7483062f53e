package aws

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// ImageSpec describes an AMI to be made of a snapshot.
type ImageSpec struct {
	// Name is unique: by it the AMI is found when RegisterImage's answer is lost.
	Name         string
	Description  string
	Snapshot     string
	RootDevice   string
	Architecture string // x86_64 or arm64
	BootMode     string
	Tags         Tags
}

// RegisterImage makes an AMI of a snapshot and returns its id (1 RegisterImage).
// The root volume is gp3 and goes with its instance; what the snapshot decides,
// its encryption and key, EC2 refuses to be told again.
func (c *Client) RegisterImage(ctx context.Context, spec ImageSpec) (string, error) {
	input := &ec2.RegisterImageInput{
		Name:               sdk.String(spec.Name),
		Description:        optional(spec.Description),
		Architecture:       types.ArchitectureValues(spec.Architecture),
		BootMode:           types.BootModeValues(spec.BootMode),
		VirtualizationType: sdk.String("hvm"),
		EnaSupport:         sdk.Bool(true),
		SriovNetSupport:    sdk.String("simple"),
		RootDeviceName:     sdk.String(spec.RootDevice),
		BlockDeviceMappings: []types.BlockDeviceMapping{{
			DeviceName: sdk.String(spec.RootDevice),
			Ebs: &types.EbsBlockDevice{
				SnapshotId: sdk.String(spec.Snapshot), VolumeType: types.VolumeTypeGp3, DeleteOnTermination: sdk.Bool(true),
			},
		}},
		TagSpecifications: spec.Tags.specification(types.ResourceTypeImage),
	}
	register := func() (string, error) {
		var id string
		err := c.visible(ctx, "InvalidSnapshot.NotFound", func() error {
			out, err := c.ec2.RegisterImage(ctx, input)
			if err != nil {
				return failure(err, "snapshot "+spec.Snapshot)
			}
			if out.ImageId == nil {
				return incomplete("RegisterImage", "snapshot "+spec.Snapshot)
			}
			id = *out.ImageId
			return nil
		})
		return id, err
	}
	find := func(ctx context.Context) (string, bool, error) { return c.imageNamed(ctx, spec.Name) }
	id, err := once(ctx, c, register, find)
	if HasCode(err, "InvalidAMIName.Duplicate") {
		// A try whose answer was lost has made it, and shows only now.
		if made, found, findErr := find(ctx); findErr == nil && found {
			return made, nil
		}
	}
	return id, err
}

// WaitImageRegistered waits until an AMI that was registered can be used (1
// DescribeImages for each poll).
func (c *Client) WaitImageRegistered(ctx context.Context, id string) error {
	return c.waitFromNow(ctx, "RegisterImage", "image "+id+" to be available", limitImageRegistered, c.pollImage("RegisterImage", id))
}
