package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"bosh-aws-cpi/integration/proxy"
)

// site is one call of a clean run, where a fault can happen.
type site struct {
	call proxy.Call
	nth  int // which one of its action
	// late is whether a call before this one has made something.
	late bool
	// fresh is whether the call names a resource that the run made, and is the
	// first of its action to do so.
	fresh bool
	// named is the id of a resource that the call names and that was there
	// before; empty when there is none.
	named string
}

func (s site) String() string { return fmt.Sprintf("%s #%d", s.call.Action, s.nth) }

// rule is one about this call, and when times is not 1, about those that follow
// of its action: with 0 about all of them.
func (s site) rule(times int, do proxy.Effect) proxy.Rule {
	return proxy.Rule{Service: s.call.Service, Action: s.call.Action, Nth: s.nth, Times: times, Do: do}
}

// sitesOf finds the sites in the record of a clean run.
func sitesOf(log proxy.Log, before, diff []string) []site {
	var sites []site
	made, late := madeIn(before, diff), false
	count, seenFresh := map[string]int{}, map[string]bool{}
	for _, call := range log {
		count[call.Action]++
		at := site{call: call, nth: count[call.Action], late: late}
		late = late || makes[call.Action] != nil
		ids := namedIn(call)
		at.fresh = slices.ContainsFunc(ids, isIn(made)) && !seenFresh[call.Action]
		seenFresh[call.Action] = seenFresh[call.Action] || at.fresh
		at.named = oldIn(call, before)
		if !isOneOfMany(log, call, at.nth) {
			sites = append(sites, at)
		}
	}
	// Calls that are made side by side come in another order each time; shards have
	// to agree on one.
	slices.SortFunc(sites, func(a, b site) int { return cmp.Or(strings.Compare(a.call.Action, b.call.Action), a.nth-b.nth) })
	return sites
}

// madeIn are the entries of a difference about what was not there before: what
// is gone is none, nor is the old volume of a new attachment.
func madeIn(before, diff []string) []string {
	return slices.DeleteFunc(slices.Clone(diff), func(line string) bool {
		id := line[strings.LastIndex(line, " ")+1:]
		return strings.HasPrefix(line, "- ") || isIn(before)(id)
	})
}

// oldIn is the id that a call names of what was there before, "" for none.
func oldIn(call proxy.Call, before []string) (named string) {
	for _, id := range namedIn(call) {
		if isIn(before)(id) && (named == "" || isTheVolumeOf(call, id)) {
			named = id
		}
	}
	return named
}

// in is the site in another run, in which the same things have other ids.
func (s site) in(log proxy.Log, before []string) site {
	if calls := log.Of(s.call.Action); len(calls) >= s.nth && s.nth > 0 {
		s.named = oldIn(calls[s.nth-1], before)
	}
	return s
}

// isTheVolumeOf prefers, in a call about a volume and an instance, the volume.
func isTheVolumeOf(call proxy.Call, id string) bool {
	return strings.HasSuffix(call.Action, "tachVolume") && strings.HasPrefix(id, "vol-")
}

// isOneOfMany leaves out all blocks of an upload but the first and the last.
func isOneOfMany(log proxy.Log, call proxy.Call, nth int) bool {
	return call.Action == "PutSnapshotBlock" && nth > 1 && nth < log.Count()["PutSnapshotBlock"]
}

// isIn says whether an inventory, or a difference of two, lists an id.
func isIn(list []string) func(id string) bool {
	return func(id string) bool {
		return slices.ContainsFunc(list, func(line string) bool { return strings.HasSuffix(line, " "+id) })
	}
}

var resourceID = regexp.MustCompile(`^(i|vol|snap|subnet|eni|ami)-[0-9a-f]+$`)

// namedIn returns the ids that a call names, other than in filters and tags, in
// the order of the parameters' names.
func namedIn(call proxy.Call) []string {
	var names, ids []string
	for name := range call.Params {
		if !strings.HasPrefix(name, "Filter.") && !strings.HasPrefix(name, "Tag") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		ids = append(ids, call.Params[name]...)
	}
	ids = append(ids, strings.Split(call.Path, "/")...)
	return slices.DeleteFunc(ids, func(id string) bool { return !resourceID.MatchString(id) })
}

// notFoundCodes are AWS's codes for an unknown id, by its beginning.
var notFoundCodes = map[string]string{
	"i": "InvalidInstanceID.NotFound", "vol": "InvalidVolume.NotFound", "snap": "InvalidSnapshot.NotFound",
	"subnet": "InvalidSubnetID.NotFound", "eni": "InvalidNetworkInterfaceID.NotFound", "ami": "InvalidAMIID.NotFound",
}

func notFound(id string) proxy.Effect {
	kind, _, _ := strings.Cut(id, "-")
	return proxy.Fail(400, notFoundCodes[kind], "'"+id+"' does not exist")
}
