package main

import (
	"fmt"
	"slices"
	"strings"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/proxy"
)

// makes says which kinds of things a call can make or move. What an instance
// brings along goes with it.
var makes = map[string][]string{
	"RunInstances":                      {"instance", "volume", "attachment", "network-interface"},
	"CreateNetworkInterface":            {"network-interface"},
	"CreateVolume":                      {"volume"},
	"AttachVolume":                      {"attachment"},
	"CreateSnapshot":                    {"snapshot"},
	"StartSnapshot":                     {"snapshot"},
	"CopyImage":                         {"image", "snapshot"},
	"RegisterImage":                     {"image"},
	"CreateSubnet":                      {"subnet"},
	"AssociateRouteTable":               {"route"},
	"CreateRoute":                       {"route"},
	"ReplaceRoute":                      {"route"},
	"AssociateAddress":                  {"address"},
	"RegisterTargets":                   {"target"},
	"RegisterInstancesWithLoadBalancer": {"elb"},
}

// tagged are the kinds of resources whose tags a creating call sends.
var tagged = map[string][]string{
	"RunInstances":           {"instance", "volume"},
	"CreateNetworkInterface": {"network-interface"},
	"CreateVolume":           {"volume"},
	"CreateSnapshot":         {"snapshot"},
	"CopyImage":              {"image", "snapshot"},
	"RegisterImage":          {"image"},
	"CreateSubnet":           {"subnet"},
}

// judgeKilled: what a killed process leaves is at most what its calls had made
// by then and what a clean run makes, each thing once, and carries the tags by
// which it can be found.
func (v *verdict) judgeKilled(spotless clean) {
	if len(v.outcome.Stdout) > 0 && v.outcome.Invalid != nil {
		v.invalid = true
		v.deviate("no half answer, not %q", v.outcome.Stdout)
	}
	most := countKinds(spotless.diff)
	for kind, number := range countKinds(v.diff) {
		if number > most[kind] {
			v.leaks = append(v.leaks, fmt.Sprintf("%d %s", number, kind))
			v.deviate("at most %d %s, not %d", most[kind], kind, number)
		}
	}
	for _, line := range v.diff {
		if !v.hasMade(strings.Fields(line)[1]) {
			v.leaks = append(v.leaks, line)
			v.deviate("no %s, which no call had made", line)
		}
	}
	for _, call := range v.calls {
		v.judgeTags(call)
	}
}

// hasMade says whether one of the calls can have made a kind of thing. What a
// method takes away, and the registry, are not looked for.
func (v *verdict) hasMade(kind string) bool {
	return kind == "registry" || !v.scenario.creates ||
		slices.ContainsFunc(v.calls, func(call proxy.Call) bool { return slices.Contains(makes[call.Action], kind) })
}

// judgeTags holds the tags that a creating call sends against aws.md's.
func (v *verdict) judgeTags(call proxy.Call) {
	kinds := slices.Clone(tagged[call.Action])
	if call.Action == "RunInstances" && call.Param("NetworkInterface.1.SubnetId") != "" {
		kinds = append(kinds, "network-interface")
	}
	for _, kind := range kinds {
		v.judgeOrigin(fmt.Sprintf("%s of %s", kind, call.Action), call.Tags(kind))
	}
	if call.Action == "StartSnapshot" {
		tags := map[string]string{}
		list, _ := call.JSON["Tags"].([]any)
		for _, entry := range list {
			tag, _ := entry.(map[string]any)
			tags[fmt.Sprint(tag["Key"])] = fmt.Sprint(tag["Value"])
		}
		v.judgeOrigin("snapshot of StartSnapshot", tags)
	}
}

func (v *verdict) judgeOrigin(what string, tags map[string]string) {
	wanted := map[string]string{"bosh-director": driver.DefaultDirector, "bosh-request-id": v.request}
	if v.scenario.method == "create_vm" {
		wanted["bosh-agent-id"] = agentID
	}
	for key, value := range wanted {
		if tags[key] != value {
			v.deviate("tag %s=%s on the %s, not %q", key, value, what, tags[key])
		}
	}
}
