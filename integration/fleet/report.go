package main

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/proxy"
)

// target is how much longer than the least possible a fleet may take.
const target = 1.2

// report prints what came of it. Only failures and leftovers are errors: how
// long it takes depends on the machine, too.
func report(size int, results []result, left []string) error {
	fmt.Printf("%d processes at once; EC2's documented buckets; instances pending for %.0f s, shutting down for %.0f s; every call takes %d to %d ms\n\n",
		size, delays.InstanceRunning.Seconds(), delays.InstanceTerminated.Seconds(), latencies[""].Min.Milliseconds(), latencies[""].Max.Milliseconds())
	succeeded := true
	var wall, least time.Duration
	for _, r := range results {
		r.print(size)
		succeeded = succeeded && r.successes() == size
		wall += r.wall
		least += r.least(size)
	}
	ratio := wall.Seconds() / least.Seconds()
	verdict := "within"
	if ratio > target {
		verdict = "beyond"
	}
	fmt.Printf("in all: %.1f s, least possible %.1f s, ratio %.2f: %s the target of %.1f\n", wall.Seconds(), least.Seconds(), ratio, verdict, target)
	fmt.Printf("left in the account: %d\n", len(left))
	for _, resource := range left {
		fmt.Println("  " + resource)
	}
	if !succeeded || len(left) > 0 {
		return errShort
	}
	return nil
}

func (r result) print(size int) {
	fmt.Printf("%s: %d of %d succeeded\n", r.method, r.successes(), size)
	r.printFailures()
	fmt.Printf("  wall %.1f s; least possible %.1f s (%s); ratio %.2f\n",
		r.wall.Seconds(), r.least(size).Seconds(), r.reason(size), r.wall.Seconds()/r.least(size).Seconds())
	fmt.Printf("  a call took %.1f s (first), %.1f s (median), %.1f s (last); %.1f s of CPU in all\n",
		r.quantile(0).Seconds(), r.quantile(0.5).Seconds(), r.quantile(1).Seconds(), r.cpu().Seconds())
	count := r.calls.Count()
	for _, action := range slices.Sorted(maps.Keys(count)) {
		fmt.Printf("  %-22s %5d calls, %5d throttled\n", action, count[action], r.throttled(action))
	}
	all, throttled := len(r.calls), r.throttled(slices.Collect(maps.Keys(count))...)
	fmt.Printf("  %-22s %5d calls, %5d throttled: %.0f %%\n\n", "all", all, throttled, 100*float64(throttled)/float64(max(all, 1)))
}

// printFailures prints the first few: a hundred alike tell no more.
func (r result) printFailures() {
	const most = 5
	printed := 0
	for n, outcome := range r.outcomes {
		if err := outcome.Err(); err != nil && printed < most {
			fmt.Printf("  VM %d: %v\n", n, err)
			printed++
		}
	}
}

func (r result) successes() int {
	return len(r.outcomes) - len(slices.Collect(r.failures()))
}

func (r result) failures() func(func(error) bool) {
	return func(yield func(error) bool) {
		for _, outcome := range r.outcomes {
			if err := outcome.Err(); err != nil && !yield(err) {
				return
			}
		}
	}
}

func (r result) throttled(actions ...string) int {
	return len(r.calls.Of(actions...).Where(proxy.Call.Throttled))
}

func (r result) cpu() (all time.Duration) {
	for _, outcome := range r.outcomes {
		all += outcome.CPU
	}
	return all
}

// quantile is how long a call took: 0 the fastest, 1 the slowest.
func (r result) quantile(of float64) time.Duration {
	sorted := slices.SortedFunc(slices.Values(r.outcomes), func(a, b driver.Outcome) int { return int(a.Wall - b.Wall) })
	return sorted[int(of*float64(len(sorted)-1))].Wall
}
