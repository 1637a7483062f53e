package aws

import (
	"context"
	"encoding/base64"
	"strings"
	"time"

	"crypto/rand"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// Launch describes an instance to be made.
type Launch struct {
	ImageID          string
	InstanceType     string
	AvailabilityZone string
	KeyName          string
	// InstanceProfile is a name or an ARN.
	InstanceProfile string
	PlacementGroup  string
	Tenancy         string
	// UserData is what the instance reads, before the encoding that EC2 wants.
	UserData []byte
	Mappings []Mapping
	// Interface is made by the launch itself; Interfaces are ids of ones that
	// exist, the primary one first. One of the two is given.
	Interface  *InterfaceSpec
	Interfaces []string
	Metadata   *MetadataOptions
	// Spot makes it a spot launch; MaxPrice is in USD an hour.
	Spot     bool
	MaxPrice string
	// Tags go on the instance and on the volumes and the interface that the
	// launch makes.
	Tags Tags
}

// Mapping is a block device of a launch: an EBS volume or, with VirtualName, an
// instance store disk.
type Mapping struct {
	Device      string
	VirtualName string
	Volume      VolumeSpec
}

// MetadataOptions are the options of the instance metadata service, in the
// keys of ModifyInstanceMetadataOptions.
type MetadataOptions struct {
	HTTPEndpoint         *string `json:"http_endpoint,omitempty"`
	HTTPProtocolIPv6     *string `json:"http_protocol_ipv6,omitempty"`
	HTTPPutHopLimit      *int32  `json:"http_put_response_hop_limit,omitempty"`
	HTTPTokens           *string `json:"http_tokens,omitempty"`
	InstanceMetadataTags *string `json:"instance_metadata_tags,omitempty"`
}

// Launch makes an instance (1 RunInstances) and returns it as it is at its
// birth, pending. Retries and a lost answer make no second one.
func (c *Client) Launch(ctx context.Context, launch Launch) (Instance, error) {
	input := launch.input()
	run := func() (made Instance, err error) {
		// Interfaces made for this launch may not be visible to it yet.
		err = c.visible(ctx, "InvalidNetworkInterfaceID.NotFound", func() error {
			out, err := c.ec2.RunInstances(ctx, input)
			if err != nil {
				return failure(err, "instance type "+launch.InstanceType)
			}
			if len(out.Instances) == 0 || out.Instances[0].InstanceId == nil {
				return incomplete("RunInstances", "instance type "+launch.InstanceType)
			}
			made = instanceOf(out.Instances[0])
			return nil
		})
		return made, err
	}
	return recovered(ctx, c, run, func(ctx context.Context) (Instance, bool, error) {
		return c.instanceOfToken(ctx, sdk.ToString(input.ClientToken))
	})
}

// instanceOfToken finds the instance that a launch with a token made.
func (c *Client) instanceOfToken(ctx context.Context, token string) (Instance, bool, error) {
	out, err := c.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{
		Filters: []types.Filter{filter("client-token", token)},
	})
	if err != nil {
		return Instance{}, false, failure(err, "")
	}
	for _, reservation := range out.Reservations {
		for _, instance := range reservation.Instances {
			return instanceOf(instance), true, nil
		}
	}
	return Instance{}, false, nil
}

func (l Launch) input() *ec2.RunInstancesInput {
	input := &ec2.RunInstancesInput{
		ClientToken:       newToken(),
		ImageId:           sdk.String(l.ImageID),
		InstanceType:      types.InstanceType(l.InstanceType),
		MinCount:          sdk.Int32(1),
		MaxCount:          sdk.Int32(1),
		KeyName:           optional(l.KeyName),
		UserData:          sdk.String(base64.StdEncoding.EncodeToString(l.UserData)),
		Placement:         &types.Placement{AvailabilityZone: sdk.String(l.AvailabilityZone), GroupName: optional(l.PlacementGroup), Tenancy: types.Tenancy(l.Tenancy)},
		MetadataOptions:   l.Metadata.request(),
		TagSpecifications: l.tagSpecifications(),
	}
	if strings.HasPrefix(l.InstanceProfile, "arn:") {
		input.IamInstanceProfile = &types.IamInstanceProfileSpecification{Arn: sdk.String(l.InstanceProfile)}
	} else if l.InstanceProfile != "" {
		input.IamInstanceProfile = &types.IamInstanceProfileSpecification{Name: sdk.String(l.InstanceProfile)}
	}
	for _, mapping := range l.Mappings {
		input.BlockDeviceMappings = append(input.BlockDeviceMappings, mapping.request())
	}
	if l.Spot {
		input.InstanceMarketOptions = &types.InstanceMarketOptionsRequest{
			MarketType: types.MarketTypeSpot,
			SpotOptions: &types.SpotMarketOptions{
				MaxPrice:                     optional(l.MaxPrice),
				SpotInstanceType:             types.SpotInstanceTypeOneTime,
				InstanceInterruptionBehavior: types.InstanceInterruptionBehaviorTerminate,
			},
		}
	}
	input.NetworkInterfaces = l.interfaces()
	return input
}

func (l Launch) tagSpecifications() []types.TagSpecification {
	kinds := []types.ResourceType{types.ResourceTypeInstance, types.ResourceTypeVolume}
	if l.Interface != nil {
		kinds = append(kinds, types.ResourceTypeNetworkInterface)
	}
	if l.Spot {
		kinds = append(kinds, types.ResourceTypeSpotInstancesRequest)
	}
	return l.Tags.specification(kinds...)
}

func (l Launch) interfaces() []types.InstanceNetworkInterfaceSpecification {
	if l.Interface != nil {
		spec := types.InstanceNetworkInterfaceSpecification{
			DeviceIndex:         sdk.Int32(0),
			SubnetId:            sdk.String(l.Interface.Subnet),
			Groups:              l.Interface.Groups,
			PrivateIpAddress:    optional(l.Interface.IPv4),
			DeleteOnTermination: sdk.Bool(true),
		}
		if l.Interface.IPv6 != "" {
			spec.Ipv6Addresses = []types.InstanceIpv6Address{{Ipv6Address: sdk.String(l.Interface.IPv6)}}
		}
		if l.Interface.PublicIP {
			spec.AssociatePublicIpAddress = sdk.Bool(true)
		}
		return []types.InstanceNetworkInterfaceSpecification{spec}
	}
	var all []types.InstanceNetworkInterfaceSpecification
	for i, id := range l.Interfaces {
		all = append(all, types.InstanceNetworkInterfaceSpecification{DeviceIndex: sdk.Int32(int32(i)), NetworkInterfaceId: sdk.String(id)})
	}
	return all
}

func (m Mapping) request() types.BlockDeviceMapping {
	if m.VirtualName != "" {
		return types.BlockDeviceMapping{DeviceName: sdk.String(m.Device), VirtualName: sdk.String(m.VirtualName)}
	}
	return types.BlockDeviceMapping{
		DeviceName: sdk.String(m.Device),
		Ebs: &types.EbsBlockDevice{
			DeleteOnTermination: sdk.Bool(true),
			VolumeSize:          positive(m.Volume.SizeGiB),
			VolumeType:          types.VolumeType(m.Volume.Type),
			Iops:                positive(m.Volume.IOPS),
			Throughput:          positive(m.Volume.Throughput),
			Encrypted:           encryptedOnly(m.Volume.Encrypted),
			KmsKeyId:            optional(m.Volume.KMSKey),
		},
	}
}

// encryptedOnly leaves a false out: EC2 refuses `Encrypted` = false for a
// volume whose snapshot is encrypted, and false is the default for any other.
func encryptedOnly(encrypted bool) *bool {
	if !encrypted {
		return nil
	}
	return sdk.Bool(true)
}

func (m *MetadataOptions) request() *types.InstanceMetadataOptionsRequest {
	if m == nil {
		return nil
	}
	return &types.InstanceMetadataOptionsRequest{
		HttpEndpoint:            types.InstanceMetadataEndpointState(sdk.ToString(m.HTTPEndpoint)),
		HttpProtocolIpv6:        types.InstanceMetadataProtocolState(sdk.ToString(m.HTTPProtocolIPv6)),
		HttpPutResponseHopLimit: m.HTTPPutHopLimit,
		HttpTokens:              types.HttpTokensState(sdk.ToString(m.HTTPTokens)),
		InstanceMetadataTags:    types.InstanceMetadataTagsState(sdk.ToString(m.InstanceMetadataTags)),
	}
}

// newToken makes a ClientToken: AWS takes 64 ASCII characters at most.
func newToken() *string { return sdk.String("bosh-" + rand.Text()) }

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return sdk.String(text)
}

func positive(number int32) *int32 {
	if number == 0 {
		return nil
	}
	return sdk.Int32(number)
}

func filter(name string, values ...string) types.Filter {
	return types.Filter{Name: sdk.String(name), Values: values}
}

// recently is how far a resource's creation time may lie before the begin of
// the call that made it: clocks differ.
const recently = 5 * time.Minute
