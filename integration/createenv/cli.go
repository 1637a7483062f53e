package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// cli is the real bosh CLI, with a home of its own.
type cli struct {
	program string
	dir     string // for manifest, state, variables
	home    string
	temp    string
}

// ran is one run of it.
type ran struct {
	output  string
	failed  bool
	seconds float64
	calls   []string // methods of the CPI, in order, without info
}

// run runs a command that takes a manifest.
func (c cli) run(ctx context.Context, command string, manifest map[string]any) (ran, error) {
	path, log := filepath.Join(c.dir, "bosh.yml"), filepath.Join(c.temp, "bosh.log")
	if err := os.RemoveAll(log); err != nil {
		return ran{}, err
	}
	if err := writeJSON(path, manifest); err != nil { // which is YAML, too
		return ran{}, err
	}
	bosh := exec.CommandContext(ctx, c.program, "--non-interactive", "--no-color", "--tty", command, path,
		"--state", filepath.Join(c.dir, "state.json"), "--vars-store", filepath.Join(c.dir, "creds.yml"))
	var output bytes.Buffer
	bosh.Dir, bosh.Stdout, bosh.Stderr = c.dir, &output, &output
	// The CLI hands its environment on to the CPI. Its log tells the calls.
	bosh.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.home, "TMPDIR=" + c.temp, "BOSH_LOG_LEVEL=debug", "BOSH_LOG_PATH=" + log}
	bosh.WaitDelay = 10 * time.Second
	started := time.Now()
	err := bosh.Run()
	result := ran{output: output.String(), failed: err != nil, seconds: time.Since(started).Seconds()}
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		return result, fmt.Errorf("bosh %s: %w", command, err)
	}
	content, err := os.ReadFile(log)
	if err != nil {
		return result, fmt.Errorf("bosh %s left no log: %w\n%s", command, err, result.output)
	}
	result.calls = cpiCalls(string(content))
	return result, nil
}

var cpiCall = regexp.MustCompile(`STDIN: '\{"method":"(\w+)"`)

// cpiCalls finds the CPI calls in the CLI's log. It asks info before nearly every
// other: that is left out.
func cpiCalls(log string) []string {
	var calls []string
	for _, match := range cpiCall.FindAllStringSubmatch(log, -1) {
		if match[1] != "info" {
			calls = append(calls, match[1])
		}
	}
	return calls
}

var compiling = regexp.MustCompile(`Compiling package '(aws_cpi)/\w+'\.\.\. (\w+).*\((\d\d):(\d\d):(\d\d)\)`)

// compileSeconds is how long the CLI took to compile the CPI, as it prints it, on the
// machine that it runs on, which it does first.
func compileSeconds(output string) (int, error) {
	match := compiling.FindStringSubmatch(output)
	if match == nil || match[2] != "Finished" {
		return 0, fmt.Errorf("the CLI does not say that it compiled the CPI:\n%s", output)
	}
	var hours, minutes, seconds int
	if _, err := fmt.Sscan(strings.Join(match[3:], " "), &hours, &minutes, &seconds); err != nil {
		return 0, err
	}
	return hours*3600 + minutes*60 + seconds, nil
}
