package main

import (
	"context"
	"slices"
	"strings"

	"bosh-aws-cpi/integration/emulator"
	"bosh-aws-cpi/integration/emulator/query"
	"bosh-aws-cpi/integration/proxy"
)

// restore takes away what a case made and says whether the next one can begin
// with the same state. It saves preparing everything anew.
func (w *worker) restore(ctx context.Context, before []string, p played) bool {
	if len(p.diff) == 0 {
		return p.scenario.reusable || !slices.ContainsFunc(p.calls, mayHaveChanged)
	}
	client := query.Client{Endpoint: w.Recorder.URL, Region: w.Account.Region}
	for _, line := range p.diff { // sorted: instances before what goes with them
		if removal := removalOf(line, p.diff); removal != nil {
			// What is gone with its instance by now is refused; the inventory tells.
			_, _ = client.Do(ctx, query.EC2, removal[0], removal[1:]...)
		}
	}
	if !p.scenario.creates {
		return false
	}
	if p.scenario.method == "create_vm" {
		w.registry.Clear() // nothing is prepared in it
	}
	after, err := w.inventory(ctx)
	left := emulator.Diff(before, after)
	w.untidy = w.untidy || err != nil || slices.ContainsFunc(left, isInTheWay)
	return p.scenario.reusable && err == nil && len(left) == 0
}

// mayHaveChanged: a method that changes in place does so unseen by the
// inventory.
func mayHaveChanged(call proxy.Call) bool {
	changes := !strings.HasPrefix(call.Action, "Describe")
	return changes && call.Fault != "request dropped" && (call.Status < 300)
}

// isInTheWay: something new is there that was not taken away. Where elastic IP
// and routes are does not matter, since the preparation takes them.
func isInTheWay(line string) bool {
	kind := kindOf(line)
	return strings.HasPrefix(kind, "+ ") && kind != "+ address" && kind != "+ route"
}

// removals are the calls that take away, by kind: action and parameter.
var removals = map[string][]string{
	"instance":          {"TerminateInstances", "InstanceId.1"},
	"image":             {"DeregisterImage", "ImageId"},
	"network-interface": {"DeleteNetworkInterface", "NetworkInterfaceId"},
	"snapshot":          {"DeleteSnapshot", "SnapshotId"},
	"subnet":            {"DeleteSubnet", "SubnetId"},
	"volume":            {"DeleteVolume", "VolumeId"},
}

// removalOf is the call, with its parameters, that takes away what a line of a
// difference says is new; nil when it goes by itself, or cannot.
func removalOf(line string, diff []string) []string {
	fields := strings.Fields(line)
	if fields[0] != "+" {
		return nil
	}
	switch kind := fields[1]; kind {
	case "attachment": // "+ attachment vol-1 -> i-1"
		return []string{"DetachVolume", "VolumeId", fields[2], "InstanceId", fields[4]}
	case "route": // "+ route rtb-1 172.17.0.0/16 -> eni-1"
		replaced := slices.ContainsFunc(diff, func(other string) bool { return strings.HasPrefix(other, "- "+strings.Join(fields[1:4], " ")) })
		if replaced || fields[3] == "of" { // a subnet, with which it goes
			return nil
		}
		return []string{"DeleteRoute", "RouteTableId", fields[2], "DestinationCidrBlock", fields[3]}
	default:
		if removal := removals[kind]; removal != nil {
			return append(slices.Clone(removal), fields[2])
		}
		return nil
	}
}
