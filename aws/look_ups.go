package aws

import (
	"context"
	"fmt"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// AvailableZones returns the names of the region's availability zones; local
// and wavelength zones are none (1 DescribeAvailabilityZones).
func (c *Client) AvailableZones(ctx context.Context) ([]string, error) {
	out, err := c.ec2.DescribeAvailabilityZones(ctx, &ec2.DescribeAvailabilityZonesInput{
		Filters: []types.Filter{filter("zone-type", "availability-zone"), filter("state", "available")},
	})
	if err != nil {
		return nil, failure(err, "region "+c.region)
	}
	var names []string
	for _, zone := range out.AvailabilityZones {
		names = append(names, sdk.ToString(zone.ZoneName))
	}
	if len(names) == 0 {
		return nil, &Error{Action: "DescribeAvailabilityZones", Resource: "region " + c.region, Message: "no availability zone is available"}
	}
	return names, nil
}

// SecurityGroupIDs returns the ids of security groups of a VPC, in the order of
// the given names (1 DescribeSecurityGroups). A name that is not there is an
// *Error with code InvalidGroup.NotFound.
func (c *Client) SecurityGroupIDs(ctx context.Context, vpc string, names []string) ([]string, error) {
	out, err := c.ec2.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{
		Filters: []types.Filter{filter("vpc-id", vpc), filter("group-name", names...)},
	})
	if err != nil {
		return nil, failure(err, "security group "+join(names))
	}
	byName := map[string]string{}
	for _, group := range out.SecurityGroups {
		byName[sdk.ToString(group.GroupName)] = sdk.ToString(group.GroupId)
	}
	var ids, missing []string
	for _, name := range names {
		if id, found := byName[name]; found {
			ids = append(ids, id)
		} else {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return nil, &Error{
			Action: "DescribeSecurityGroups", Resource: "security group " + join(missing), Code: "InvalidGroup.NotFound",
			Message: fmt.Sprintf("VPC %s has no security group of that name", vpc),
		}
	}
	return ids, nil
}
