package aws

import (
	"context"
	"net/netip"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// Route leads a destination of a route table to one target. Its zero value is
// no route.
type Route struct {
	Table       string
	Destination netip.Prefix
	target      types.Route
}

// To returns the route to a network interface.
func (r Route) To(nic string) Route {
	r.target = types.Route{NetworkInterfaceId: sdk.String(nic)}
	return r
}

// Routes returns the routes that exist for the given ones, table and
// destination alike; a missing one has the zero value (1 DescribeRouteTables
// for all). An unknown table is an *Error with code InvalidRouteTableID.NotFound.
func (c *Client) Routes(ctx context.Context, wanted []Route) ([]Route, error) {
	var tables []string
	for _, route := range wanted {
		tables = append(tables, route.Table)
	}
	out, err := c.ec2.DescribeRouteTables(ctx, &ec2.DescribeRouteTablesInput{RouteTableIds: unique(tables)})
	if err != nil {
		return nil, failure(err, "route table "+join(unique(tables)))
	}
	existing := make([]Route, len(wanted))
	for _, table := range out.RouteTables {
		for _, found := range table.Routes {
			for i, route := range wanted {
				if sdk.ToString(table.RouteTableId) == route.Table && destination(found) == route.Destination {
					existing[i] = Route{route.Table, route.Destination, found}
				}
			}
		}
	}
	return existing, nil
}

func destination(route types.Route) netip.Prefix {
	text := sdk.ToString(route.DestinationCidrBlock)
	if text == "" {
		text = sdk.ToString(route.DestinationIpv6CidrBlock)
	}
	prefix, _ := netip.ParsePrefix(text)
	return prefix
}

// CreateRoute makes a route (1 CreateRoute).
func (c *Client) CreateRoute(ctx context.Context, route Route) error {
	create := func() (bool, error) {
		ipv4, ipv6 := route.destinations()
		_, err := c.ec2.CreateRoute(ctx, &ec2.CreateRouteInput{
			RouteTableId: sdk.String(route.Table), DestinationCidrBlock: ipv4, DestinationIpv6CidrBlock: ipv6,
			NetworkInterfaceId: route.target.NetworkInterfaceId,
		})
		if err != nil {
			return false, failure(err, route.Label())
		}
		return true, nil
	}
	_, err := once(ctx, c, create, func(ctx context.Context) (bool, bool, error) {
		found, err := c.Routes(ctx, []Route{route})
		return true, err == nil && sdk.ToString(found[0].target.NetworkInterfaceId) == sdk.ToString(route.target.NetworkInterfaceId), err
	})
	return err
}

// ReplaceRoute gives a route that exists the target of another one (1
// ReplaceRoute).
func (c *Client) ReplaceRoute(ctx context.Context, route Route) error {
	ipv4, ipv6 := route.destinations()
	target := route.target
	input := &ec2.ReplaceRouteInput{
		RouteTableId: sdk.String(route.Table), DestinationCidrBlock: ipv4, DestinationIpv6CidrBlock: ipv6,
		CarrierGatewayId: target.CarrierGatewayId, CoreNetworkArn: target.CoreNetworkArn,
		EgressOnlyInternetGatewayId: target.EgressOnlyInternetGatewayId, GatewayId: target.GatewayId,
		LocalGatewayId: target.LocalGatewayId, NatGatewayId: target.NatGatewayId,
		NetworkInterfaceId: target.NetworkInterfaceId, TransitGatewayId: target.TransitGatewayId,
		VpcPeeringConnectionId: target.VpcPeeringConnectionId,
	}
	if target.NetworkInterfaceId == nil { // EC2 shows both for an instance, and takes one
		input.InstanceId = target.InstanceId
	}
	if _, err := c.ec2.ReplaceRoute(ctx, input); err != nil {
		return failure(err, route.Label())
	}
	return nil
}

// DeleteRoute deletes a route (1 DeleteRoute).
func (c *Client) DeleteRoute(ctx context.Context, route Route) error {
	ipv4, ipv6 := route.destinations()
	_, err := c.ec2.DeleteRoute(ctx, &ec2.DeleteRouteInput{
		RouteTableId: sdk.String(route.Table), DestinationCidrBlock: ipv4, DestinationIpv6CidrBlock: ipv6,
	})
	if err != nil && !HasCode(err, "InvalidRoute.NotFound") {
		return failure(err, route.Label())
	}
	return nil
}

// destinations puts the destination into the field of its family.
func (r Route) destinations() (ipv4, ipv6 *string) {
	if r.Destination.Addr().Is4() {
		return sdk.String(r.Destination.String()), nil
	}
	return nil, sdk.String(r.Destination.String())
}

// Label names the route for people.
func (r Route) Label() string {
	return "route " + r.Destination.String() + " of route table " + r.Table
}

func unique(all []string) []string {
	var once []string
	seen := map[string]bool{}
	for _, one := range all {
		if !seen[one] {
			seen[one] = true
			once = append(once, one)
		}
	}
	return once
}
