package proxy

import (
	"bosh-aws-cpi/integration/emulator/query"
)

// associateAddress: moto takes an instance in any state, does not see that an
// address is in use by an interface, and leaves the address with its former
// holder as well. AWS: refuses, refuses without AllowReassociation, and moves.
func associateAddress(p *Proxy, x *exchange) *answer {
	if refused := p.checkAddressTarget(x); refused != nil {
		return refused
	}
	address, err := p.address(x)
	if err != nil {
		return relay(x, err)
	}
	holder, association := address.Value("networkInterfaceId"), address.Value("associationId")
	if association == "" || holder == "" || holder == p.addressTarget(x) {
		return pass(p, x)
	}
	if x.Param("AllowReassociation") != "true" {
		return refuse(x, "Resource.AlreadyAssociated", "resource "+address.Value("allocationId")+
			" is already associated with associate-id "+association)
	}
	_, _ = p.ask(x, query.EC2, "DisassociateAddress", "AssociationId", association) // it was there a moment ago
	return pass(p, x)
}

func (p *Proxy) address(x *exchange) (*query.Node, error) {
	parameter, value := "AllocationId.1", x.Param("AllocationId")
	if value == "" {
		parameter, value = "PublicIp.1", x.Param("PublicIp")
	}
	root, err := p.ask(x, query.EC2, "DescribeAddresses", parameter, value)
	return root.Get("addressesSet/item"), err
}

// checkAddressTarget refuses an instance that is not there yet or not any more.
func (p *Proxy) checkAddressTarget(x *exchange) *answer {
	if id := x.Param("InstanceId"); id != "" {
		instance, err := p.instance(x, id)
		if err != nil {
			return relay(x, err)
		}
		if state := p.instanceState(instance); state != "running" {
			return refuse(x, "InvalidInstanceID", "The "+state+" instance '"+id+"' is not in a valid state for this operation.")
		}
		return nil
	}
	id := x.Param("NetworkInterfaceId")
	nic, err := p.networkInterface(x, id)
	if err != nil {
		return relay(x, err)
	}
	if holder := nic.Value("attachment/instanceId"); p.isAttached(nic) && p.states.of(holder) != "" {
		return refuse(x, "IncorrectInstanceState", "The "+p.states.of(holder)+" instance to which '"+id+
			"' is attached is not in a valid state for this operation")
	}
	return nil
}

// addressTarget is the interface that would get the address.
func (p *Proxy) addressTarget(x *exchange) string {
	if id := x.Param("NetworkInterfaceId"); id != "" {
		return id
	}
	instance, err := p.instance(x, x.Param("InstanceId"))
	if err != nil {
		return ""
	}
	for _, nic := range instance.All("networkInterfaceSet/item") {
		if nic.Value("attachment/deviceIndex") == "0" {
			return nic.Value("networkInterfaceId")
		}
	}
	return ""
}

// showAddresses: moto tells the instance only if the address was given to an
// instance. AWS: also if it was given to an instance's interface.
func showAddresses(p *Proxy, x *exchange, root *query.Node) {
	for _, item := range root.All("addressesSet/item") {
		id := item.Value("networkInterfaceId")
		if id == "" {
			item.Remove("instanceId", "networkInterfaceId", "associationId") // empty ones, which AWS does not show
			continue
		}
		if nic, err := p.networkInterface(x, id); err == nil && item.Value("instanceId") == "" && p.isAttached(nic) {
			item.Set("instanceId", nic.Value("attachment/instanceId"))
		}
	}
}

// registerWithBalancer: moto takes any instance, and keeps it when it is
// terminated. AWS: takes instances that exist, and lets the dead go.
func registerWithBalancer(p *Proxy, x *exchange) *answer {
	instances := x.all("Instances.member", ".InstanceId")
	for _, id := range instances {
		if _, err := p.instance(x, id); err != nil || p.world.isTerminated(id) {
			return notFound(query.ELB, id).render(x.Call, "as AWS")
		}
	}
	a := pass(p, x)
	if a.ok() {
		for _, id := range instances {
			p.world.addBalancer(id, x.Param("LoadBalancerName"))
		}
	}
	return a
}

// registerTargets: moto takes unknown instances, and those that are shown
// pending are running in it. AWS: takes running instances only.
func registerTargets(p *Proxy, x *exchange) *answer {
	for _, id := range x.all("Targets.member", ".Id") {
		instance, err := p.instance(x, id)
		if err != nil || p.instanceState(instance) != "running" {
			return notFound(query.ELBv2, id).render(x.Call, "as AWS")
		}
	}
	return pass(p, x)
}
