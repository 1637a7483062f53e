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
	"time"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/heavyimage"
	"bosh-aws-cpi/integration/stage"
)

func main() {
	executable := flag.String("cpi", "bin/aws_cpi", "the built CPI")
	mebibytes := flag.Int64("mib", 2048, "size of the image in MiB")
	runs := flag.Int("runs", 3, "how often each is measured; the median is printed")
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
	set, err := stage.Open(ctx, executable, "cpi-bench", driver.Config{LogLevel: "info"})
	if err != nil {
		return err
	}
	defer set.Close()
	dir, err := os.MkdirTemp("", "bosh-aws-cpi-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	image := filepath.Join(dir, "image")
	if err := spec.Write(image); err != nil {
		return err
	}
	file, err := os.Stat(image)
	if err != nil {
		return err
	}
	fmt.Printf("image of %d MiB, %d of %d blocks with data, %.0f MiB gzipped; medians of %d\n\n",
		spec.Bytes>>20, spec.DataBlocks(), spec.Blocks(), float64(file.Size())/(1<<20), runs)
	return measure(ctx, set, spec, image, runs)
}

// measure prints each stage alone and the whole. Rates are MiB of the image, not
// of what is left of it in a stage, so that they can be compared.
func measure(ctx context.Context, set *stage.Stage, spec heavyimage.Spec, image string, runs int) error {
	slowest := 0.0
	for _, alone := range []struct {
		name string
		run  func() error
	}{
		{"gunzip alone", func() error { return gunzip(image) }},
		{"SHA256 of the blocks alone", func() error { return hash(spec) }},
		{"the emulator's PUT alone", func() error { return put(ctx, set, spec) }},
	} {
		rate, err := median(runs, spec, alone.run)
		if err != nil {
			return fmt.Errorf("%s: %w", alone.name, err)
		}
		fmt.Printf("%-28s %8.0f MiB/s\n", alone.name, rate)
		if slowest == 0 || rate < slowest {
			slowest = rate
		}
	}
	var memory int64
	rate, err := median(runs, spec, func() error {
		outcome, err := create(ctx, set, image)
		memory = max(memory, outcome.Memory)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Printf("%-28s %8.0f MiB/s\n\n%.2f of the slowest stage alone, peak memory %.1f MiB\n", "create_stemcell, end to end", rate, rate/slowest, float64(memory)/(1<<20))
	return nil
}

func median(runs int, spec heavyimage.Spec, run func() error) (float64, error) {
	rates := make([]float64, runs)
	for i := range rates {
		started := time.Now()
		if err := run(); err != nil {
			return 0, err
		}
		rates[i] = float64(spec.Bytes) / (1 << 20) / time.Since(started).Seconds()
	}
	return middle(rates), nil
}
