package main

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/emulator"
	"bosh-aws-cpi/integration/proxy"
)

// hangBound is when a call counts as hung, whatever the fault. The longest
// waits of a case last a few seconds at its time scale.
const hangBound = time.Minute

// hastyScale makes the waits for states that never come short.
const hastyScale = 0.001

// played is a case and what came of it.
type played struct {
	scenario scenario
	at       site
	fault    fault
	request  string // its id
	outcome  driver.Outcome
	calls    proxy.Log
	diff     []string // what the account has more or less
	hung     bool
}

// clean is the run without a fault, against which all others are held.
type clean struct {
	sites []site
	diff  []string
}

// run makes the scenario's call with the armed rules in place.
func (w *worker) run(ctx context.Context, s scenario, f fault, at site, from state) (played, error) {
	w.Recorder.ClearRules()
	w.Recorder.Hide(proxy.Hiding{})
	w.Recorder.Clear()
	started := make(chan *driver.Running, 1)
	if f.arm != nil {
		f.arm(&round{worker: w, at: at, before: from.before, signal: func(name string) {
			running := <-started
			started <- running
			_ = running.Signal(signalOf(name)) // fails when it is gone already
			if name == "KILL" {
				return
			}
			time.Sleep(50 * time.Millisecond) // so that it comes during the call
		}})
	}
	for _, rule := range s.standing {
		w.Recorder.Add(rule)
	}
	cpi := w.cpi(s)
	var err error
	switch {
	case f.impatient:
		cpi.ConfigPath = w.impatient
	case f.hasty:
		cpi.ConfigPath = w.hasty
	}
	request, err := cpi.Request(s.method, from.arguments...)
	if err != nil {
		return played{}, err
	}
	limited, cancel := context.WithTimeout(ctx, hangBound)
	defer cancel()
	running, err := cpi.Start(limited, request)
	if err != nil {
		return played{}, err
	}
	started <- running
	p := played{scenario: s, at: at, fault: f, request: cpi.RequestID, outcome: running.Wait(), hung: limited.Err() != nil && ctx.Err() == nil}
	p.calls = w.settled(ctx)
	p.at = at.in(p.calls, from.before)
	w.Recorder.ClearRules()
	w.Recorder.Hide(proxy.Hiding{})
	after, err := w.inventory(ctx)
	p.diff = emulator.Diff(from.before, after)
	return p, err
}

func signalOf(name string) syscall.Signal {
	if name == "KILL" {
		return syscall.SIGKILL
	}
	return syscall.SIGTERM
}

// cleanRun makes the call without a fault and records it.
func (w *worker) cleanRun(ctx context.Context, s scenario, from state) (clean, error) {
	p, err := w.run(ctx, s, fault{}, site{}, from)
	if err == nil {
		err = p.outcome.Err()
	}
	if err != nil {
		return clean{}, fmt.Errorf("%s without a fault: %w", s.name, err)
	}
	return clean{sitesOf(p.calls, from.before, p.diff), p.diff}, nil
}

// sweep plays the shard of a scenario's cases and tells each verdict.
func (w *worker) sweep(ctx context.Context, j job, told func(verdict)) error {
	w.untidy = true
	from, err := w.prepare(ctx, j.scenario)
	if err != nil {
		return err
	}
	spotless, err := w.cleanRun(ctx, j.scenario, from)
	if err != nil {
		return err
	}
	from.before, w.untidy = nil, j.scenario.creates // the clean run has changed the account
	number := 0
	for _, at := range spotless.sites {
		for _, f := range faults() {
			if !w.faults.MatchString(f.name) || (f.hits != nil && !f.hits(j.scenario, at)) {
				continue
			}
			if number++; number%j.shards != j.shard {
				continue
			}
			if from, err = w.playOne(ctx, j.scenario, f, at, from, spotless, told); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// playOne plays a case and returns the state that the next one begins with.
func (w *worker) playOne(ctx context.Context, s scenario, f fault, at site, from state, spotless clean, told func(verdict)) (state, error) {
	var err error
	if from.before == nil {
		if from, err = w.prepare(ctx, s); err != nil {
			return from, err
		}
	}
	p, err := w.run(ctx, s, f, at, from)
	if err != nil {
		return from, fmt.Errorf("%s, %s, %s: %w", s.name, at, f.name, err)
	}
	told(judge(p, spotless))
	if !w.restore(ctx, from.before, p) {
		from.before = nil
	}
	return from, nil
}
