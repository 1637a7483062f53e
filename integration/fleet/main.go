// Command fleet has many create_vm processes, then many delete_vm processes, run
// at once against EC2's documented rate limits, in real time, and prints how
// close to the speed that these limits allow they come. Each process is on its
// own, as a Director's are: none knows of the others.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/emulator"
	"bosh-aws-cpi/integration/proxy"
	"bosh-aws-cpi/integration/stage"
)

// most is how many addresses the account's first subnet has to give: a /24
// without AWS's own and the first ten.
const most = 240

func main() {
	executable := flag.String("cpi", "bin/aws_cpi", "the built CPI")
	size := flag.Int("n", 100, "how many processes at once")
	flag.Parse()
	if *size < 1 || *size > most {
		fmt.Fprintf(os.Stderr, "fleet: -n %d: expected 1 to %d\n", *size, most)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *executable, *size); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, executable string, size int) error {
	set, err := stage.Open(ctx, executable, "", driver.Config{TimeScale: 1})
	if err != nil {
		return err
	}
	defer set.Close()
	set.Recorder.SetDelays(delays)
	set.Recorder.SetLatency(latencies)
	before, err := set.Moto.Inventory(ctx, "")
	if err != nil {
		return err
	}
	results, err := surges(ctx, set, size)
	if err != nil {
		return err
	}
	after, err := set.Moto.Inventory(ctx, "")
	if err != nil {
		return err
	}
	return report(size, results, emulator.Diff(before, after))
}

// The account is about as slow as AWS is, so that processes wait and poll side
// by side as they do there. That all instances take the same time is the worst
// case: all processes of a crowd have to see it at the same moment.
var (
	delays    = proxy.Delays{InstanceRunning: 8 * time.Second, InstanceTerminated: 35 * time.Second}
	latencies = map[string]proxy.Latency{"": {Min: 80 * time.Millisecond, Max: 250 * time.Millisecond}}
)

// surges makes all VMs at once, and when the last is there, deletes them all at
// once. What one of each takes without limits and without a crowd is measured
// before.
func surges(ctx context.Context, set *stage.Stage, size int) ([]result, error) {
	sole, err := alone(ctx, set)
	if err != nil {
		return nil, err
	}
	fleet := &fleet{Stage: set, vms: make([]string, size)}
	set.Recorder.Throttle(proxy.EC2Limits())
	var results []result
	for i, method := range fleet.methods() {
		results = append(results, fleet.surge(ctx, method, sole[i]))
	}
	return results, context.Cause(ctx)
}

// errShort says that the run did not end as it must.
var errShort = errors.New("not every call succeeded, or something was left in the account")
