// Command faults sweeps the CPI with everything that AWS is known to do wrong.
// For every method that changes something it records the AWS calls of a clean
// run, then runs the method again once for every call and every fault, and holds
// answer and account against what the contract says of that fault. It exits with
// 1 unless every case is as specified.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
)

// options are what the command line says.
type options struct {
	executable string
	scenarios  *regexp.Regexp
	faults     *regexp.Regexp
	workers    int
	timeScale  float64
	verbose    bool
}

func main() {
	o, err := readOptions()
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	report, err := sweep(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(2)
	}
	report.print(os.Stdout)
	if !report.asSpecified() {
		os.Exit(1)
	}
}

func readOptions() (options, error) {
	o := options{}
	flag.StringVar(&o.executable, "cpi", "bin/aws_cpi", "the built CPI")
	scenario := flag.String("method", "", "only methods and variants that match this regular expression")
	fault := flag.String("fault", "", "only faults that match this regular expression")
	flag.IntVar(&o.workers, "workers", 6, "emulators at work side by side; most of a case is waiting")
	flag.Float64Var(&o.timeScale, "scale", 0.01, "debug.cpi.time_scale of the CPI")
	flag.BoolVar(&o.verbose, "v", false, "tell every case as it ends")
	flag.Parse()
	var err error
	if o.scenarios, err = regexp.Compile(*scenario); err != nil {
		return o, fmt.Errorf("-method: %w", err)
	}
	if o.faults, err = regexp.Compile(*fault); err != nil {
		return o, fmt.Errorf("-fault: %w", err)
	}
	return o, nil
}
