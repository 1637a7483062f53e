// Package driver calls the built CPI executable as the BOSH Director does: one
// process for each call, with next to nothing for an environment, a request on
// stdin and a response on stdout.
package driver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Build compiles the executable into a directory as it is released, and
// returns its path.
func Build(ctx context.Context, dir string) (string, error) {
	root, err := checkout()
	if err != nil {
		return "", err
	}
	path, err := filepath.Abs(filepath.Join(dir, "aws_cpi"))
	if err != nil {
		return "", fmt.Errorf("building the CPI: %w", err)
	}
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "./cmd/aws_cpi")
	command.Dir = root
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the CPI: %w\n%s", err, output)
	}
	return path, nil
}

// checkout is the directory above us that holds go.mod.
func checkout() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod above the working directory")
		}
		dir = parent
	}
}

// CPI is how to call an executable.
type CPI struct {
	Path       string
	ConfigPath string
	Env        []string // besides PATH, TMPDIR and HOME: "KEY=value"; overrides these, too
	Dir        string   // working directory; default: ours
	Memory     bool     // measure the peak of memory (Linux only; costs CPU of ours)

	APIVersion         int            // of requests; default 2, negative: not sent
	StemcellAPIVersion int            // context.vm.stemcell.api_version; default 3, negative: not sent
	DirectorUUID       string         // default DefaultDirector
	RequestID          string         // "" sends none, as the CLI does
	Context            map[string]any // further keys of context: a CPI config
}

// DefaultDirector is the director UUID of requests that name no other.
const DefaultDirector = "7225cb2a-7a1c-4a1c-8d2f-d12ec7040001"

// Request is a whole request for a method.
func (c CPI) Request(method string, arguments ...any) ([]byte, error) {
	if arguments == nil {
		arguments = []any{}
	}
	director := c.DirectorUUID
	if director == "" {
		director = DefaultDirector
	}
	context := map[string]any{"director_uuid": director}
	if c.RequestID != "" {
		context["request_id"] = c.RequestID
	}
	if version := orDefault(c.StemcellAPIVersion, 3); version > 0 {
		context["vm"] = map[string]any{"stemcell": map[string]any{"api_version": version}}
	}
	for key, value := range c.Context {
		context[key] = value
	}
	request := map[string]any{"method": method, "arguments": arguments, "context": context}
	if version := orDefault(c.APIVersion, 2); version > 0 {
		request["api_version"] = version
	}
	text, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("writing the request for %s: %w", method, err)
	}
	return text, nil
}

func orDefault(version, otherwise int) int {
	if version == 0 {
		return otherwise
	}
	return version
}

// Call makes one call and waits for its outcome. When ctx ends the process is
// killed. A failure to get as far as a process is in Outcome.Invalid.
func (c CPI) Call(ctx context.Context, method string, arguments ...any) Outcome {
	request, err := c.Request(method, arguments...)
	if err != nil {
		return Outcome{ExitCode: -1, Invalid: err}
	}
	return c.Send(ctx, request)
}

// Send is Call with these bytes for a request.
func (c CPI) Send(ctx context.Context, request []byte) Outcome {
	running, err := c.Start(ctx, request)
	if err != nil {
		return Outcome{ExitCode: -1, Invalid: err}
	}
	return running.Wait()
}

// Running is a call on its way.
type Running struct {
	command *exec.Cmd
	started time.Time
	stdout  bytes.Buffer
	stderr  bytes.Buffer
	memory  memory
}

// Start makes a call without waiting for it.
func (c CPI) Start(ctx context.Context, request []byte) (*Running, error) {
	r := &Running{command: exec.CommandContext(ctx, c.Path, c.ConfigPath)}
	r.command.Stdin = bytes.NewReader(request)
	r.command.Stdout = &r.stdout
	r.command.Stderr = &r.stderr
	r.command.Dir = c.Dir
	r.command.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "HOME=" + os.Getenv("HOME"),
	}, c.Env...)
	// A child of the CPI that keeps stdout open would hang a Director; here it
	// shows as an error.
	r.command.WaitDelay = 5 * time.Second
	r.started = time.Now()
	if err := r.command.Start(); err != nil {
		return nil, fmt.Errorf("starting the CPI: %w", err)
	}
	if c.Memory {
		r.memory.watch(r.command.Process.Pid)
	}
	return r, nil
}

// Signal sends the process a signal.
func (r *Running) Signal(signal os.Signal) error { return r.command.Process.Signal(signal) }

// Wait waits for the end of the process.
func (r *Running) Wait() Outcome {
	err := r.command.Wait()
	outcome := Outcome{
		ExitCode: r.command.ProcessState.ExitCode(),
		Stdout:   r.stdout.Bytes(),
		Stderr:   r.stderr.Bytes(),
		Wall:     time.Since(r.started),
		CPU:      r.command.ProcessState.UserTime() + r.command.ProcessState.SystemTime(),
		Memory:   r.memory.peak(),
	}
	outcome.Response, outcome.Invalid = Parse(outcome.Stdout)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		outcome.Invalid = errors.Join(err, outcome.Invalid)
	}
	return outcome
}

// Object is a JSON object that keeps the order of its keys, which matters for
// the networks of create_vm: Object("a", 1, "b", 2) is {"a":1,"b":2}.
func Object(keysAndValues ...any) json.RawMessage {
	var out bytes.Buffer
	out.WriteByte('{')
	for i := 0; i+1 < len(keysAndValues); i += 2 {
		if i > 0 {
			out.WriteByte(',')
		}
		for j, part := range keysAndValues[i : i+2] {
			text, err := json.Marshal(part)
			if err != nil {
				panic(fmt.Sprintf("a value that is not JSON: %v", err))
			}
			if j == 1 {
				out.WriteByte(':')
			}
			out.Write(text)
		}
	}
	out.WriteByte('}')
	return out.Bytes()
}

// PID is the process's id.
func (r *Running) PID() int { return r.command.Process.Pid }
