package proxy

import (
	"net/netip"
	"net/url"
	"strconv"

	"bosh-aws-cpi/integration/emulator/query"
)

// checkLaunchInterfaces checks every interface of a launch. moto: makes up
// unknown security groups, answers an HTML page for an address in use or out of
// range, does not mind an interface that another instance has, and keeps
// interfaces after termination unless told. AWS: refuses; and an interface
// that a launch makes goes with its instance unless told otherwise.
func checkLaunchInterfaces(p *Proxy, x *exchange, form url.Values) *answer {
	for i := 1; ; i++ {
		prefix := "NetworkInterface." + strconv.Itoa(i) + "."
		if !form.Has(prefix + "DeviceIndex") {
			return p.checkGroups(x, "InvalidGroup.NotFound", x.List("SecurityGroupId"))
		}
		if id := form.Get(prefix + "NetworkInterfaceId"); id != "" {
			if refused := p.checkGivenInterface(x, id, form); refused != nil {
				return refused
			}
			continue
		}
		if !form.Has(prefix + "DeleteOnTermination") {
			form.Set(prefix+"DeleteOnTermination", "true")
		}
		if refused := p.checkGroups(x, "InvalidGroup.NotFound", x.List(prefix+"SecurityGroupId")); refused != nil {
			return refused
		}
		if refused := p.checkAddress(x, form.Get(prefix+"SubnetId"), launchAddress(form, prefix)); refused != nil {
			return refused
		}
	}
}

// launchAddress is the primary IPv4 address asked for, however it is written.
func launchAddress(form url.Values, prefix string) string {
	if address := form.Get(prefix + "PrivateIpAddress"); address != "" {
		return address
	}
	for i := 1; ; i++ {
		entry := prefix + "PrivateIpAddresses." + strconv.Itoa(i)
		if !form.Has(entry + ".PrivateIpAddress") {
			return ""
		}
		if form.Get(entry+".Primary") == "true" {
			return form.Get(entry + ".PrivateIpAddress")
		}
	}
}

// checkGivenInterface: moto takes an interface from another instance, and puts
// an instance that has only given ones into the first zone. AWS: refuses an
// interface in use; the zone is the interface's.
func (p *Proxy) checkGivenInterface(x *exchange, id string, form url.Values) *answer {
	nic, err := p.networkInterface(x, id)
	if err != nil {
		return relay(x, err)
	}
	if p.isAttached(nic) {
		return refuse(x, "InvalidNetworkInterface.InUse", "Interface: ["+id+"] in use.")
	}
	if !form.Has("Placement.AvailabilityZone") {
		form.Set("Placement.AvailabilityZone", nic.Value("availabilityZone"))
	}
	return nil
}

// isAttached looks past the attachments to terminated instances that moto keeps.
func (p *Proxy) isAttached(nic *query.Node) bool {
	return nic.Value("attachment/instanceId") != "" && !p.world.interfaceOf(nic.Value("networkInterfaceId")).orphaned
}

// checkLaunchZone: moto takes the subnet's zone and says nothing. AWS: refuses
// when another one is asked for.
func checkLaunchZone(p *Proxy, x *exchange, form url.Values) *answer {
	zone := form.Get("Placement.AvailabilityZone")
	id := form.Get("SubnetId")
	if id == "" {
		id = form.Get("NetworkInterface.1.SubnetId")
	}
	if zone == "" || id == "" {
		return nil
	}
	subnet, err := p.subnet(x, id)
	if err != nil {
		return relay(x, err)
	}
	if subnet.zone != zone {
		return refuse(x, "InvalidParameterValue", "Value ("+zone+") for parameter availabilityZone is invalid. "+
			"Subnet '"+id+"' is in the availability zone "+subnet.zone)
	}
	return nil
}

// subnet is asked for once: neither zone nor range of a subnet can change.
func (p *Proxy) subnet(x *exchange, id string) (subnetMemory, error) {
	key := x.Region + " " + id
	p.world.mu.Lock()
	memory, ok := p.world.subnets[key]
	p.world.mu.Unlock()
	if ok {
		return memory, nil
	}
	item, err := p.describe(x, "DescribeSubnets", "SubnetId", id, "subnetSet/item")
	if err != nil {
		return subnetMemory{}, err
	}
	memory.zone = item.Value("availabilityZone")
	memory.cidr, _ = netip.ParsePrefix(item.Value("cidrBlock")) // a subnet may have no IPv4
	p.world.mu.Lock()
	p.world.subnets[key] = memory
	p.world.mu.Unlock()
	return memory, nil
}

// checkGroups: moto makes a security group of any id that an interface names.
// AWS: refuses unknown ones.
func (p *Proxy) checkGroups(x *exchange, code string, ids []string) *answer {
	for _, id := range ids {
		key := x.Region + " " + id
		if p.world.isKnown(key) {
			continue
		}
		if _, err := p.ask(x, query.EC2, "DescribeSecurityGroups", "GroupId.1", id); err != nil {
			return refuse(x, code, "The security group '"+id+"' does not exist")
		}
		p.world.learn(key)
	}
	return nil
}

// checkAddress: moto answers a launch with an HTML page when the address is in
// use or out of range, and minds neither when an interface is made. AWS: says so.
func (p *Proxy) checkAddress(x *exchange, subnetID, address string) *answer {
	if address == "" || subnetID == "" {
		return nil
	}
	subnet, err := p.subnet(x, subnetID)
	if err != nil {
		return relay(x, err)
	}
	ip, err := netip.ParseAddr(address)
	if err != nil || !subnet.cidr.Contains(ip) {
		return refuse(x, "InvalidParameterValue", "Address "+address+" does not fall within the subnet's address range")
	}
	if isReserved(subnet.cidr, ip) {
		return refuse(x, "InvalidParameterValue", "Address "+address+" is in subnet's reserved address range")
	}
	holders, err := p.ask(x, query.EC2, "DescribeNetworkInterfaces",
		"Filter.1.Name", "subnet-id", "Filter.1.Value.1", subnetID,
		"Filter.2.Name", "private-ip-address", "Filter.2.Value.1", address)
	if err != nil {
		return relay(x, err)
	}
	if len(holders.All("networkInterfaceSet/item")) > 0 {
		return refuse(x, "InvalidIPAddress.InUse", "Address "+address+" is in use.")
	}
	return nil
}

// isReserved: AWS keeps the first four addresses and the last.
func isReserved(cidr netip.Prefix, ip netip.Addr) bool {
	first := cidr.Masked().Addr()
	for range 4 {
		if ip == first {
			return true
		}
		first = first.Next()
	}
	return !cidr.Contains(ip.Next())
}
