package emulator

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"

	"bosh-aws-cpi/integration/emulator/query"
)

// Account is what an operator has made before a CPI comes: the network, an
// image, names and addresses to use.
type Account struct {
	Region          string
	VPC             string
	CIDR            string // of the VPC
	IPv6CIDR        string // of the VPC, a /56
	Subnets         [2]Subnet
	Groups          [2]Group
	Image           string // x86_64, root device ImageRootName of ImageRootGiB
	RootDevice      string
	KeyName         string
	ElasticIP       Address
	TargetGroup     TargetGroup
	LoadBalancer    string // a classic one, by name
	Gateway         string // internet gateway
	RouteTable      string // of the VPC, with a default route to Gateway; no subnet uses it
	InstanceProfile string
}

// Subnet is one of the account's subnets; each is in a zone of its own.
type Subnet struct{ ID, Zone, CIDR, IPv6CIDR string }

// Group is a security group.
type Group struct{ ID, Name string }

// Address is an elastic IP.
type Address struct{ IP, AllocationID string }

// TargetGroup is one of an application load balancer.
type TargetGroup struct{ Name, ARN string }

// IP is the n-th address of the subnet; 0 to 3 are AWS's own.
func (s Subnet) IP(n int) string { return nth(s.CIDR, n) }

// IPv6 is the n-th IPv6 address of the subnet.
func (s Subnet) IPv6(n int) string { return nth(s.IPv6CIDR, n) }

// Gateway is the router's address, the first of the subnet.
func (s Subnet) Gateway() string { return s.IP(1) }

// Netmask of the IPv4 range.
func (s Subnet) Netmask() string { return subnetMask }

func nth(cidr string, n int) string {
	prefix, err := netip.ParsePrefix(cidr)
	if err != nil {
		return ""
	}
	address := prefix.Addr().AsSlice()
	for i := len(address) - 1; i >= 0 && n > 0; i-- {
		n += int(address[i])
		address[i] = byte(n)
		n >>= 8
	}
	sum, _ := netip.AddrFromSlice(address)
	return sum.String()
}

// The subnets are large enough for a fleet.
const (
	vpcRange   = "10.0.0.0/16"
	subnetMask = "255.255.240.0"
)

var subnetRanges = [2]string{"10.0.0.0/20", "10.0.16.0/20"}

// NewAccount makes the basics in one region (default: the one of Start).
func (e *Emulator) NewAccount(ctx context.Context, region string) (Account, error) {
	if region == "" {
		region = e.region
	}
	m := &maker{ctx: ctx, client: e.query(region)}
	account := Account{Region: region, CIDR: vpcRange, Image: ImageX86, RootDevice: ImageRootName}
	m.network(&account)
	// The rest depends on the network at most, and not on each other. moto
	// works on one request at a time: side by side would win nothing.
	m.groups(&account)
	m.routes(&account)
	m.names(&account)
	m.balancers(&account)
	if m.err != nil {
		return Account{}, fmt.Errorf("making the basics of the account: %w", m.err)
	}
	return account, nil
}

// maker calls until the first error.
type maker struct {
	ctx    context.Context
	client query.Client
	err    error
}

func (m *maker) do(service, action string, params ...string) *query.Node {
	if m.err != nil {
		return nil
	}
	answer, err := m.client.Do(m.ctx, service, action, params...)
	m.err = err
	return answer
}

func (m *maker) network(account *Account) {
	vpc := m.do(query.EC2, "CreateVpc", "CidrBlock", vpcRange, "AmazonProvidedIpv6CidrBlock", "true")
	account.VPC = vpc.Value("vpc/vpcId")
	account.IPv6CIDR = vpc.Value("vpc/ipv6CidrBlockAssociationSet/item/ipv6CidrBlock")
	wide, err := netip.ParsePrefix(account.IPv6CIDR)
	if err != nil {
		m.err = errors.Join(m.err, err)
		return
	}
	for i := range account.Subnets {
		bytes := wide.Addr().As16()
		bytes[7] = byte(i) // the 64th bit is the last of the subnet's number
		subnet := Subnet{
			Zone:     account.Region + string(rune('a'+i)),
			CIDR:     subnetRanges[i],
			IPv6CIDR: netip.PrefixFrom(netip.AddrFrom16(bytes), 64).String(),
		}
		subnet.ID = m.do(query.EC2, "CreateSubnet", "VpcId", account.VPC, "AvailabilityZone", subnet.Zone,
			"CidrBlock", subnet.CIDR, "Ipv6CidrBlock", subnet.IPv6CIDR).Value("subnet/subnetId")
		account.Subnets[i] = subnet
	}
}

func (m *maker) groups(account *Account) {
	for i := range account.Groups {
		name := "bosh-" + strconv.Itoa(i+1)
		id := m.do(query.EC2, "CreateSecurityGroup", "VpcId", account.VPC,
			"GroupName", name, "GroupDescription", "for BOSH").Value("groupId")
		account.Groups[i] = Group{ID: id, Name: name}
	}
}

func (m *maker) routes(account *Account) {
	account.Gateway = m.do(query.EC2, "CreateInternetGateway").Value("internetGateway/internetGatewayId")
	m.do(query.EC2, "AttachInternetGateway", "VpcId", account.VPC, "InternetGatewayId", account.Gateway)
	account.RouteTable = m.do(query.EC2, "CreateRouteTable", "VpcId", account.VPC).Value("routeTable/routeTableId")
	m.do(query.EC2, "CreateRoute", "RouteTableId", account.RouteTable,
		"DestinationCidrBlock", "0.0.0.0/0", "GatewayId", account.Gateway)
}

func (m *maker) names(account *Account) {
	account.KeyName = "bosh"
	m.do(query.EC2, "CreateKeyPair", "KeyName", account.KeyName)
	address := m.do(query.EC2, "AllocateAddress", "Domain", "vpc")
	account.ElasticIP = Address{IP: address.Value("publicIp"), AllocationID: address.Value("allocationId")}
	account.InstanceProfile = "bosh-vm"
	// IAM is one for all regions: a second account of ours finds it there.
	_, err := m.client.Do(m.ctx, query.IAM, "CreateInstanceProfile", "InstanceProfileName", account.InstanceProfile)
	var exists *query.Error
	if errors.As(err, &exists) && exists.Code == "EntityAlreadyExists" {
		err = nil
	}
	m.err = errors.Join(m.err, err)
}

func (m *maker) balancers(account *Account) {
	account.TargetGroup.Name = "bosh"
	account.TargetGroup.ARN = m.do(query.ELBv2, "CreateTargetGroup", "Name", account.TargetGroup.Name,
		"Protocol", "HTTP", "Port", "80", "TargetType", "instance", "VpcId", account.VPC).
		Value("CreateTargetGroupResult/TargetGroups/member/TargetGroupArn")
	account.LoadBalancer = "bosh-classic"
	m.do(query.ELB, "CreateLoadBalancer", "LoadBalancerName", account.LoadBalancer,
		"Listeners.member.1.Protocol", "tcp", "Listeners.member.1.LoadBalancerPort", "80",
		"Listeners.member.1.InstancePort", "80", "Subnets.member.1", account.Subnets[0].ID)
}
