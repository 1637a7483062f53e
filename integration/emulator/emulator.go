// Package emulator runs moto_server, the AWS emulator that the tests and the
// demonstration work against, and knows what such an account holds.
package emulator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"bosh-aws-cpi/integration/emulator/query"
)

// DefaultRegion is the region the emulator is warmed up for.
const DefaultRegion = "us-east-1"

const (
	readyLimit = 60 * time.Second // a cold Python on a busy machine
	stopLimit  = 5 * time.Second  // before SIGTERM becomes SIGKILL
)

// Options are all optional.
type Options struct {
	Stderr io.Writer // what moto_server says; default: nowhere
	Region string    // warmed up before Start returns; default DefaultRegion
}

// Emulator is a running moto_server of our own.
type Emulator struct {
	URL string

	region string
	client *http.Client
	dir    string
	cmd    *exec.Cmd
	exited chan struct{} // closed when the process is gone
	stop   sync.Once
}

// Start runs moto_server on a free loopback port and returns when it answers.
// The process ends with Stop; on Linux also when this process dies.
func Start(ctx context.Context, options Options) (*Emulator, error) {
	program, err := findServer()
	if err != nil {
		return nil, err
	}
	if options.Region == "" {
		options.Region = DefaultRegion
	}
	// A port found free can be taken before moto_server has it: try again.
	for range 3 {
		var started *Emulator
		if started, err = start(ctx, program, options); err == nil || ctx.Err() != nil {
			return started, err
		}
	}
	return nil, err
}

func start(ctx context.Context, program string, options Options) (*Emulator, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "emulator-")
	if err != nil {
		return nil, fmt.Errorf("making a directory for the emulator: %w", err)
	}
	e := &Emulator{
		URL:    "http://127.0.0.1:" + strconv.Itoa(port),
		region: options.Region,
		client: &http.Client{Transport: transport()},
		dir:    dir,
		exited: make(chan struct{}),
	}
	images := filepath.Join(dir, "images.json")
	if err := os.WriteFile(images, imagesFile(), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("writing the emulator's images: %w", err), os.RemoveAll(dir))
	}
	e.cmd = exec.Command(program, "-H", "127.0.0.1", "-p", strconv.Itoa(port))
	e.cmd.Env = append(os.Environ(),
		"MOTO_ENABLE_AMI_VALIDATION=true",
		"MOTO_ENABLE_KEYPAIR_VALIDATION=true",
		"MOTO_EC2_ENABLE_INSTANCE_TYPE_VALIDATION=true",
		"MOTO_AMIS_PATH="+images, // ours, instead of hundreds that nobody asks for
	)
	e.cmd.Stderr = options.Stderr
	e.cmd.SysProcAttr = processAttributes()
	if err := e.run(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", program, err), os.RemoveAll(dir))
	}
	if err := e.awaitReady(ctx); err != nil {
		e.Stop()
		return nil, err
	}
	return e, nil
}

// run starts the process and waits for it on one locked thread: Linux sends
// the parent-death signal when the starting thread ends, not the process.
func (e *Emulator) run() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := e.cmd.Start()
		started <- err
		if err == nil {
			_ = e.cmd.Wait() // ends by our signal
		}
		close(e.exited)
	}()
	return <-started
}

func (e *Emulator) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	for {
		// A real question, so that what moto loads with its first is loaded.
		_, err := e.query(e.region).Do(ctx, query.EC2, "DescribeAvailabilityZones")
		if err == nil {
			return nil
		}
		select {
		case <-e.exited:
			return fmt.Errorf("moto_server ended before it answered (%v); is another one on its port?", e.cmd.ProcessState)
		case <-ctx.Done():
			return fmt.Errorf("moto_server does not answer: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Reset empties all accounts.
func (e *Emulator) Reset(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL+"/moto-api/reset", nil)
	if err != nil {
		return fmt.Errorf("resetting the emulator: %w", err)
	}
	answer, err := e.client.Do(request)
	if err != nil {
		return fmt.Errorf("resetting the emulator: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("resetting the emulator: HTTP %d", answer.StatusCode)
	}
	return nil
}

// PID is the process's.
func (e *Emulator) PID() int { return e.cmd.Process.Pid }

// Stop ends the process with everything it started, and waits until it is gone.
func (e *Emulator) Stop() {
	e.stop.Do(func() {
		group := -e.cmd.Process.Pid
		_ = syscall.Kill(group, syscall.SIGTERM) // fails if it is gone already
		select {
		case <-e.exited:
		case <-time.After(stopLimit):
		}
		_ = syscall.Kill(group, syscall.SIGKILL) // for what a wrapper script left
		<-e.exited
		_ = os.RemoveAll(e.dir)
	})
}

func (e *Emulator) query(region string) query.Client {
	return query.Client{Endpoint: e.URL, Region: region, HTTP: e.client}
}

// findServer looks where testers are likely to have it.
func findServer() (string, error) {
	if program := os.Getenv("MOTO_SERVER"); program != "" {
		return program, nil
	}
	if program, err := exec.LookPath("moto_server"); err == nil {
		return program, nil
	}
	if root, err := checkout(); err == nil {
		program := filepath.Join(root, ".venv", "bin", "moto_server")
		if _, err := os.Stat(program); err == nil {
			return program, nil
		}
	}
	return "", errors.New("there is no moto_server on PATH, in $MOTO_SERVER or in .venv of the checkout: run `make emulator`, which installs it there")
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

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("looking for a free port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// transport does without proxies of the environment, which would take the
// loopback traffic elsewhere, and without connection reuse, which moto's web
// server does not offer.
func transport() *http.Transport {
	return &http.Transport{DisableKeepAlives: true}
}
