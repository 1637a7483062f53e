package main

import (
	"strings"

	"bosh-aws-cpi/integration/emulator/query"
	"bosh-aws-cpi/integration/proxy"
)

// poll finds the call with which a scenario waits for a state.
func poll(action string, methods ...string) func(scenario, site) bool {
	return func(s scenario, at site) bool {
		for _, method := range methods {
			if s.method == method && at.call.Action == action {
				return !isLookUp(s, at)
			}
		}
		return false
	}
}

// isLookUp tells the look at what is there already from a poll: a copy's source
// and the VPC's subnets are looked up first, a light AMI is looked up only.
func isLookUp(s scenario, at site) bool {
	switch {
	case strings.Contains(s.name, "copy"), strings.Contains(s.name, "by size"):
		return at.nth == 1
	default:
		return strings.Contains(s.name, "light")
	}
}

// lookedUp is the look at the image of create_vm, before anything is made.
func lookedUp(s scenario, at site) bool {
	return s.method == "create_vm" && at.call.Action == "DescribeImages"
}

// stateFaults are resources that get into a state from which they cannot come
// to the wanted one, or that never get there.
func stateFaults() []fault {
	instance := poll("DescribeInstances", "create_vm")
	volume := poll("DescribeVolumes", "create_disk")
	attachment := poll("DescribeVolumes", "attach_disk")
	modification := poll("DescribeVolumesModifications", "resize_disk", "update_disk")
	snapshot := poll("DescribeSnapshots", "create_stemcell")
	image := poll("DescribeImages", "create_stemcell")
	subnet := poll("DescribeSubnets", "create_network")
	return []fault{
		shows("instance terminated by a fault of AWS", instance, proxy.ShowInstance("terminated", "Server.InternalError", "Internal error on launch"), true, "Server.InternalError"),
		shows("instance terminated for want of capacity", instance, proxy.ShowInstance("terminated", "Server.InsufficientInstanceCapacity", "no capacity"), false, "InsufficientInstanceCapacity"),
		shows("instance terminated for its KMS key", instance, proxy.ShowInstance("shutting-down", "Client.InternalError", "Client error on launch"), false, "Client.InternalError", "KMS"),
		shows("image deregistered", lookedUp, proxy.ShowImage("deregistered", "", ""), false, "deregistered"),
		shows("volume in error", volume, proxy.ShowVolume("error"), false, `"error"`),
		shows("volume in error while deleted", poll("DescribeVolumes", "delete_disk"), reappearing("error"), false, `"error"`),
		shows("attachment given up", attachment, unattached(), false, "gave the attachment"),
		shows("modification failed", modification, proxy.ShowModification("failed", "no room for it"), false, "no room for it"),
		shows("snapshot in error at once", poll("CreateSnapshot", "snapshot_disk"), set("", "status", "error"), false, `"error"`),
		shows("snapshot in error", snapshot, proxy.ShowSnapshot("error", "blocks are missing"), false, "blocks are missing"),
		shows("image failed", image, proxy.ShowImage("failed", "Client.InternalError", "the key is disabled"), false, "the key is disabled"),
		shows("subnet failed", subnet, set("subnetSet/item", "state", "failed-insufficient-capacity"), false, "failed-insufficient-capacity"),

		never("instance pending for good", instance, proxy.ShowInstance("pending", "pending", "pending")),
		never("instance shutting down for good", poll("DescribeInstances", "delete_vm"), proxy.ShowInstance("shutting-down", "", "")),
		never("volume creating for good", volume, proxy.ShowVolume("creating")),
		never("volume deleting for good", poll("DescribeVolumes", "delete_disk"), reappearing("deleting")),
		never("attachment attaching for good", attachment, proxy.ShowAttachment("attaching")),
		never("modification modifying for good", modification, proxy.ShowModification("modifying", "")),
		never("snapshot pending for good", snapshot, proxy.ShowSnapshot("pending", "")),
		never("image pending for good", image, proxy.ShowImage("pending", "", "")),
		never("subnet pending for good", subnet, set("subnetSet/item", "state", "pending")),
	}
}

// shows is a bad state, told at one poll: what is asked for the undo is true
// again. The message gives AWS's reason.
func shows(name string, hits func(scenario, site) bool, effect proxy.Effect, retry bool, says ...string) fault {
	return fault{name: name, hits: hits, arm: once(is(effect)), expected: func(s scenario, _ site) expectation {
		return expectation{kinds: []string{s.failure}, retry: retry, says: says}
	}}
}

// never is a state that does not change. The wait has an end, and AWS may just
// have been slow.
func never(name string, hits func(scenario, site) bool, effect proxy.Effect) fault {
	return fault{name: name, hits: hits, arm: always(is(effect)), hasty: true, expected: func(s scenario, _ site) expectation {
		return expectation{kinds: []string{s.failure}, retry: true, says: []string{"not reached within"}}
	}}
}

// set changes one field of all items of an answer.
func set(items, field, value string) proxy.Effect {
	return proxy.Rewrite(func(_ proxy.Call, root *query.Node) {
		all := []*query.Node{root}
		if items != "" {
			all = root.All(items)
		}
		for _, item := range all {
			item.Set(field, value)
		}
	})
}

// unattached shows a volume that no instance has.
func unattached() proxy.Effect {
	return proxy.Rewrite(func(_ proxy.Call, root *query.Node) {
		for _, item := range root.All("volumeSet/item") {
			item.Set("status", "error")
			item.Remove("attachmentSet")
		}
	})
}

// reappearing shows a deleted volume again, in a state.
func reappearing(state string) proxy.Effect {
	return proxy.Reply(200, "text/xml", `<DescribeVolumesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>scripted</requestId>`+
		`<volumeSet><item><volumeId>vol-1</volumeId><status>`+state+`</status></item></volumeSet></DescribeVolumesResponse>`)
}
