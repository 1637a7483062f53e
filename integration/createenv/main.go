// Command createenv leads a Director's life with the real bosh CLI and real
// bosh-agents: create-env, updates, stop and start, delete-env, and a create-env
// that fails. AWS is the emulator; its instances are agents on this machine; all
// traffic stays on the loopback.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() {
	bosh := flag.String("bosh", "bin/bosh", "the bosh CLI")
	agent := flag.String("agent", "bin/bosh-agent", "the bosh-agent")
	release := flag.String("release", "", "the CPI's release, a tarball")
	verbose := flag.Bool("verbose", false, "show the CLI's output")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	built, err := absolute(programs{*bosh, *agent, *release})
	if err == nil {
		err = live(ctx, built, *verbose)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "create-env:", err)
		os.Exit(1)
	}
}

func absolute(built programs) (programs, error) {
	var failed error
	for _, path := range []*string{&built.bosh, &built.agent, &built.release} {
		found, err := filepath.Abs(*path)
		if err == nil {
			_, err = os.Stat(found)
		}
		*path, failed = found, errors.Join(failed, err)
	}
	return built, failed
}

// live makes all phases, stops at the first that goes wrong, and tidies up.
func live(ctx context.Context, built programs, verbose bool) (err error) {
	started := time.Now()
	e, err := open(ctx, built)
	if e != nil {
		defer func() {
			if ended := e.close(); ended != nil || err != nil {
				err = errors.Join(err, ended)
				return
			}
			fmt.Printf("%6.1f s  in all; nothing left in the account, no process left\n", time.Since(started).Seconds())
		}()
	}
	if err != nil {
		return err
	}
	for _, phase := range phases(e.newer) {
		if err := e.live(ctx, phase, verbose); err != nil {
			return fmt.Errorf("%s: %w", phase.name, err)
		}
	}
	return nil
}

// live makes one phase and tells about it.
func (e *environment) live(ctx context.Context, p phase, verbose bool) error {
	if p.change != nil {
		p.change(&e.director)
	}
	result, err := e.cli.run(ctx, p.command, e.director.manifest())
	if err != nil {
		return err
	}
	calls := "no CPI call"
	if len(result.calls) > 0 {
		calls = fmt.Sprintf("%d CPI calls: %s", len(result.calls), strings.Join(result.calls, ", "))
	}
	fmt.Printf("%6.1f s  %s\n      %s\n", result.seconds, p.name, calls)
	if p.fails {
		fmt.Printf("      the CLI says: %s\n", reason(result.output))
	}
	err = errors.Join(p.judge(result), e.host.failure())
	if err == nil && p.check != nil {
		err = p.check(e, result)
	}
	if err == nil && p.empty {
		err = e.expectNothing(ctx)
	}
	if err != nil {
		return fmt.Errorf("%w\n%s\n%s", err, result.output, e.host.logs())
	}
	if verbose {
		fmt.Println(result.output)
	}
	return nil
}

func (e *environment) expectNothing(ctx context.Context) error {
	left, err := e.left(ctx)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("left in the account: %s", strings.Join(left, ", "))
	}
	return err
}

// reason is the CLI's output from its first failure on.
func reason(output string) string {
	at := strings.Index(output, "CPI '")
	return strings.Join(strings.Fields(output[max(at, 0):]), " ")
}
