package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/life"
	"bosh-aws-cpi/integration/proxy"
	"bosh-aws-cpi/integration/stage"
)

// fleet are the VMs and where they are made.
type fleet struct {
	*stage.Stage
	vms []string // cid by number, "" while there is none
}

// method is one of the CPI's, called once for each VM of the fleet.
type method struct {
	name      string
	arguments func(n int) []any
	keep      func(n int, outcome driver.Outcome)
}

// sole is what a call takes that has the account for itself: its AWS calls,
// polling again not counted, and its time.
type sole struct {
	calls map[string]int
	wall  time.Duration
}

// result is what came of calling a method for the whole fleet at once.
type result struct {
	method   string
	alone    sole
	outcomes []driver.Outcome
	wall     time.Duration
	calls    proxy.Log
}

func (f *fleet) methods() []method {
	return []method{
		{"create_vm", f.vmArguments, func(n int, outcome driver.Outcome) { f.vms[n] = outcome.VM() }},
		{"delete_vm", func(n int) []any { return []any{f.vms[n]} }, func(n int, outcome driver.Outcome) {
			if outcome.Err() == nil {
				f.vms[n] = ""
			}
		}},
	}
}

// vmArguments are create_vm's for the n-th VM: one network, its own address.
func (f *fleet) vmArguments(n int) []any {
	const first = 10 // AWS keeps the lowest addresses of a subnet
	agent := fmt.Sprintf("6a5a1f2e-8b1c-4f4e-9d55-%012d", n)
	networks := driver.Object("default", life.Network(f.Account, first+n))
	return []any{agent, f.Account.Image + " light", life.Properties(f.Account), networks, []string{}, map[string]any{}}
}

// alone calls each method for a few VMs, with no limits, and keeps the shortest
// time of each.
func alone(ctx context.Context, set *stage.Stage) ([]sole, error) {
	few := &fleet{Stage: set, vms: make([]string, 3)}
	var found []sole
	for _, method := range few.methods() {
		result := few.surge(ctx, method, sole{})
		for err := range result.failures() {
			return nil, fmt.Errorf("%s, without limits: %w", method.name, err)
		}
		found = append(found, sole{result.neededByOne(), result.quantile(0)})
	}
	return found, nil
}

func (f *fleet) call(ctx context.Context, method method, n int) driver.Outcome {
	cpi := f.CPI
	cpi.RequestID = requestID(method.name, n)
	outcome := cpi.Call(ctx, method.name, method.arguments(n)...)
	method.keep(n, outcome)
	return outcome
}

// surge calls a method for every VM at once and waits for the last.
func (f *fleet) surge(ctx context.Context, method method, alone sole) result {
	size := len(f.vms)
	surge := result{method: method.name, alone: alone, outcomes: make([]driver.Outcome, size)}
	mark, started := f.Recorder.Mark(), time.Now()
	var group sync.WaitGroup
	for n := range size {
		group.Go(func() { surge.outcomes[n] = f.call(ctx, method, n) })
	}
	group.Wait()
	surge.wall, surge.calls = time.Since(started), f.Recorder.Since(mark)
	return surge
}

// neededByOne counts the AWS calls of the first VM's call by action. Asking the
// same again is polling, which the least possible does not need.
func (r result) neededByOne() map[string]int {
	asked := map[string]bool{}
	request := "request/" + requestID(r.method, 0)
	return r.calls.Where(func(call proxy.Call) bool {
		question := call.Action + " " + call.Params.Encode()
		again := asked[question]
		asked[question] = true
		return !again && strings.HasSuffix(call.UserAgent, request)
	}).Count()
}

func requestID(method string, n int) string { return fmt.Sprintf("fleet-%s-%d", method, n) }
