package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// report is what the sweep found.
type report struct {
	verdicts []verdict
	others   []contention
	took     time.Duration
}

func (r *report) asSpecified() bool {
	return len(r.verdicts)+len(r.others) > 0 && !slices.ContainsFunc(r.verdicts, func(v verdict) bool { return !v.asSpecified() }) &&
		!slices.ContainsFunc(r.others, func(c contention) bool { return c.wrong != nil })
}

// totals counts the verdicts of a method, or of all.
type totals struct{ cases, right, leaks, invalid, hangs int }

func (t *totals) add(v verdict) {
	t.cases++
	if v.asSpecified() {
		t.right++
	}
	if len(v.leaks) > 0 {
		t.leaks++
	}
	if v.invalid {
		t.invalid++
	}
	if v.hung {
		t.hangs++
	}
}

func (r *report) print(out io.Writer) {
	r.printMethods(out)
	r.printKilled(out)
	r.printContention(out)
	var all totals
	for _, v := range r.verdicts {
		if !v.asSpecified() {
			printDeviation(out, v)
		}
		all.add(v)
	}
	for _, c := range r.others {
		all.cases++
		if c.wrong == nil {
			all.right++
		}
	}
	fmt.Fprintf(out, "\n%d cases, %d as specified, %d leaks, %d invalid responses, %d hangs; %.0f s\n",
		all.cases, all.right, all.leaks, all.invalid, all.hangs, r.took.Seconds())
}

func (r *report) printMethods(out io.Writer) {
	fmt.Fprintf(out, "\n%-52s %6s %6s %13s %6s %8s %6s\n", "method", "calls", "cases", "as specified", "leaks", "invalid", "hangs")
	for _, s := range scenarios() {
		var sum totals
		calls := map[string]bool{}
		for _, v := range r.verdicts {
			if v.scenario.name == s.name {
				sum.add(v)
				calls[v.at.String()] = true
			}
		}
		if sum.cases > 0 {
			fmt.Fprintf(out, "%-52s %6d %6d %13d %6d %8d %6d\n", s.name, len(calls), sum.cases, sum.right, sum.leaks, sum.invalid, sum.hangs)
		}
	}
}

// printKilled lists, for SIGKILL during each call, what is left: the one fault
// after which something may be.
func (r *report) printKilled(out io.Writer) {
	fmt.Fprintf(out, "\nSIGKILL leaves at most what the calls had made, tagged bosh-director, bosh-request-id and, of a VM, bosh-agent-id:\n")
	for _, s := range scenarios() {
		var worst, harmless []string
		for _, v := range r.verdicts {
			if v.scenario.name != s.name || !v.fault.kills {
				continue
			}
			if left := kindsOf(v.diff); left != "" {
				worst = append(worst, fmt.Sprintf("during %-40s %s", v.at, left))
			} else {
				harmless = append(harmless, v.at.String())
			}
		}
		if len(harmless) > 0 {
			worst = append(worst, fmt.Sprintf("during %-40s nothing", strings.Join(harmless, ", ")))
		}
		if len(worst) > 0 {
			fmt.Fprintf(out, "  %s\n    %s\n", s.name, strings.Join(worst, "\n    "))
		}
	}
}

func (r *report) printContention(out io.Writer) {
	if len(r.others) == 0 {
		return
	}
	fmt.Fprintf(out, "\ncontention and capacity\n")
	for _, c := range r.others {
		outcome := "as specified"
		if c.wrong != nil {
			outcome = c.wrong.Error()
		}
		fmt.Fprintf(out, "  %-72s %s\n", c.name, outcome)
	}
}

func printDeviation(out io.Writer, v verdict) {
	fmt.Fprintf(out, "\nDEVIATION %s, %s, %s\n  expected: %s\n", v.scenario.name, v.at, v.fault.name, strings.Join(v.deviations, "; "))
	switch {
	case v.hung:
		fmt.Fprintf(out, "  came: nothing within %.0f s\n", v.outcome.Wall.Seconds())
	case v.outcome.Response.Error != nil:
		fmt.Fprintf(out, "  came: %s\n", v.outcome.Response.Error)
	default:
		fmt.Fprintf(out, "  came: %.300s\n", v.outcome.Stdout)
	}
	if len(v.diff) > 0 {
		fmt.Fprintf(out, "  account: %s\n", strings.Join(v.diff, ", "))
	}
	fmt.Fprintf(out, "  calls: %s\n", strings.Join(v.calls.Actions(), ", "))
	if v.outcome.Invalid != nil {
		fmt.Fprintf(out, "  stderr: %.2000s\n", v.outcome.Stderr)
	}
}
