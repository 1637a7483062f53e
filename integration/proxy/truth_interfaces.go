package proxy

import (
	"strings"

	"bosh-aws-cpi/integration/emulator/query"
)

// createNetworkInterface: moto makes up unknown groups, takes addresses that
// are in use or out of range, and an IPv6 address together with an IPv6
// prefix; the interface is available at once. AWS: refuses all of it, and
// takes a moment.
func createNetworkInterface(p *Proxy, x *exchange) *answer {
	if refused := p.checkGroups(x, "InvalidSecurityGroupID.NotFound", x.List("SecurityGroupId")); refused != nil {
		return refused
	}
	if len(x.all("Ipv6Addresses", ".Ipv6Address")) > 0 && len(x.all("Ipv6Prefix", ".Ipv6Prefix")) > 0 {
		return refuse(x, "InvalidParameterCombination", "You cannot specify both Ipv6Addresses and Ipv6Prefixes in the same request.")
	}
	if refused := p.checkAddress(x, x.Param("SubnetId"), launchAddress(x.Params, "")); refused != nil {
		return refused
	}
	a := pass(p, x)
	if !a.ok() {
		return a
	}
	return a.rewrite(func(root *query.Node) {
		nic := root.Get("networkInterface")
		id := nic.Value("networkInterfaceId")
		p.rememberPrefixes(x, id, "")
		p.showInterfaceMemory(nic)
		nic.Set("status", "pending")
		p.states.come(id, "pending", p.states.now().InterfaceAvailable)
	})
}

// rememberPrefixes: moto drops delegated prefixes. AWS: delegates them.
func (p *Proxy) rememberPrefixes(x *exchange, id, parameter string) {
	prefixes4 := x.all(parameter+"Ipv4Prefix", ".Ipv4Prefix")
	prefixes6 := x.all(parameter+"Ipv6Prefix", ".Ipv6Prefix")
	if len(prefixes4)+len(prefixes6) > 0 {
		p.world.setInterface(id, func(m *interfaceMemory) {
			m.prefixes4 = append(m.prefixes4, prefixes4...)
			m.prefixes6 = append(m.prefixes6, prefixes6...)
		})
	}
}

// assignPrefixes: moto drops the prefixes and does not tell them. AWS: both.
func assignPrefixes(set, parameter string) truth {
	return func(p *Proxy, x *exchange) *answer {
		a := pass(p, x)
		prefixes := x.List(parameter)
		if !a.ok() || len(prefixes) == 0 {
			return a
		}
		p.world.setInterface(x.Param("NetworkInterfaceId"), func(m *interfaceMemory) {
			if parameter == "Ipv4Prefix" {
				m.prefixes4 = append(m.prefixes4, prefixes...)
			} else {
				m.prefixes6 = append(m.prefixes6, prefixes...)
			}
		})
		return a.rewrite(func(root *query.Node) {
			if parameter == "Ipv4Prefix" {
				root.Replace(prefixSet(set, "ipv4Prefix", prefixes))
				return
			}
			assigned := query.List(set) // a list of plain strings
			for _, prefix := range prefixes {
				assigned.Append(query.New("item", prefix))
			}
			root.Replace(assigned)
		})
	}
}

// showInterfaces shows late states and what moto forgets.
func showInterfaces(p *Proxy, _ *exchange, root *query.Node) {
	for _, nic := range root.All("networkInterfaceSet/item") {
		id := nic.Value("networkInterfaceId")
		p.showInterfaceMemory(nic)
		if p.world.interfaceOf(id).orphaned {
			nic.Remove("attachment")
			nic.Set("status", "available")
		}
		if state := p.states.of(id); state != "" {
			nic.Set("status", state)
		}
	}
}

// showInterfaceMemory completes an interface in an answer.
func (p *Proxy) showInterfaceMemory(nic *query.Node) {
	memory := p.world.interfaceOf(nic.Value("networkInterfaceId"))
	if memory.deleteOnTermination && nic.Child("attachment") != nil {
		nic.Set("attachment/deleteOnTermination", "true")
	}
	if len(memory.prefixes4) > 0 {
		nic.Replace(prefixSet("ipv4PrefixSet", "ipv4Prefix", memory.prefixes4))
	}
	if len(memory.prefixes6) > 0 {
		nic.Replace(prefixSet("ipv6PrefixSet", "ipv6Prefix", memory.prefixes6))
	}
}

func prefixSet(name, element string, prefixes []string) *query.Node {
	set := query.List(name)
	for _, prefix := range prefixes {
		set.Append(query.List("item", query.New(element, prefix)))
	}
	return set
}

// deleteNetworkInterface: moto deletes an interface under its instance. AWS:
// refuses (with the general code; cloud-nuke and Terraform match the text).
func deleteNetworkInterface(p *Proxy, x *exchange) *answer {
	id := x.Param("NetworkInterfaceId")
	nic, err := p.networkInterface(x, id)
	if err != nil {
		return relay(x, err)
	}
	if p.isAttached(nic) {
		return refuse(x, "InvalidParameterValue", "Network interface '"+id+"' is currently in use.")
	}
	a := pass(p, x)
	if a.ok() {
		p.world.forgetInterface(id)
	}
	return a
}

// modifyNetworkInterfaceAttribute: moto takes several attributes at once and
// ignores the attachment's DeleteOnTermination. AWS: takes one, and honours it;
// it is of the attachment, which must be named.
func modifyNetworkInterfaceAttribute(p *Proxy, x *exchange) *answer {
	attributes := map[string]bool{}
	for name := range x.Params {
		switch head, _, _ := strings.Cut(name, "."); head {
		case "Attachment", "SourceDestCheck", "Description", "SecurityGroupId", "AssociatePublicIpAddress":
			attributes[head] = true
		}
	}
	if len(attributes) > 1 {
		return refuse(x, "InvalidParameterCombination", "Fields for multiple attribute types specified. Only one is allowed.")
	}
	if !attributes["Attachment"] {
		return pass(p, x)
	}
	id, attachment := x.Param("NetworkInterfaceId"), x.Param("Attachment.AttachmentId")
	nic, err := p.networkInterface(x, id)
	switch {
	case err != nil:
		return relay(x, err)
	case attachment == "":
		return refuse(x, "MissingParameter", "The request must contain the parameter attachment.attachmentId")
	case !p.isAttached(nic) || nic.Value("attachment/attachmentId") != attachment:
		return refuse(x, "InvalidAttachmentID.NotFound", "The networkInterface attachment ID '"+attachment+"' does not exist")
	}
	remove := x.Param("Attachment.DeleteOnTermination") == "true"
	p.world.setInterface(id, func(m *interfaceMemory) { m.deleteOnTermination = remove })
	return accepted(x.Call)
}
