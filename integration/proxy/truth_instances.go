package proxy

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"bosh-aws-cpi/integration/emulator/query"
)

var instanceCodes = map[string]string{
	"pending": "0", "running": "16", "shutting-down": "32", "terminated": "48", "stopping": "64", "stopped": "80",
}

func setInstanceState(item *query.Node, state string) {
	item.Set("instanceState/code", instanceCodes[state])
	item.Set("instanceState/name", state)
}

// runInstances checks what moto does not, gives moto what it can take, and
// answers with what AWS knows that early.
func runInstances(p *Proxy, x *exchange) *answer {
	form := maps.Clone(x.Params)
	for _, check := range []func(*Proxy, *exchange, url.Values) *answer{
		checkLaunchImage, checkLaunchInterfaces, checkLaunchZone, plainBlockDevices,
	} {
		if refused := check(p, x, form); refused != nil {
			return refused
		}
	}
	a := p.sendForm(x, form)
	if !a.ok() {
		return launchRefused(x, a)
	}
	return a.rewrite(func(root *query.Node) {
		for _, item := range root.All("instancesSet/item") {
			p.finishLaunch(x, item)
		}
	})
}

// checkLaunchImage: an image that is shown pending is there in moto. AWS: does
// not launch from it.
func checkLaunchImage(p *Proxy, x *exchange, _ url.Values) *answer {
	id := x.Param("ImageId")
	if p.states.of(id) != "" {
		return refuse(x, "InvalidAMIID.Unavailable", "The image ID '"+id+"' is not available")
	}
	return nil
}

// launchRefused turns moto's refusals into EC2's.
func launchRefused(x *exchange, a *answer) *answer {
	switch {
	case a.status >= 500 && a.errorCode() == "":
		// moto: an HTML page when the address is in use by its own book-keeping,
		// which outlives interfaces that were deleted one by one.
		return refuse(x, "InvalidIPAddress.InUse", "Address is in use.")
	case a.errorCode() == "NoSuchEntity":
		// moto: the error of IAM. AWS: one of EC2.
		name := x.Param("IamInstanceProfile.Name") + x.Param("IamInstanceProfile.Arn")
		return refuse(x, "InvalidParameterValue",
			"Value ("+name+") for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name")
	case a.errorCode() == "InvalidKeyPair.NotFound":
		// moto: a Python set in the message.
		return refuse(x, "InvalidKeyPair.NotFound", "The key pair '"+x.Param("KeyName")+"' does not exist")
	}
	return a
}

// finishLaunch does for a launched instance what moto leaves out.
func (p *Proxy) finishLaunch(x *exchange, item *query.Node) {
	for _, nic := range item.All("networkInterfaceSet/item") {
		p.finishLaunchInterface(x, nic, x.launchInterface(nic))
		nic.Set("attachment/status", "attaching")
	}
	// moto: disks are attached already. AWS: they are not known yet.
	item.Replace(query.List("blockDeviceMapping"))
	item.Remove("stateReason")
	setInstanceState(item, "pending")
	p.states.come(item.Value("instanceId"), "pending", p.states.now().InstanceRunning)
}

// launchInterface is the prefix of the parameters that describe an interface
// of the launched instance, "" if it got one by default.
func (x *exchange) launchInterface(nic *query.Node) string {
	for i := 1; ; i++ {
		parameter := "NetworkInterface." + strconv.Itoa(i)
		if !x.Params.Has(parameter + ".DeviceIndex") {
			return ""
		}
		if x.Param(parameter+".DeviceIndex") == nic.Value("attachment/deviceIndex") {
			return parameter
		}
	}
}

// finishLaunchInterface tags an interface made by the launch and gives it its
// IPv6 addresses and prefixes. moto: drops all three. AWS: does what was asked.
func (p *Proxy) finishLaunchInterface(x *exchange, nic *query.Node, parameter string) {
	if x.Param(parameter+".NetworkInterfaceId") != "" {
		return
	}
	id := nic.Value("networkInterfaceId")
	p.tag(x, id, x.Tags("network-interface"))
	if parameter == "" {
		return
	}
	p.rememberPrefixes(x, id, parameter+".")
	var addresses []string
	for i, address := range x.all(parameter+".Ipv6Addresses", ".Ipv6Address") {
		addresses = append(addresses, "Ipv6Addresses."+strconv.Itoa(i+1), address)
	}
	if len(addresses) > 0 {
		_, _ = p.ask(x, query.EC2, "AssignIpv6Addresses", append(addresses, "NetworkInterfaceId", id)...) // it exists
	}
}

// all are the values of PREFIX.1SUFFIX, PREFIX.2SUFFIX, ...
func (x *exchange) all(prefix, suffix string) []string {
	var values []string
	for i := 1; ; i++ {
		name := prefix + "." + strconv.Itoa(i) + suffix
		if !x.Params.Has(name) {
			return values
		}
		values = append(values, x.Param(name))
	}
}

// tag tags a resource; without tags it does nothing.
func (p *Proxy) tag(x *exchange, id string, tags map[string]string) {
	params := []string{"ResourceId.1", id}
	for i, key := range slices.Sorted(maps.Keys(tags)) {
		tag := "Tag." + strconv.Itoa(i+1)
		params = append(params, tag+".Key", key, tag+".Value", tags[key])
	}
	if len(tags) > 0 {
		_, _ = p.ask(x, query.EC2, "CreateTags", params...) // it exists, and EC2 has accepted the tags
	}
}

// showInstances shows late states, and terminated instances as AWS does.
func showInstances(p *Proxy, _ *exchange, root *query.Node) {
	for _, item := range root.All("reservationSet/item/instancesSet/item") {
		state := p.instanceState(item)
		setInstanceState(item, state)
		if item.Value("stateReason/code") == "" {
			item.Remove("stateReason") // moto: always there. AWS: only with a reason.
		}
		if state == "terminated" {
			showTerminated(item)
			continue
		}
		for _, mapping := range item.All("blockDeviceMapping/item") {
			if status := p.states.of(attachmentKey(mapping.Value("ebs/volumeId"))); status != "" {
				mapping.Set("ebs/status", status)
			}
		}
		for _, nic := range item.All("networkInterfaceSet/item") {
			p.showInterfaceMemory(nic)
		}
		if image := p.world.imageOf(item.Value("imageId")); image != nil {
			item.Set("rootDeviceName", image.fields["rootDeviceName"])
		}
	}
}

// showTerminated: moto keeps showing what the instance had. AWS: it has
// neither disks nor interfaces nor a place in a network any more.
func showTerminated(item *query.Node) {
	item.Remove("subnetId", "vpcId", "privateIpAddress", "ipAddress", "networkInterfaceSet", "blockDeviceMapping", "groupSet")
	item.Append(query.List("networkInterfaceSet"), query.List("blockDeviceMapping"), query.List("groupSet"))
	item.Set("privateDnsName", "")
	item.Set("dnsName", "")
}

// terminateInstances answers with the states AWS would show, and has moto end
// the instances when it is time. moto: an error for one that is terminated
// already. AWS: as good as done.
func terminateInstances(p *Proxy, x *exchange) *answer {
	ids := x.List("InstanceId")
	root, err := p.ask(x, query.EC2, "DescribeInstances", numbered("InstanceId", ids)...)
	if err != nil {
		return relay(x, err)
	}
	changes := query.List("instancesSet")
	for _, item := range root.All("reservationSet/item/instancesSet/item") {
		previous := p.instanceState(item)
		current := previous
		if previous != "terminated" && previous != "shutting-down" {
			current = "shutting-down"
			p.leave(item.Value("instanceId"), current, p.states.now().InstanceTerminated, func() { p.endInstance(x, item) })
		}
		changes.Append(query.List("item",
			query.New("instanceId", item.Value("instanceId")),
			stateNode("currentState", current),
			stateNode("previousState", previous)))
	}
	answer := query.List("TerminateInstancesResponse", query.New("requestId", requestID(x.Call)), changes)
	answer.Space = "http://ec2.amazonaws.com/doc/2016-11-15/"
	return xmlAnswer(answer)
}

func stateNode(name, state string) *query.Node {
	return query.List(name, query.New("code", instanceCodes[state]), query.New("name", state))
}

// rebootInstances: moto brings a terminated instance back to life. AWS: refuses.
func rebootInstances(p *Proxy, x *exchange) *answer {
	for _, id := range x.List("InstanceId") {
		instance, err := p.instance(x, id)
		if err != nil {
			return relay(x, err)
		}
		if state := p.instanceState(instance); state == "terminated" || state == "shutting-down" {
			return refuse(x, "IncorrectInstanceState", "The instance '"+id+"' is not in a state from which it can be rebooted.")
		}
	}
	return pass(p, x)
}

func numbered(parameter string, values []string) []string {
	var params []string
	for i, value := range values {
		params = append(params, parameter+"."+strconv.Itoa(i+1), value)
	}
	return params
}

// endInstance terminates an instance in moto with all that AWS does then and
// moto does not: interfaces marked for it afterwards are deleted and the others
// set free, elastic IPs set free, registrations with classic load balancers
// removed. Errors mean that someone else was faster.
func (p *Proxy) endInstance(x *exchange, item *query.Node) {
	id := item.Value("instanceId")
	if now, err := p.instance(x, id); err == nil {
		item = now // it may have got more since it was told to end
	}
	_, _ = p.ask(x, query.EC2, "TerminateInstances", "InstanceId.1", id)
	p.world.setTerminated(id)
	var interfaces []string
	for _, nic := range item.All("networkInterfaceSet/item") {
		nicID := nic.Value("networkInterfaceId")
		interfaces = append(interfaces, nicID)
		if p.world.interfaceOf(nicID).deleteOnTermination {
			_, _ = p.ask(x, query.EC2, "DeleteNetworkInterface", "NetworkInterfaceId", nicID)
			p.world.forgetInterface(nicID)
		} else {
			p.world.setInterface(nicID, func(m *interfaceMemory) { m.orphaned = true })
		}
	}
	p.freeAddresses(x, id, interfaces)
	for _, balancer := range p.world.takeBalancers(id) {
		_, _ = p.ask(x, query.ELB, "DeregisterInstancesFromLoadBalancer",
			"LoadBalancerName", balancer, "Instances.member.1.InstanceId", id)
	}
}

func (p *Proxy) freeAddresses(x *exchange, instance string, interfaces []string) {
	root, err := p.ask(x, query.EC2, "DescribeAddresses")
	if err != nil {
		return
	}
	for _, address := range root.All("addressesSet/item") {
		if address.Value("instanceId") == instance || slices.Contains(interfaces, address.Value("networkInterfaceId")) {
			_, _ = p.ask(x, query.EC2, "DisassociateAddress", "AssociationId", address.Value("associationId"))
		}
	}
}

// plainBlockDevices leaves out and changes what moto refuses and AWS takes:
// instance-store mappings, provisioned types (moto does not pass their iops
// on) and mappings that take their size from the image.
func plainBlockDevices(p *Proxy, x *exchange, form url.Values) *answer {
	var kept []url.Values
	for i := 1; ; i++ {
		prefix := "BlockDeviceMapping." + strconv.Itoa(i) + "."
		if !form.Has(prefix + "DeviceName") {
			break
		}
		mapping := takePrefixed(form, prefix)
		if strings.HasPrefix(mapping.Get("VirtualName"), "ephemeral") {
			continue
		}
		if kind := mapping.Get("Ebs.VolumeType"); kind == "io1" || kind == "io2" {
			mapping.Set("Ebs.VolumeType", "gp3")
		}
		if !mapping.Has("NoDevice") && !mapping.Has("Ebs.VolumeSize") && !mapping.Has("Ebs.SnapshotId") {
			size, err := p.imageDiskSize(x, mapping.Get("DeviceName"))
			if err != nil {
				return relay(x, err)
			}
			if size == "" {
				return refuse(x, "MissingParameter", "The request must contain the parameter size or snapshotId")
			}
			mapping.Set("Ebs.VolumeSize", size)
		}
		kept = append(kept, mapping)
	}
	for i, mapping := range kept {
		for name := range mapping {
			form.Set("BlockDeviceMapping."+strconv.Itoa(i+1)+"."+name, mapping.Get(name))
		}
	}
	return nil
}

// takePrefixed moves parameters out of a form.
func takePrefixed(form url.Values, prefix string) url.Values {
	taken := url.Values{}
	for name := range form {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			taken.Set(rest, form.Get(name))
			form.Del(name)
		}
	}
	return taken
}

// imageDiskSize is the size that the image gives to a device, "" if it has none.
func (p *Proxy) imageDiskSize(x *exchange, device string) (string, error) {
	image, err := p.image(x, x.Param("ImageId"))
	if err != nil {
		return "", err
	}
	p.showImage(image)
	for _, mapping := range image.All("blockDeviceMapping/item") {
		if mapping.Value("deviceName") == device {
			return mapping.Value("ebs/volumeSize"), nil
		}
	}
	return "", nil
}
