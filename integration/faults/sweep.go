package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// job is one shard of a scenario.
type job struct {
	scenario scenario
	shard    int
	shards   int
}

// sweep plays everything and returns what it found.
func sweep(ctx context.Context, o options) (*report, error) {
	var err error
	if o.executable, err = filepath.Abs(o.executable); err != nil {
		return nil, err
	}
	started := time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	jobs := make(chan job)
	result := &report{}
	var mutex sync.Mutex
	told := func(v verdict) {
		mutex.Lock()
		defer mutex.Unlock()
		result.verdicts = append(result.verdicts, v)
		o.tell(v, len(result.verdicts))
	}
	var group sync.WaitGroup
	for range o.workers {
		group.Go(func() {
			if err := work(ctx, o, jobs, told); err != nil {
				cancel(err)
			}
		})
	}
	hand(ctx, o, jobs)
	group.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if result.others, err = contend(ctx, o); err != nil {
		return nil, err
	}
	slices.SortStableFunc(result.verdicts, func(a, b verdict) int {
		return strings.Compare(a.scenario.name+a.at.String(), b.scenario.name+b.at.String())
	})
	result.took = time.Since(started)
	return result, nil
}

// hand hands the jobs out, the long ones first.
func hand(ctx context.Context, o options, jobs chan<- job) {
	defer close(jobs)
	all := scenarios()
	slices.SortStableFunc(all, func(a, b scenario) int { return b.shards - a.shards })
	for _, s := range all {
		shards := max(s.shards, 1)
		for shard := range shards {
			if !o.scenarios.MatchString(s.name) {
				continue
			}
			select {
			case jobs <- job{s, shard, shards}:
			case <-ctx.Done():
				return
			}
		}
	}
}

// work plays jobs on an emulator of its own until there are no more.
func work(ctx context.Context, o options, jobs <-chan job, told func(verdict)) error {
	w, err := newWorker(ctx, o)
	if err != nil {
		return err
	}
	defer w.close()
	for j := range jobs {
		if err := w.sweep(ctx, j, told); err != nil {
			return err
		}
	}
	return nil
}

// tell shows on stderr that the sweep goes on.
func (o options) tell(v verdict, number int) {
	if o.verbose || !v.asSpecified() {
		outcome := "as specified"
		if !v.asSpecified() {
			outcome = "DEVIATION: " + strings.Join(v.deviations, "; ")
		}
		fmt.Fprintf(os.Stderr, "%5.1f s  %s, %s, %s: %s\n", v.outcome.Wall.Seconds(), v.scenario.name, v.at, v.fault.name, outcome)
	} else if number%100 == 0 {
		fmt.Fprintf(os.Stderr, "%d cases\n", number)
	}
}
