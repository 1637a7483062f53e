package action

import (
	"context"
	"net/netip"

	"bosh-aws-cpi/cpi"
)

type createNetworkArguments struct {
	Definition cpi.Object `cpi:"subnet_definition"`
}

// networkDefinition is what the Director knows of a network to be made.
type networkDefinition struct {
	Type            string     `json:"type"`
	CloudProperties cpi.Object `json:"cloud_properties"`
	Range           string     `json:"range"`
	Gateway         string     `json:"gateway"`
	NetmaskBits     int        `json:"netmask_bits"`
}

// createNetworkProperties are the cloud properties of a network to be made.
type createNetworkProperties struct {
	VPC              string     `json:"vpc"`
	AvailabilityZone string     `json:"availability_zone"`
	RouteTable       string     `json:"route_table"`
	Tags             cpi.Object `json:"tags"`
	SecurityGroups   []string   `json:"security_groups"`
}

type networkAddresses struct {
	Range    string   `json:"range"`
	Gateway  string   `json:"gateway"`
	Reserved []string `json:"reserved"`
}

type networkProperties struct {
	Subnet         string   `json:"subnet"`
	SecurityGroups []string `json:"security_groups,omitempty"`
}

// createNetwork makes a subnet of a VPC (CreateSubnet, DescribeSubnets;
// AssociateRouteTable with a route table). When the Director names a size
// instead of a range, the first free range of the VPC is taken (DescribeVpcs,
// DescribeSubnets).
type createNetwork struct{}

func (createNetwork) run(ctx context.Context, s *session, arguments createNetworkArguments) (any, error) {
	definition, properties, err := readNetwork(s.Method, arguments.Definition)
	if err != nil {
		return nil, err
	}
	block, err := s.networkRange(ctx, definition, properties.VPC)
	if err != nil {
		return nil, err
	}
	addresses, err := addressPlan(s.Method, block, definition.Gateway)
	if err != nil {
		return nil, err
	}
	subnet, err := s.makeSubnet(ctx, block, properties)
	if err != nil {
		return nil, err
	}
	return []any{subnet, addresses, networkProperties{subnet, properties.SecurityGroups}}, nil
}

// readNetwork reads and checks what can be checked without asking AWS.
func readNetwork(method string, sent cpi.Object) (definition networkDefinition, properties createNetworkProperties, err error) {
	if err := decodeProperties(method, "subnet_definition", sent, &definition); err != nil {
		return definition, properties, err
	}
	if err := decodeProperties(method, "cloud_properties", definition.CloudProperties, &properties); err != nil {
		return definition, properties, err
	}
	switch {
	case definition.Type != "" && definition.Type != manualNetwork:
		err = invalid(method, "type: only manual networks can be made, got %q", definition.Type)
	case properties.VPC == "":
		err = invalid(method, "cloud_properties.vpc is missing: it names the VPC in which the subnet is made")
	case properties.AvailabilityZone == "":
		err = invalid(method, "cloud_properties.availability_zone is missing: a subnet lies in one zone")
	case definition.Range == "" && definition.NetmaskBits == 0:
		err = invalid(method, "range and netmask_bits are missing: one of them is needed")
	}
	return definition, properties, err
}

// The sizes of a subnet that EC2 takes (VPC User Guide, "Subnet sizing").
const (
	largestSubnetBits  = 16
	smallestSubnetBits = 28
)

func (s *session) networkRange(ctx context.Context, definition networkDefinition, vpc string) (netip.Prefix, error) {
	if definition.Range != "" {
		block, err := netip.ParsePrefix(definition.Range)
		if err != nil || !block.Addr().Is4() || block != block.Masked() {
			return block, invalid(s.Method, "range: expected an IPv4 range such as 10.0.16.0/24, got %q", definition.Range)
		}
		return block, checkSubnetBits(s.Method, "range", block.Bits())
	}
	if err := checkSubnetBits(s.Method, "netmask_bits", definition.NetmaskBits); err != nil {
		return netip.Prefix{}, err
	}
	all, taken, err := s.aws.VPCRanges(ctx, vpc)
	if err != nil {
		return netip.Prefix{}, err
	}
	for _, whole := range all {
		if block, found := freeBlock(whole, taken, definition.NetmaskBits); found {
			return block, nil
		}
	}
	return netip.Prefix{}, invalid(s.Method, "VPC %s has no free range of /%d left; name a range, or add a CIDR block to the VPC", vpc, definition.NetmaskBits)
}

func checkSubnetBits(method, key string, bits int) error {
	if bits < largestSubnetBits || bits > smallestSubnetBits {
		return invalid(method, "%s: expected a size of /%d to /%d, got /%d", key, largestSubnetBits, smallestSubnetBits, bits)
	}
	return nil
}

// makeSubnet makes a subnet and gives it its route table.
func (s *session) makeSubnet(ctx context.Context, block netip.Prefix, properties createNetworkProperties) (string, error) {
	subnet, err := s.aws.CreateSubnet(ctx, subnetSpec(s, block, properties))
	if err != nil {
		return "", err
	}
	made := undo{s: s}
	made.add("subnet "+subnet, func(ctx context.Context) error { return s.aws.DeleteNewSubnet(ctx, subnet) })
	if err := s.aws.WaitSubnet(ctx, subnet); err != nil {
		return "", made.run(ctx, err)
	}
	if properties.RouteTable == "" {
		return subnet, nil
	}
	if err := s.aws.AssociateRouteTable(ctx, properties.RouteTable, subnet); err != nil {
		return "", made.run(ctx, err)
	}
	return subnet, nil
}
