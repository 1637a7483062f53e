package aws

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// InterfaceSpec describes a network interface to be made.
type InterfaceSpec struct {
	Subnet string
	Groups []string // security group ids
	// IPv4 and IPv6 are addresses; EC2 chooses an IPv4 address when it is empty.
	IPv4, IPv6 string
	// PublicIP asks for a public IPv4 address that EC2 chooses. It is honoured
	// by Launch; see SetPublicIP for an interface that exists.
	PublicIP bool
	Tags     Tags
}

// Interface is an elastic network interface.
type Interface struct {
	ID               string
	MAC              string
	AvailabilityZone string
	Status           string
	InstanceID       string // the instance that has it; empty when none
}

const interfaceAvailable = "available"

func interfaceOf(sent types.NetworkInterface) Interface {
	nic := Interface{
		ID:               sdk.ToString(sent.NetworkInterfaceId),
		MAC:              sdk.ToString(sent.MacAddress),
		AvailabilityZone: sdk.ToString(sent.AvailabilityZone),
		Status:           string(sent.Status),
	}
	if sent.Attachment != nil {
		nic.InstanceID = sdk.ToString(sent.Attachment.InstanceId)
	}
	return nic
}

// CreateInterface begins to make a network interface (1 CreateNetworkInterface).
func (c *Client) CreateInterface(ctx context.Context, spec InterfaceSpec) (Interface, error) {
	token := newToken()
	// By its description the interface is told from its siblings, which have the
	// same tags, when the answer is lost.
	description := "BOSH " + *token
	input := &ec2.CreateNetworkInterfaceInput{
		ClientToken:       token,
		SubnetId:          sdk.String(spec.Subnet),
		Groups:            spec.Groups,
		PrivateIpAddress:  optional(spec.IPv4),
		Description:       sdk.String(description),
		TagSpecifications: spec.Tags.specification(types.ResourceTypeNetworkInterface),
	}
	if spec.IPv6 != "" {
		input.Ipv6Addresses = []types.InstanceIpv6Address{{Ipv6Address: sdk.String(spec.IPv6)}}
	}
	create := func() (Interface, error) {
		out, err := c.ec2.CreateNetworkInterface(ctx, input)
		if err != nil {
			return Interface{}, failure(err, "subnet "+spec.Subnet)
		}
		if out.NetworkInterface == nil || out.NetworkInterface.NetworkInterfaceId == nil {
			return Interface{}, incomplete("CreateNetworkInterface", "subnet "+spec.Subnet)
		}
		return interfaceOf(*out.NetworkInterface), nil
	}
	return recovered(ctx, c, create, func(ctx context.Context) (Interface, bool, error) {
		return c.findInterface(ctx, filter("description", description))
	})
}

func (c *Client) findInterface(ctx context.Context, filters ...types.Filter) (Interface, bool, error) {
	out, err := c.ec2.DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{Filters: filters})
	if err != nil {
		return Interface{}, false, failure(err, "network interface")
	}
	for _, nic := range out.NetworkInterfaces {
		return interfaceOf(nic), true, nil
	}
	return Interface{}, false, nil
}

// WaitInterfaces waits until network interfaces that this CPI call made can be
// attached (1 DescribeNetworkInterfaces for each poll, for all of them).
func (c *Client) WaitInterfaces(ctx context.Context, ids ...string) error {
	what := "network interface " + join(ids) + " to be available"
	return c.wait(ctx, "CreateNetworkInterface", what, limitNetworkInterface, func(ctx context.Context) (bool, error) {
		ready := true
		err := c.visible(ctx, "InvalidNetworkInterfaceID.NotFound", func() error {
			out, err := c.ec2.DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: ids})
			if err != nil {
				return failure(err, "network interface "+join(ids))
			}
			ready = len(out.NetworkInterfaces) == len(ids)
			for _, nic := range out.NetworkInterfaces {
				ready = ready && string(nic.Status) == interfaceAvailable
			}
			return nil
		})
		return ready, err
	})
}

// AssignPrefix delegates a prefix (a /28 of IPv4, a /80 of IPv6) to a network
// interface (1 AssignPrivateIpAddresses or AssignIpv6Addresses). It cannot be
// part of making the interface: EC2 refuses an IPv6 address and a prefix in one
// call.
func (c *Client) AssignPrefix(ctx context.Context, nic string, prefix netip.Prefix) error {
	assign := func() (bool, error) {
		err := c.visible(ctx, "InvalidNetworkInterfaceID.NotFound", func() error {
			var err error
			if prefix.Addr().Is4() {
				_, err = c.ec2.AssignPrivateIpAddresses(ctx, &ec2.AssignPrivateIpAddressesInput{
					NetworkInterfaceId: sdk.String(nic), Ipv4Prefixes: []string{prefix.String()}})
			} else {
				_, err = c.ec2.AssignIpv6Addresses(ctx, &ec2.AssignIpv6AddressesInput{
					NetworkInterfaceId: sdk.String(nic), Ipv6Prefixes: []string{prefix.String()}})
			}
			if err != nil {
				return failure(err, fmt.Sprintf("prefix %s to network interface %s", prefix, nic))
			}
			return nil
		})
		return err == nil, err
	}
	_, err := once(ctx, c, assign, func(ctx context.Context) (bool, bool, error) {
		return c.hasPrefix(ctx, nic, prefix)
	})
	return err
}

func (c *Client) hasPrefix(ctx context.Context, id string, prefix netip.Prefix) (bool, bool, error) {
	out, err := c.ec2.DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{id}})
	if err != nil {
		return false, false, failure(err, "network interface "+id)
	}
	for _, nic := range out.NetworkInterfaces {
		for _, has := range nic.Ipv4Prefixes {
			if sdk.ToString(has.Ipv4Prefix) == prefix.String() {
				return true, true, nil
			}
		}
		for _, has := range nic.Ipv6Prefixes {
			if sdk.ToString(has.Ipv6Prefix) == prefix.String() {
				return true, true, nil
			}
		}
	}
	return false, false, nil
}

// SetDeleteOnTermination makes an attached interface go with its instance (1
// ModifyNetworkInterfaceAttribute). RunInstances cannot do it for an interface
// that exists.
func (c *Client) SetDeleteOnTermination(ctx context.Context, nic AttachedInterface) error {
	return c.modifyInterface(ctx, &ec2.ModifyNetworkInterfaceAttributeInput{
		NetworkInterfaceId: sdk.String(nic.ID),
		Attachment: &types.NetworkInterfaceAttachmentChanges{
			AttachmentId: sdk.String(nic.AttachmentID), DeleteOnTermination: sdk.Bool(true),
		},
	})
}

// DisableSourceDestCheck lets an interface pass on what is not addressed to it
// (1 ModifyNetworkInterfaceAttribute, which takes one attribute a call).
func (c *Client) DisableSourceDestCheck(ctx context.Context, nic string) error {
	return c.modifyInterface(ctx, &ec2.ModifyNetworkInterfaceAttributeInput{
		NetworkInterfaceId: sdk.String(nic),
		SourceDestCheck:    &types.AttributeBooleanValue{Value: sdk.Bool(false)},
	})
}

// SetPublicIP lets EC2 give an interface that exists a public IPv4 address when
// it becomes an instance's primary one (1 ModifyNetworkInterfaceAttribute).
func (c *Client) SetPublicIP(ctx context.Context, nic string) error {
	return c.modifyInterface(ctx, &ec2.ModifyNetworkInterfaceAttributeInput{
		NetworkInterfaceId: sdk.String(nic), AssociatePublicIpAddress: sdk.Bool(true),
	})
}

func (c *Client) modifyInterface(ctx context.Context, input *ec2.ModifyNetworkInterfaceAttributeInput) error {
	return c.visible(ctx, "InvalidNetworkInterfaceID.NotFound", func() error {
		_, err := c.ec2.ModifyNetworkInterfaceAttribute(ctx, input)
		if err != nil {
			return failure(err, "network interface "+sdk.ToString(input.NetworkInterfaceId))
		}
		return nil
	})
}

// DeleteInterface deletes a network interface that this CPI call made (1
// DeleteNetworkInterface). One that is still being detached is waited for; one
// that is gone is a success.
func (c *Client) DeleteInterface(ctx context.Context, id string) error {
	deadline := time.Now().Add(c.timing.scaled(limitNetworkInterface))
	for {
		_, err := c.ec2.DeleteNetworkInterface(ctx, &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: sdk.String(id)})
		if err == nil || HasCode(err, "InvalidNetworkInterfaceID.NotFound") {
			return nil
		}
		inUse := HasCode(err, "InvalidNetworkInterface.InUse", "InvalidParameterValue", "InvalidNetworkInterfaceID.InUse")
		if !inUse || time.Now().After(deadline) {
			return failure(err, "network interface "+id)
		}
		if sleepErr := c.sleep(ctx, c.timing.scaled(jitter(time.Second))); sleepErr != nil {
			return failure(err, "network interface "+id)
		}
	}
}

// AddressHolder returns the interface that has a private address of a subnet;
// false when none has (1 DescribeNetworkInterfaces).
func (c *Client) AddressHolder(ctx context.Context, subnet, address string) (Interface, bool, error) {
	by := "addresses.private-ip-address"
	if parsed, err := netip.ParseAddr(address); err == nil && parsed.Is6() {
		by = "ipv6-addresses.ipv6-address"
	}
	return c.findInterface(ctx, filter("subnet-id", subnet), filter(by, address))
}

// WaitAddressFree waits until no interface has a private address of a subnet (1
// DescribeNetworkInterfaces for each poll).
func (c *Client) WaitAddressFree(ctx context.Context, subnet, address string) error {
	what := "address " + address + " of subnet " + subnet + " to be free"
	return c.wait(ctx, "DescribeNetworkInterfaces", what, limitInstanceTerminated, func(ctx context.Context) (bool, error) {
		_, held, err := c.AddressHolder(ctx, subnet, address)
		return err == nil && !held, err
	})
}

// OnNewInterface makes a call that leads something to a network interface of an
// instance that this CPI call launched. Not every part of EC2 knows it at once.
func (c *Client) OnNewInterface(ctx context.Context, call func() error) error {
	return c.visible(ctx, "InvalidNetworkInterfaceID.NotFound", call)
}
