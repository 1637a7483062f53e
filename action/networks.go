package action

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"bosh-aws-cpi/cpi"
)

// The types of networks; a network without one is manual.
const (
	manualNetwork  = "manual"
	dynamicNetwork = "dynamic"
	vipNetwork     = "vip"
)

// networks are the networks of a VM as the request lays them out.
type networks struct {
	sent           cpi.Object
	groups         []*nicGroup // one for each NIC, the primary one first
	groupOf        map[string]*nicGroup
	vip            *vip
	securityGroups []string        // the union of the networks' own
	dns            json.RawMessage // of the first manual network that has any
	several        bool            // more than one network that is no vip
}

// nicGroup is one NIC: the networks that share it.
type nicGroup struct {
	name     string
	subnet   string
	ipv4     string
	ipv6     string
	prefixes []netip.Prefix // delegated to the NIC
}

// vip is an elastic IP and the NIC that it goes to.
type vip struct {
	ip    string
	group *nicGroup
	// unknownGroup is a nic_group in which no other network is: the address goes
	// to the primary NIC then, as with today's CPI.
	unknownGroup string
}

// network is one network of the request.
type network struct {
	name            string
	Type            string     `json:"type"`
	IP              string     `json:"ip"`
	Prefix          text       `json:"prefix"`
	NICGroup        text       `json:"nic_group"`
	DNS             []string   `json:"dns"`
	CloudProperties cpi.Object `json:"cloud_properties"`

	properties struct {
		Subnet         string   `json:"subnet"`
		SecurityGroups []string `json:"security_groups"`
	}
}

// text is a string that YAML may have made a number.
type text string

// UnmarshalJSON reads a string or a number.
func (t *text) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, (*string)(t))
	}
	var number json.Number
	if err := json.Unmarshal(data, &number); err != nil {
		return err
	}
	*t = text(number)
	return nil
}

// readNetworks reads and checks the networks of a VM. Everything that can be
// told from the request is checked here.
func readNetworks(method string, sent cpi.Object) (networks, error) {
	read := networks{sent: sent, groupOf: map[string]*nicGroup{}}
	var manual, dynamic, vips []*network
	for _, member := range sent.Members() {
		one, err := readOneNetwork(method, member)
		if err != nil {
			return read, err
		}
		read.addSecurityGroups(one.properties.SecurityGroups)
		switch one.Type {
		case manualNetwork:
			manual = append(manual, one)
		case dynamicNetwork:
			dynamic = append(dynamic, one)
		case vipNetwork:
			vips = append(vips, one)
		}
	}
	if len(manual)+len(dynamic) == 0 {
		return read, invalid(method, "networks: a manual or dynamic network is needed: it names the subnet of the VM")
	}
	read.several = len(manual)+len(dynamic) > 1
	for _, one := range manual {
		if err := read.addManual(one); err != nil {
			return read, invalid(method, "networks.%s", err)
		}
	}
	for _, group := range read.groups {
		if group.ipv4 == "" && group.ipv6 == "" {
			return read, invalid(method, "networks: nic_group %q has only delegated prefixes: its NIC needs a network with a single address, too", group.name)
		}
	}
	read.addDynamic(dynamic)
	return read, read.addVIP(method, vips)
}

func readOneNetwork(method string, member cpi.Member) (*network, error) {
	one := &network{name: member.Key}
	var object cpi.Object
	err := json.Unmarshal(member.Value, &object)
	if err == nil {
		err = object.Decode(one)
	}
	if err != nil {
		return nil, invalid(method, "networks.%s: %s", member.Key, networkFault(err))
	}
	if err := one.CloudProperties.Decode(&one.properties); err != nil {
		return nil, invalid(method, "networks.%s.cloud_properties.%s", member.Key, err)
	}
	if one.Type == "" {
		one.Type = manualNetwork
	}
	if one.NICGroup == "" {
		one.NICGroup = text(one.name)
	}
	if one.Type != manualNetwork && one.Type != dynamicNetwork && one.Type != vipNetwork {
		return nil, invalid(method, "networks.%s.type: expected manual, dynamic or vip, got %q", one.name, one.Type)
	}
	if one.Type != vipNetwork && one.properties.Subnet == "" {
		return nil, invalid(method, "networks.%s.cloud_properties.subnet is missing: it names the VPC subnet", one.name)
	}
	return one, nil
}

// networkFault words an error about a network that is no object at all.
func networkFault(err error) string {
	if strings.HasPrefix(err.Error(), "json:") {
		return "expected an object"
	}
	return err.Error()
}

func (n *networks) addSecurityGroups(groups []string) {
	for _, group := range groups {
		if !slices.Contains(n.securityGroups, group) {
			n.securityGroups = append(n.securityGroups, group)
		}
	}
}

// addManual puts a manual network on the NIC of its group.
func (n *networks) addManual(one *network) error {
	group := n.groupNamed(string(one.NICGroup))
	if group == nil {
		group = &nicGroup{name: string(one.NICGroup), subnet: one.properties.Subnet}
		n.groups = append(n.groups, group)
	}
	n.groupOf[one.name] = group
	if group.subnet != one.properties.Subnet {
		return fmt.Errorf("%s.cloud_properties.subnet: the networks of nic_group %q share a NIC and must have the same subnet, got %s and %s",
			one.name, group.name, group.subnet, one.properties.Subnet)
	}
	if n.dns == nil && len(one.DNS) > 0 {
		n.dns, _ = json.Marshal(one.DNS)
	}
	return group.addAddress(one)
}

func (n *networks) groupNamed(name string) *nicGroup {
	for _, group := range n.groups {
		if group.name == name {
			return group
		}
	}
	return nil
}

// The prefixes that EC2 delegates to a NIC (EC2 User Guide, "Prefix delegation").
const (
	delegatedIPv4Bits = 28
	delegatedIPv6Bits = 80
)

// addAddress gives the NIC a network's address or, with a prefix shorter than a
// whole address, delegates the prefix.
func (g *nicGroup) addAddress(one *network) error {
	address, err := netip.ParseAddr(one.IP)
	if err != nil || address.Zone() != "" {
		return fmt.Errorf("%s.ip: expected an IP address, got %q", one.name, one.IP)
	}
	whole, delegated, own := 32, delegatedIPv4Bits, &g.ipv4
	if address.Is6() {
		whole, delegated, own = 128, delegatedIPv6Bits, &g.ipv6
	}
	bits := fmt.Sprint(whole)
	if one.Prefix != "" {
		bits = string(one.Prefix)
	}
	switch bits {
	case fmt.Sprint(whole):
		if *own != "" {
			return fmt.Errorf("%s.ip: nic_group %q has address %s already: a NIC takes one IPv4 and one IPv6 address", one.name, g.name, *own)
		}
		*own = one.IP
		return nil
	case fmt.Sprint(delegated):
		prefix := netip.PrefixFrom(address, delegated)
		if prefix != prefix.Masked() {
			return fmt.Errorf("%s.ip: %s is not the first address of a /%d", one.name, one.IP, delegated)
		}
		g.prefixes = append(g.prefixes, prefix)
		return nil
	default:
		return fmt.Errorf("%s.prefix: expected %d for an address or %d for a delegated prefix, got %q", one.name, whole, delegated, bits)
	}
}

// addDynamic puts the dynamic networks on a NIC of their own, the last one. Only
// the first one counts; what others ask for is not made.
func (n *networks) addDynamic(dynamic []*network) {
	if len(dynamic) == 0 {
		return
	}
	group := &nicGroup{name: string(dynamic[0].NICGroup), subnet: dynamic[0].properties.Subnet}
	n.groups = append(n.groups, group)
	for _, one := range dynamic {
		n.groupOf[one.name] = group
	}
}

func (n *networks) addVIP(method string, vips []*network) error {
	if len(vips) == 0 {
		return nil
	}
	if len(vips) > 1 {
		return invalid(method, "networks: %s and %s are both of type vip: a VM takes one", vips[0].name, vips[1].name)
	}
	one := vips[0]
	if address, err := netip.ParseAddr(one.IP); err != nil || !address.Is4() {
		return invalid(method, "networks.%s.ip: a vip network needs an elastic IP as its static IP, got %q", one.name, one.IP)
	}
	n.vip = &vip{ip: one.IP, group: n.groups[0]}
	if group := n.groupNamed(string(one.NICGroup)); group != nil {
		n.vip.group = group
	} else if string(one.NICGroup) != one.name {
		n.vip.unknownGroup = string(one.NICGroup)
	}
	return nil
}

// forAgent returns the networks as the agent gets them: as they were sent, with
// DHCP, and with MACs where the agent could not tell the NICs apart by itself:
// it can only when there is one network on one NIC.
func (n *networks) forAgent(macs map[*nicGroup]string) cpi.Object {
	agent := n.sent
	for _, member := range n.sent.Members() {
		var object cpi.Object
		if json.Unmarshal(member.Value, &object) != nil {
			continue // readNetworks has refused it
		}
		object = object.With("use_dhcp", true)
		if mac := macs[n.groupOf[member.Key]]; mac != "" && n.several {
			object = object.With("mac", mac)
		}
		agent = agent.With(member.Key, object)
	}
	return agent
}
