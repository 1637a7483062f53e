package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/fakeregistry"
	"bosh-aws-cpi/integration/proxy"
	"bosh-aws-cpi/integration/stage"
)

// worker plays cases on an emulator of its own.
type worker struct {
	options
	*stage.Stage
	registry *fakeregistry.Registry
	dir      string
	requests int  // made so far
	prepared int  // how often, since the account was fresh
	untidy   bool // a case has left what the next one would meet
	// usual, impatient and hasty are configurations of the CPI: the second has a
	// short limit for a request, the third for states that never come.
	usual, impatient, hasty string
}

// requestTimes are the limits of a request in the two configurations, in
// seconds; they are not scaled. An emulator on a busy machine needs the second.
const (
	usualRequest     = 20
	impatientRequest = 1
)

func newWorker(ctx context.Context, o options) (*worker, error) {
	w := &worker{options: o}
	if err := w.open(ctx); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *worker) open(ctx context.Context) (err error) {
	if w.registry, err = fakeregistry.Start("user", "password"); err != nil {
		return err
	}
	if w.Stage, err = stage.Open(ctx, w.executable, "", driver.Config{}); err != nil {
		return err
	}
	if w.dir, err = os.MkdirTemp("", "faults-"); err != nil {
		return err
	}
	if w.usual, err = w.config(usualRequest, w.timeScale); err != nil {
		return err
	}
	if w.impatient, err = w.config(impatientRequest, w.timeScale); err != nil {
		return err
	}
	w.hasty, err = w.config(usualRequest, hastyScale)
	return err
}

// config writes a configuration. The registry is always there: only requests of
// an old API version use it.
func (w *worker) config(seconds, timeScale float64) (string, error) {
	return driver.Config{
		Endpoint: w.Recorder.URL, Region: w.Account.Region, TimeScale: timeScale, HTTPTimeout: seconds,
		Registry: &driver.Registry{Endpoint: w.registry.URL, User: "user", Password: "password"},
	}.Write(w.dir)
}

func (w *worker) close() error {
	var failed []error
	if w.Stage != nil {
		failed = append(failed, w.Stage.Close())
	}
	if w.registry != nil {
		w.registry.Close()
	}
	if w.dir != "" {
		failed = append(failed, os.RemoveAll(w.dir))
	}
	return errors.Join(failed...)
}

// cpi calls the executable as a scenario wants it. Each call has a request id of
// its own, as a Director's has: by it the CPI finds again what the call made.
func (w *worker) cpi(s scenario) driver.CPI {
	w.requests++
	return driver.CPI{
		Path: w.executable, ConfigPath: w.usual, RequestID: fmt.Sprintf("cpi-faults-%d", w.requests), StemcellAPIVersion: s.stemcellVersion,
	}
}

// must makes a call of a preparation, which has to succeed.
func (w *worker) must(ctx context.Context, s scenario, method string, arguments ...any) (driver.Outcome, error) {
	outcome := w.cpi(s).Call(ctx, method, arguments...)
	if err := outcome.Err(); err != nil {
		return outcome, fmt.Errorf("preparing %s with %s: %w", s.name, method, err)
	}
	return outcome, nil
}

// prepare makes what the scenario needs: in the account as it is, which is
// quicker, or in a fresh one.
func (w *worker) prepare(ctx context.Context, s scenario) (state, error) {
	if w.prepared++; w.untidy || s.alone || w.prepared > tidyFor {
		if err := w.renew(ctx); err != nil {
			return state{}, err
		}
	}
	w.registry.Clear()
	made := state{}
	var err error
	if made.arguments, err = s.prepare(ctx, w, s); err != nil {
		return state{}, err
	}
	made.before, err = w.inventory(ctx)
	return made, err
}

// tidyFor is how often something is prepared until what is left of the cases
// before makes the emulator slow.
const tidyFor = 25

// renew makes a fresh account.
func (w *worker) renew(ctx context.Context) error {
	w.Recorder.Reset()
	w.untidy, w.prepared = false, 0
	err := w.Moto.Reset(ctx)
	if err == nil {
		w.Account, err = w.Moto.NewAccount(ctx, "")
	}
	return err
}

// state is what a case begins with.
type state struct {
	arguments []any
	before    []string
}

// inventory lists account and registry. What is listed twice is one: a load
// balancer's instances are a set, to which the emulator adds one again.
func (w *worker) inventory(ctx context.Context) ([]string, error) {
	list, err := w.Moto.Inventory(ctx, "")
	if err != nil {
		return nil, err
	}
	for instance := range w.registry.Content() {
		list = append(list, "registry "+instance)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// settled waits until the proxy has answered everything: a killed process does
// not wait for what it asked for.
func (w *worker) settled(ctx context.Context) proxy.Log {
	for range 500 {
		log := w.Recorder.Calls()
		if len(log.Where(func(call proxy.Call) bool { return call.Status == 0 })) == 0 || ctx.Err() != nil {
			return log
		}
		time.Sleep(10 * time.Millisecond)
	}
	return w.Recorder.Calls()
}
