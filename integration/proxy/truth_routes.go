package proxy

import (
	"bosh-aws-cpi/integration/emulator/query"
)

// createSubnet: moto takes zones of other regions. AWS: does not.
func createSubnet(p *Proxy, x *exchange) *answer {
	zone := x.Param("AvailabilityZone")
	if refused := p.checkZone(x, zone); refused != nil {
		return refuse(x, "InvalidParameterValue", "Value ("+zone+") for parameter availabilityZone is invalid.")
	}
	return pass(p, x)
}

// deleteSubnet: moto deletes a subnet under its interfaces. AWS: refuses.
func deleteSubnet(p *Proxy, x *exchange) *answer {
	id := x.Param("SubnetId")
	users, err := p.ask(x, query.EC2, "DescribeNetworkInterfaces", "Filter.1.Name", "subnet-id", "Filter.1.Value.1", id)
	if err != nil {
		return relay(x, err)
	}
	if len(users.All("networkInterfaceSet/item")) > 0 {
		return refuse(x, "DependencyViolation", "The subnet '"+id+"' has dependencies and cannot be deleted.")
	}
	a := pass(p, x)
	if a.ok() {
		p.dropRouteTableAssociations(x, id)
	}
	return a
}

// dropRouteTableAssociations: moto keeps the association of a subnet that is
// gone. AWS: does not.
func (p *Proxy) dropRouteTableAssociations(x *exchange, subnet string) {
	tables, err := p.ask(x, query.EC2, "DescribeRouteTables", "Filter.1.Name", "association.subnet-id", "Filter.1.Value.1", subnet)
	if err != nil {
		return
	}
	for _, association := range tables.All("routeTableSet/item/associationSet/item") {
		if association.Value("subnetId") == subnet {
			_, _ = p.ask(x, query.EC2, "DisassociateRouteTable", "AssociationId", association.Value("routeTableAssociationId"))
		}
	}
}

// createRoute: moto overwrites a route when the new one goes to an interface.
// AWS: says that there is one.
func createRoute(p *Proxy, x *exchange) *answer {
	table, err := p.describe(x, "DescribeRouteTables", "RouteTableId", x.Param("RouteTableId"), "routeTableSet/item")
	if err != nil {
		return relay(x, err)
	}
	destination := x.Param("DestinationCidrBlock") + x.Param("DestinationIpv6CidrBlock")
	for _, route := range table.All("routeSet/item") {
		if route.Value("destinationCidrBlock")+route.Value("destinationIpv6CidrBlock") == destination {
			return refuse(x, "RouteAlreadyExists", "The route identified by "+destination+" already exists.")
		}
	}
	if refused := p.checkRouteTarget(x); refused != nil {
		return refused
	}
	return pass(p, x)
}

func replaceRoute(p *Proxy, x *exchange) *answer {
	if refused := p.checkRouteTarget(x); refused != nil {
		return refused
	}
	return pass(p, x)
}

// checkRouteTarget: moto takes any instance for a target. AWS: not one with
// several interfaces, since it could not tell which.
func (p *Proxy) checkRouteTarget(x *exchange) *answer {
	id := x.Param("InstanceId")
	if id == "" {
		return nil
	}
	instance, err := p.instance(x, id)
	if err != nil {
		return relay(x, err)
	}
	if len(instance.All("networkInterfaceSet/item")) > 1 {
		return refuse(x, "InvalidInstanceID", "There are multiple interfaces attached to instance '"+id+
			"'. Please specify an interface ID for the operation instead.")
	}
	return nil
}

// showRoutes: moto says that a route is active whatever became of its target.
// AWS: a route to an interface that is gone is a blackhole.
func showRoutes(p *Proxy, x *exchange, root *query.Node) {
	for _, route := range root.All("routeTableSet/item/routeSet/item") {
		id := route.Value("networkInterfaceId")
		if id == "" {
			continue
		}
		nic, err := p.networkInterface(x, id)
		switch {
		case err != nil || !p.isAttached(nic):
			route.Set("state", "blackhole")
		case route.Value("instanceId") == "":
			route.Set("instanceId", nic.Value("attachment/instanceId"))
		}
	}
}
