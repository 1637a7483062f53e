package aws

import (
	"context"
	"fmt"
	"net/netip"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// Subnet is a VPC's subnet.
type Subnet struct {
	ID               string
	VPC              string
	AvailabilityZone string
	Range            netip.Prefix
	state            types.SubnetState
}

// SubnetSpec describes a subnet to be made.
type SubnetSpec struct {
	VPC              string
	AvailabilityZone string
	Range            netip.Prefix
	Tags             Tags
}

func subnetOf(sent types.Subnet) Subnet {
	cidr, _ := netip.ParsePrefix(sdk.ToString(sent.CidrBlock))
	return Subnet{sdk.ToString(sent.SubnetId), sdk.ToString(sent.VpcId), sdk.ToString(sent.AvailabilityZone), cidr, sent.State}
}

// Subnets looks subnets up, all of which must be there (1 DescribeSubnets).
func (c *Client) Subnets(ctx context.Context, ids ...string) ([]Subnet, error) {
	out, err := c.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{SubnetIds: unique(ids)})
	if err != nil {
		return nil, failure(err, "subnet "+join(unique(ids)))
	}
	var subnets []Subnet
	for _, subnet := range out.Subnets {
		subnets = append(subnets, subnetOf(subnet))
	}
	if len(subnets) == 0 {
		return nil, &Error{Action: "DescribeSubnets", Resource: "subnet " + join(ids), Code: "InvalidSubnetID.NotFound", Message: "AWS shows no such subnet"}
	}
	return subnets, nil
}

// VPCRanges returns the IPv4 ranges of a VPC (1 DescribeVpcs) and those that
// its subnets take (1 DescribeSubnets).
func (c *Client) VPCRanges(ctx context.Context, vpc string) (all, taken []netip.Prefix, err error) {
	vpcs, err := c.ec2.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{VpcIds: []string{vpc}})
	if err != nil {
		return nil, nil, failure(err, "VPC "+vpc)
	}
	for _, found := range vpcs.Vpcs {
		for _, association := range found.CidrBlockAssociationSet {
			if cidr, err := netip.ParsePrefix(sdk.ToString(association.CidrBlock)); err == nil {
				all = append(all, cidr)
			}
		}
	}
	pages := ec2.NewDescribeSubnetsPaginator(c.ec2, &ec2.DescribeSubnetsInput{Filters: []types.Filter{filter("vpc-id", vpc)}})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, nil, failure(err, "subnets of VPC "+vpc)
		}
		for _, subnet := range page.Subnets {
			taken = append(taken, subnetOf(subnet).Range)
		}
	}
	return all, taken, nil
}

// CreateSubnet begins to make a subnet and returns its id (1 CreateSubnet).
func (c *Client) CreateSubnet(ctx context.Context, spec SubnetSpec) (string, error) {
	create := func() (string, error) {
		out, err := c.ec2.CreateSubnet(ctx, &ec2.CreateSubnetInput{
			VpcId:             sdk.String(spec.VPC),
			AvailabilityZone:  optional(spec.AvailabilityZone),
			CidrBlock:         sdk.String(spec.Range.String()),
			TagSpecifications: spec.Tags.specification(types.ResourceTypeSubnet),
		})
		if err != nil {
			return "", failure(err, "subnet "+spec.Range.String()+" of VPC "+spec.VPC)
		}
		if out.Subnet == nil || out.Subnet.SubnetId == nil {
			return "", incomplete("CreateSubnet", "subnet "+spec.Range.String()+" of VPC "+spec.VPC)
		}
		return *out.Subnet.SubnetId, nil
	}
	return once(ctx, c, create, func(ctx context.Context) (string, bool, error) {
		out, err := c.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{
			Filters: append(spec.Tags.filters(), filter("vpc-id", spec.VPC), filter("cidr-block", spec.Range.String())),
		})
		if err != nil {
			return "", false, failure(err, "")
		}
		for _, subnet := range out.Subnets {
			return sdk.ToString(subnet.SubnetId), true, nil
		}
		return "", false, nil
	})
}

// WaitSubnet waits until a subnet that this CPI call made is available (1
// DescribeSubnets for each poll).
func (c *Client) WaitSubnet(ctx context.Context, id string) error {
	return c.wait(ctx, "CreateSubnet", "subnet "+id+" to be available", limitSubnetAvailable, func(ctx context.Context) (bool, error) {
		var subnets []Subnet
		err := c.visible(ctx, "InvalidSubnetID.NotFound", func() (err error) {
			subnets, err = c.Subnets(ctx, id)
			return err
		})
		if err != nil {
			return false, err
		}
		state := subnets[0].state
		if strings.HasPrefix(string(state), "failed") {
			return false, &Error{Action: "CreateSubnet", Resource: "subnet " + id, Code: "SubnetState",
				Message: fmt.Sprintf("the subnet is in state %q instead of available", state)}
		}
		return state == types.SubnetStateAvailable, nil
	})
}

// AssociateRouteTable makes a subnet that this CPI call made use a route table
// (1 AssociateRouteTable). Deleting the subnet ends it.
func (c *Client) AssociateRouteTable(ctx context.Context, table, subnet string) error {
	associate := func() (bool, error) {
		_, err := c.ec2.AssociateRouteTable(ctx, &ec2.AssociateRouteTableInput{RouteTableId: sdk.String(table), SubnetId: sdk.String(subnet)})
		if err != nil {
			return false, failure(err, "route table "+table+" for subnet "+subnet)
		}
		return true, nil
	}
	find := func(ctx context.Context) (bool, bool, error) {
		out, err := c.ec2.DescribeRouteTables(ctx, &ec2.DescribeRouteTablesInput{
			RouteTableIds: []string{table}, Filters: []types.Filter{filter("association.subnet-id", subnet)},
		})
		if err != nil {
			return false, false, failure(err, "")
		}
		return true, len(out.RouteTables) > 0, nil
	}
	return c.visible(ctx, "InvalidSubnetID.NotFound", func() error {
		_, err := once(ctx, c, associate, find)
		return err
	})
}

// DeleteSubnet deletes a subnet (1 DeleteSubnet).
func (c *Client) DeleteSubnet(ctx context.Context, id string) error {
	_, err := c.ec2.DeleteSubnet(ctx, &ec2.DeleteSubnetInput{SubnetId: sdk.String(id)})
	if err != nil {
		return deleted(failure(err, "subnet "+id))
	}
	return nil
}

// DeleteNewSubnet deletes a subnet that this CPI call made.
func (c *Client) DeleteNewSubnet(ctx context.Context, id string) error {
	return c.visible(ctx, "InvalidSubnetID.NotFound", func() error { return c.DeleteSubnet(ctx, id) })
}
