package proxy

import (
	"bosh-aws-cpi/integration/emulator/query"
)

// createVolume: moto takes any zone, and the volume is there at once. AWS:
// knows its zones, and takes a moment.
func createVolume(p *Proxy, x *exchange) *answer {
	zone := x.Param("AvailabilityZone")
	if refused := p.checkZone(x, zone); refused != nil {
		return refused
	}
	a := pass(p, x)
	if !a.ok() {
		return a
	}
	return a.rewrite(func(root *query.Node) {
		root.Set("status", "creating")
		p.states.come(root.Value("volumeId"), "creating", p.states.now().VolumeAvailable)
	})
}

func (p *Proxy) checkZone(x *exchange, zone string) *answer {
	if zone == "" || p.world.isKnown(x.Region+" "+zone) {
		return nil
	}
	root, err := p.ask(x, query.EC2, "DescribeAvailabilityZones", "ZoneName.1", zone)
	if err != nil {
		return relay(x, err)
	}
	if root.Get("availabilityZoneInfo/item") == nil {
		return refuse(x, "InvalidZone.NotFound", "The zone '"+zone+"' does not exist.")
	}
	p.world.learn(x.Region + " " + zone)
	return nil
}

// deleteVolume: moto deletes at once. AWS: shows it as deleting for a while.
func deleteVolume(p *Proxy, x *exchange) *answer {
	id := x.Param("VolumeId")
	volume, err := p.volume(x, id)
	if err != nil {
		return relay(x, err)
	}
	if holder := volume.Value("attachmentSet/item/instanceId"); holder != "" {
		return refuse(x, "VolumeInUse", "Volume "+id+" is currently attached to "+holder)
	}
	if p.states.of(id) == "deleting" {
		return accepted(x.Call)
	}
	p.leave(id, "deleting", p.states.now().VolumeDeleted, func() {
		_, _ = p.ask(x, query.EC2, "DeleteVolume", "VolumeId", id) // it is there and free
	})
	return accepted(x.Call)
}

// attachVolume: moto attaches anything to anything, silently moving a volume
// that another instance has and covering a device in use. AWS: refuses.
func attachVolume(p *Proxy, x *exchange) *answer {
	id, device := x.Param("VolumeId"), x.Param("Device")
	volume, err := p.volume(x, id)
	if err != nil {
		return relay(x, err)
	}
	instance, err := p.instance(x, x.Param("InstanceId"))
	if err != nil {
		return relay(x, err)
	}
	switch state := p.states.of(id); {
	case state != "":
		return refuse(x, "IncorrectState", "Volume '"+id+"' is in the '"+state+"' state; it is not 'available'.")
	case volume.Get("attachmentSet/item") != nil:
		return refuse(x, "VolumeInUse", id+" is already attached to an instance")
	case p.instanceState(instance) != "running":
		return refuse(x, "IncorrectState", "Instance '"+x.Param("InstanceId")+"' is not 'running'.")
	case volume.Value("availabilityZone") != instance.Value("placement/availabilityZone"):
		return refuse(x, "InvalidVolume.ZoneMismatch",
			"The volume '"+id+"' is not in the same availability zone as instance '"+x.Param("InstanceId")+"'")
	}
	for _, mapping := range instance.All("blockDeviceMapping/item") {
		if mapping.Value("deviceName") == device {
			return refuse(x, "InvalidParameterValue",
				"Invalid value '"+device+"' for unixDevice. Attachment point "+device+" is already in use")
		}
	}
	a := pass(p, x)
	if a.ok() {
		p.states.come(attachmentKey(id), "attaching", p.states.now().VolumeAttached)
	}
	return a
}

// detachVolume: moto wants the instance's id, and detaches at once. AWS: finds
// it itself, and takes a moment.
func detachVolume(p *Proxy, x *exchange) *answer {
	id := x.Param("VolumeId")
	volume, err := p.volume(x, id)
	if err != nil {
		return relay(x, err)
	}
	attachment := volume.Get("attachmentSet/item")
	if attachment == nil {
		return refuse(x, "IncorrectState", "Volume '"+id+"' is in the 'available' state.")
	}
	holder := attachment.Value("instanceId")
	if asked := x.Param("InstanceId"); asked != "" && asked != holder {
		if _, err := p.instance(x, asked); err != nil {
			return relay(x, err)
		}
		return refuse(x, "InvalidAttachment.NotFound", "The volume '"+id+"' is not attached to instance '"+asked+"'.")
	}
	if p.states.of(attachmentKey(id)) == "detaching" {
		return refuse(x, "IncorrectState", "Volume '"+id+"' is in the 'detaching' state.")
	}
	p.leave(attachmentKey(id), "detaching", p.states.now().VolumeDetached, func() {
		_, _ = p.ask(x, query.EC2, "DetachVolume", "VolumeId", id, "InstanceId", holder) // or it went with its instance
	})
	root := query.List("DetachVolumeResponse", query.New("requestId", requestID(x.Call)))
	root.Space = "http://ec2.amazonaws.com/doc/2016-11-15/"
	root.Append(attachment.Children...)
	root.Set("status", "detaching")
	return xmlAnswer(root)
}

// showVolumes shows late states.
func showVolumes(p *Proxy, _ *exchange, root *query.Node) {
	for _, item := range root.All("volumeSet/item") {
		id := item.Value("volumeId")
		if state := p.states.of(id); state != "" {
			item.Set("status", state)
		}
		if state := p.states.of(attachmentKey(id)); state != "" {
			for _, attachment := range item.All("attachmentSet/item") {
				attachment.Set("status", state)
			}
		}
	}
}
