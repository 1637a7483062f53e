// Command benchstemcell prints how fast a heavy stemcell is uploaded, end to
// end, beside the pace of each stage alone on the same machine: decompressing,
// hashing, and what the emulator takes. It asserts nothing.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"time"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/heavyimage"
	"bosh-aws-cpi/integration/stage"
)

func main() {
	executable := flag.String("cpi", "bin/aws_cpi", "the built CPI")
	mebibytes := flag.Int64("mib", 2048, "size of the image in MiB")
	runs := flag.Int("runs", 5, "how often each is measured; the median is printed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *executable, heavyimage.Spec{Bytes: *mebibytes << 20}, *runs); err != nil {
		fmt.Fprintln(os.Stderr, "bench-stemcell:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, executable string, spec heavyimage.Spec, runs int) error {
	set, err := stage.Open(ctx, executable, "cpi-bench", driver.Config{})
	if err != nil {
		return err
	}
	defer set.Close()
	dir, err := os.MkdirTemp("", "bosh-aws-cpi-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// Past the recorder, which takes as much of the machine as the CPI.
	direct := driver.Config{Endpoint: set.Moto.URL, Region: set.Account.Region, LogLevel: "info"}
	if set.CPI.ConfigPath, err = direct.Write(dir); err != nil {
		return err
	}
	image := filepath.Join(dir, "image")
	if err := spec.Write(image); err != nil {
		return err
	}
	file, err := os.Stat(image)
	if err != nil {
		return err
	}
	fmt.Printf("image of %d MiB, %d of %d blocks with data, %.0f MiB gzipped; medians of %d; %s\n\n",
		spec.Bytes>>20, spec.DataBlocks(), spec.Blocks(), float64(file.Size())/(1<<20), runs, separate(ctx, set.Moto.PID()))
	return measure(ctx, set, spec, image, runs)
}

// measured is what is timed, and its times in seconds.
type measured struct {
	name  string
	run   func() error
	times []float64
}

// measure prints each stage alone and the whole. Rates are MiB of the image, not
// of what is left of it in a stage, so that they can be compared. All are
// measured in turn, round by round, so that the machine and the emulator are in
// the same state for each.
func measure(ctx context.Context, set *stage.Stage, spec heavyimage.Spec, image string, rounds int) error {
	var memory int64
	all := []*measured{
		{name: "gunzip alone", run: func() error { return gunzip(image) }},
		{name: "SHA256 of the blocks alone", run: func() error { return hash(spec) }},
		{name: "the emulator's PUT alone", run: func() error { return put(ctx, set, spec) }},
		{name: "create_stemcell, end to end", run: func() error {
			outcome, err := create(ctx, set, image)
			memory = max(memory, outcome.Memory)
			return err
		}},
	}
	for range rounds {
		for _, one := range all {
			started := time.Now()
			if err := one.run(); err != nil {
				return fmt.Errorf("%s: %w", one.name, err)
			}
			one.times = append(one.times, time.Since(started).Seconds())
		}
	}
	var rates []float64
	for _, one := range all {
		rate := float64(spec.Bytes) / (1 << 20) / middle(one.times)
		rates = append(rates, rate)
		fmt.Printf("%-28s %8.0f MiB/s\n", one.name, rate)
	}
	whole := len(rates) - 1
	fmt.Printf("\n%.2f of the slowest stage alone, peak memory %.1f MiB\n", rates[whole]/slices.Min(rates[:whole]), float64(memory)/(1<<20))
	return nil
}
