// Command bench prints the whole-process figures of the built CPI executable:
// wall time, CPU time and peak memory of calls that do next to nothing, the size
// of the binary, and the AWS calls of a VM's life. It asserts nothing.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"time"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/life"
	"bosh-aws-cpi/integration/stage"
)

func main() {
	executable := flag.String("cpi", "bin/aws_cpi", "the built CPI")
	runs := flag.Int("runs", 20, "counted runs of each call")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *executable, *runs); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, executable string, runs int) error {
	set, err := stage.Open(ctx, executable, "cpi-bench", driver.Config{LogLevel: "info"})
	if err != nil {
		return err
	}
	defer set.Close()
	if err := processes(ctx, set.CPI, runs); err != nil {
		return err
	}
	if err := size(executable); err != nil {
		return err
	}
	return calls(ctx, set)
}

// processes prints the medians of whole processes.
func processes(ctx context.Context, cpi driver.CPI, runs int) error {
	disk := cpi.Call(ctx, "create_disk", 1024, map[string]any{})
	if err := disk.Err(); err != nil {
		return err
	}
	fmt.Printf("medians of %d runs\n%-12s %10s %10s %12s\n", runs, "method", "wall ms", "CPU ms", "peak MiB")
	for _, call := range []struct {
		method    string
		arguments []any
	}{{"info", nil}, {"has_disk", []any{disk.Text()}}} {
		timed, measured := make([]driver.Outcome, runs), make([]driver.Outcome, runs)
		for i := range runs {
			timed[i] = cpi.Call(ctx, call.method, call.arguments...)
			// Measuring memory costs time, so it has runs of its own.
			with := cpi
			with.Memory = true
			measured[i] = with.Call(ctx, call.method, call.arguments...)
			if err := cmp.Or(timed[i].Err(), measured[i].Err()); err != nil {
				return err
			}
		}
		fmt.Printf("%-12s %10.1f %10.1f %12.1f\n", call.method,
			median(timed, func(o driver.Outcome) float64 { return milliseconds(o.Wall) }),
			median(timed, func(o driver.Outcome) float64 { return milliseconds(o.CPU) }),
			median(measured, func(o driver.Outcome) float64 { return float64(o.Memory) / (1 << 20) }))
	}
	return nil
}

func median(outcomes []driver.Outcome, figure func(driver.Outcome) float64) float64 {
	figures := make([]float64, len(outcomes))
	for i, outcome := range outcomes {
		figures[i] = figure(outcome)
	}
	slices.Sort(figures)
	return (figures[(len(figures)-1)/2] + figures[len(figures)/2]) / 2
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func size(executable string) error {
	file, err := os.Stat(executable)
	if err != nil {
		return fmt.Errorf("the size of the binary: %w", err)
	}
	fmt.Printf("\nbinary %.1f MB (%d bytes)\n", float64(file.Size())/1e6, file.Size())
	return nil
}

// calls prints what a VM's life costs, beside what it costs with today's CPI.
func calls(ctx context.Context, set *stage.Stage) error {
	total, today := 0, 0
	fmt.Printf("\n%-32s %9s %9s %9s\n", "method", "AWS calls", "today", "wall ms")
	err := life.Live(ctx, set.CPI, set.Recorder, set.Account, life.OneVM(), func(step life.Happened) {
		fmt.Printf("%-32s %9d %9d %9d\n", step.Step.Method, len(step.Calls), step.Step.Today, step.Outcome.Wall.Milliseconds())
		total += len(step.Calls)
		today += step.Step.Today
	})
	fmt.Printf("%-32s %9d %9d\n", "one VM's life", total, today)
	return err
}
