package main

import (
	"context"
	"strings"
	"time"

	"bosh-aws-cpi/integration/emulator/query"
	"bosh-aws-cpi/integration/proxy"
)

// fault is something that AWS, the network or an operator does to a call.
type fault struct {
	name string
	// hits says whether the fault can happen to a call; nil is to every one.
	hits func(scenario, site) bool
	// arm makes it happen.
	arm func(*round)
	// expected is what the contract says about it.
	expected func(scenario, site) expectation
	// impatient: the CPI waits a short time for an answer. hasty: it waits a
	// short time for a state.
	impatient, hasty bool
	// kills says that the process cannot answer.
	kills bool
}

// round is one run of a case: what a fault may lay hands on.
type round struct {
	*worker
	at     site
	before []string          // what the account has
	signal func(name string) // to the running process
}

func (r *round) rule(times int, do proxy.Effect) { r.Recorder.Add(r.at.rule(times, do)) }

// once and always answer a call, and the ones after it of the same action.
func once(effect func(site) proxy.Effect) func(*round) {
	return func(r *round) { r.rule(1, effect(r.at)) }
}

func always(effect func(site) proxy.Effect) func(*round) {
	return func(r *round) { r.rule(0, effect(r.at)) }
}

// is is the effect that does not depend on the call.
func is(effect proxy.Effect) func(site) proxy.Effect {
	return func(site) proxy.Effect { return effect }
}

// refused is a refusal in the code of the call's service.
func refused(at site) proxy.Effect {
	return proxy.Fail(403, refusalCode(at), "You are not authorized to perform this operation.")
}

func refusalCode(at site) string {
	switch at.call.Service {
	case proxy.EBS:
		return "AccessDeniedException"
	case "ec2":
		return "UnauthorizedOperation"
	default:
		return "AccessDenied"
	}
}

func internalError(site) proxy.Effect {
	return proxy.Fail(500, "InternalError", "An internal error has occurred.")
}

// undoing are the calls of an undo, and the number of the first one that is: what
// was taken from another is put back by the call that took it.
var undoing = map[string]int{
	"TerminateInstances": 1, "DeleteNetworkInterface": 1, "DeleteVolume": 1, "DetachVolume": 1, "DeleteSnapshot": 1,
	"DeregisterImage": 1, "DeleteSubnet": 1, "DeregisterTargets": 1, "DeregisterInstancesFromLoadBalancer": 1,
	"DeleteRoute": 1, "ReplaceRoute": 2, "AssociateAddress": 2,
}

// refusedWithUndo: what is left then has to be told.
func refusedWithUndo(r *round) {
	always(refused)(r)
	for action, nth := range undoing {
		if action != r.at.call.Action {
			r.Recorder.Add(proxy.Rule{Action: action, Nth: nth, Do: proxy.Fail(403, "UnauthorizedOperation", "You are not authorized to undo this.")})
		}
	}
}

func hasToUndo(s scenario, at site) bool { return s.creates && at.late }

// unknown has AWS not know the resource of the caller's that the call names.
func (r *round) unknown(times int) {
	for _, line := range r.before {
		id := line[strings.LastIndex(line, " ")+1:]
		rule := r.at.rule(times, notFound(id))
		rule.When = func(call proxy.Call) bool { return isTheCPIs(call) && oldIn(call, r.before) == id }
		r.Recorder.Add(rule)
	}
}

func isTheCPIs(call proxy.Call) bool { return strings.Contains(call.UserAgent, "bosh-aws-cpi") }

// gone is a resource that another has deleted for good. An image is really
// gone: its snapshots can be deleted only then.
func gone(r *round) {
	if r.at.call.Action == "DeregisterImage" {
		rule := r.at.rule(1, proxy.Before(func(call proxy.Call) {
			client := query.Client{Endpoint: r.Recorder.URL, Region: r.Account.Region}
			_, _ = client.Do(context.Background(), query.EC2, call.Action, "ImageId", call.Param("ImageId")) // the verdict tells
		}))
		rule.When = isTheCPIs
		r.Recorder.Add(rule)
	}
	r.unknown(0)
}

// throttledFor throttles a call for two minutes of the CPI's time.
func throttledFor(r *round) {
	var seen int
	var since time.Time
	r.Recorder.Add(proxy.Rule{Service: r.at.call.Service, Action: r.at.call.Action, Do: proxy.SlowDown(), When: func(proxy.Call) bool {
		if seen++; seen == r.at.nth {
			since = time.Now()
		}
		return seen >= r.at.nth && time.Since(since) < time.Duration(r.timeScale*float64(2*time.Minute))
	}})
}

// hidden makes the resources of this run unknown to one action: those of the
// kinds that it names, since a tag's value may be an id as well.
func hidden(uses int) func(*round) {
	return func(r *round) {
		var kinds []string
		for _, id := range namedIn(r.at.call) {
			kind, _, _ := strings.Cut(id, "-")
			kinds = append(kinds, kind)
		}
		r.Recorder.Hide(proxy.Hiding{Uses: uses, Actions: []string{r.at.call.Action}, Kinds: kinds})
	}
}

func signalled(name string) func(*round) {
	return func(r *round) { r.rule(1, proxy.Before(func(proxy.Call) { r.signal(name) })) }
}

func namesFresh(_ scenario, at site) bool { return at.fresh }
func namesOld(_ scenario, at site) bool   { return at.named != "" }

// mayBeOverlooked: an image is looked up just before it is deregistered. One that
// is unknown then is gone, which is the next fault.
func mayBeOverlooked(s scenario, at site) bool {
	return namesOld(s, at) && at.call.Action != "DeregisterImage"
}

// faults are all that are swept.
func faults() []fault {
	all := []fault{
		{name: "authorization refused", arm: always(refused), expected: refusal},
		{name: "authorization refused, also for the undo", hits: hasToUndo, arm: refusedWithUndo, expected: refusal},
		{name: "internal error once", arm: once(internalError), expected: success},
		{name: "internal error always", arm: always(internalError), expected: failing("InternalError")},
		{name: "throttled three times", arm: func(r *round) { r.rule(3, proxy.SlowDown()) }, expected: success},
		{name: "throttled for two minutes", arm: throttledFor, expected: success},
		{name: "connection reset before forwarding", arm: once(is(proxy.DropRequest())), expected: success},
		{name: "reply lost", arm: once(is(proxy.DropReply())), expected: success},
		{name: "no reply, not forwarded", arm: once(is(proxy.HangRequest())), expected: success, impatient: true},
		{name: "no reply, forwarded", arm: once(is(proxy.HangReply())), expected: success, impatient: true},
		{name: "HTML with status 502 once", arm: once(is(proxy.HTML(502))), expected: success},
		{name: "HTML with status 502 always", arm: always(is(proxy.HTML(502))), expected: failing("text/html")},
		{name: "HTML with status 200", arm: always(is(proxy.HTML(200))), expected: misled},
		{name: "fresh resource not found once", hits: namesFresh, arm: hidden(1), expected: success},
		{name: "fresh resource not found for good", hits: namesFresh, arm: hidden(proxy.Forever), expected: neverSeen},
		{name: "named resource not found once", hits: mayBeOverlooked, arm: func(r *round) { r.unknown(1) }, expected: goneOrNot},
		{name: "named resource not found for good", hits: namesOld, arm: gone, expected: goneForGood},
		{name: "SIGTERM during the call", arm: signalled("TERM"), expected: interruption},
		{name: "SIGKILL during the call", arm: signalled("KILL"), kills: true},
	}
	return append(all, stateFaults()...)
}
