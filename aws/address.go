package aws

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

// Address is an elastic IP.
type Address struct {
	IP           string
	AllocationID string
	// InterfaceID and PrivateIP are where it is now; empty when it is free.
	InterfaceID string
	PrivateIP   string
}

// Address looks an elastic IP up (1 DescribeAddresses). An unknown one is an
// *Error with code InvalidAddress.NotFound.
func (c *Client) Address(ctx context.Context, ip string) (Address, error) {
	out, err := c.ec2.DescribeAddresses(ctx, &ec2.DescribeAddressesInput{PublicIps: []string{ip}})
	if err != nil {
		return Address{}, failure(err, "elastic IP "+ip)
	}
	for _, found := range out.Addresses {
		return Address{ip, sdk.ToString(found.AllocationId), sdk.ToString(found.NetworkInterfaceId), sdk.ToString(found.PrivateIpAddress)}, nil
	}
	return Address{}, &Error{Action: "DescribeAddresses", Resource: "elastic IP " + ip, Code: "InvalidAddress.NotFound", Message: "the account has no such elastic IP in this region"}
}

// AssociateAddress puts an elastic IP on a network interface, wherever it was
// before (1 AssociateAddress). An empty privateIP is the interface's primary
// address.
func (c *Client) AssociateAddress(ctx context.Context, address Address, nic, privateIP string) error {
	associate := func() (bool, error) {
		_, err := c.ec2.AssociateAddress(ctx, &ec2.AssociateAddressInput{
			AllocationId:       sdk.String(address.AllocationID),
			NetworkInterfaceId: sdk.String(nic),
			PrivateIpAddress:   optional(privateIP),
			AllowReassociation: sdk.Bool(true),
		})
		if err != nil {
			return false, failure(err, "elastic IP "+address.IP+" to network interface "+nic)
		}
		return true, nil
	}
	_, err := once(ctx, c, associate, func(ctx context.Context) (bool, bool, error) {
		now, err := c.Address(ctx, address.IP)
		return true, now.InterfaceID == nic, err
	})
	return err
}
