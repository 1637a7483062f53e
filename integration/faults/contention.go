package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/emulator"
	"bosh-aws-cpi/integration/emulator/query"
)

// contention is a case of several callers wanting one thing, or of AWS having
// no room.
type contention struct {
	name  string
	wrong error // what is not as specified
}

// contest is how such a case is played: wrong is what the contract says
// otherwise, err is that it could not be played.
type contest struct {
	name string
	play func(context.Context, *worker) (wrong, err error)
}

// contests are all of them.
func contests() []contest {
	var all []contest
	for _, group := range [][]contest{addressContests(), diskContests(), capacityContests()} {
		all = append(all, group...)
	}
	return all
}

// contend plays all that match, each in a fresh account.
func contend(ctx context.Context, o options) (all []contention, err error) {
	w, err := newWorker(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	for _, c := range contests() {
		name := "contention: " + c.name
		if !o.scenarios.MatchString(name) || !o.faults.MatchString(name) {
			continue
		}
		if err := w.renew(ctx); err != nil {
			return nil, err
		}
		wrong, err := c.play(ctx, w)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, contention{name, wrong})
	}
	return all, nil
}

// someoneElse makes an AWS call that is not the CPI's.
func (w *worker) someoneElse(ctx context.Context, action string, params ...string) error {
	_, err := query.Client{Endpoint: w.Recorder.URL, Region: w.Account.Region}.Do(ctx, query.EC2, action, params...)
	return err
}

// refusedWith says what is wrong with an error that has to be immediate, for
// good and to name what is in the way, and that must leave nothing behind.
func (w *worker) refusedWith(ctx context.Context, before []string, outcome driver.Outcome, kind string, says ...string) (wrong, err error) {
	after, err := w.inventory(ctx)
	if err != nil {
		return nil, err
	}
	failed := outcome.Response.Error
	if outcome.Invalid != nil || failed == nil {
		return fmt.Errorf("an error %s, not %.300s", kind, outcome.Stdout), nil
	}
	var deviations []error
	if failed.Type != kind || failed.OKToRetry {
		deviations = append(deviations, fmt.Errorf("type %s, ok_to_retry false", kind))
	}
	for _, word := range says {
		if !strings.Contains(failed.Message, word) {
			deviations = append(deviations, fmt.Errorf("a message with %q", word))
		}
	}
	if diff := emulator.Diff(before, after); len(diff) > 0 {
		deviations = append(deviations, fmt.Errorf("nothing left, not %s", strings.Join(diff, ", ")))
	}
	if len(deviations) > 0 {
		deviations = append(deviations, fmt.Errorf("came: %w", failed))
	}
	return errors.Join(deviations...), nil
}

// oneCall says whether an action was called more often than once: what is
// immediate asks once.
func (w *worker) oneCall(action string) error {
	if number := w.Recorder.Calls().Count()[action]; number != 1 {
		return fmt.Errorf("1 call of %s, not %d", action, number)
	}
	return nil
}
