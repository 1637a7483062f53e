package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"bosh-aws-cpi/integration/emulator"
	"bosh-aws-cpi/integration/emulator/query"
	"bosh-aws-cpi/integration/proxy"
)

// environment is everything that create-env needs.
type environment struct {
	dir      string
	moto     *emulator.Emulator
	recorder *proxy.Proxy
	host     *host
	cli      cli
	director director
	newer    string   // stemcell
	before   []string // the account's inventory
}

// programs are what was built before.
type programs struct{ bosh, agent, release string }

// open starts everything. All that it starts has its folder in its environment, by
// which close finds what is left.
func open(ctx context.Context, built programs) (*environment, error) {
	dir, err := os.MkdirTemp("", "create-env-")
	if err != nil {
		return nil, err
	}
	e := &environment{dir: dir}
	return e, e.start(ctx, built)
}

func (e *environment) start(ctx context.Context, built programs) (err error) {
	for _, folder := range []string{"home", "tmp", "deployment", "vms"} {
		if err := os.Mkdir(filepath.Join(e.dir, folder), 0o755); err != nil {
			return err
		}
	}
	if err := os.Setenv("TMPDIR", filepath.Join(e.dir, "tmp")); err != nil {
		return err
	}
	if e.moto, err = emulator.Start(ctx, emulator.Options{}); err != nil {
		return err
	}
	if e.recorder, err = proxy.Start(proxy.Options{Upstream: e.moto.URL}); err != nil {
		return err
	}
	account, err := e.moto.NewAccount(ctx, "")
	if err != nil {
		return err
	}
	ec2 := query.Client{Endpoint: e.moto.URL, Region: account.Region}
	e.host = newHost(ctx, built.agent, filepath.Join(e.dir, "vms"), ec2, e.recorder)
	e.cli = cli{program: built.bosh, dir: filepath.Join(e.dir, "deployment"), home: filepath.Join(e.dir, "home"), temp: filepath.Join(e.dir, "tmp")}
	e.director = director{account: account, endpoint: e.recorder.URL, release: built.release, diskSize: 10240, maxRetries: 8}
	if e.director.mbus, err = freeAddress(); err != nil {
		return err
	}
	if e.director.stemcell, err = writeStemcell(e.dir, "1.1", account.Region, emulator.ImageX86); err != nil {
		return err
	}
	if e.newer, err = writeStemcell(e.dir, "1.2", account.Region, emulator.ImageX86New); err != nil {
		return err
	}
	e.before, err = e.moto.Inventory(ctx, account.Region)
	return err
}

// freeAddress is where nobody listens yet.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// left is what is in the account that was not there before.
func (e *environment) left(ctx context.Context) ([]string, error) {
	now, err := e.moto.Inventory(ctx, e.director.account.Region)
	return emulator.Diff(e.before, now), err
}

// close ends everything, and says what does not end.
func (e *environment) close() error {
	var failed error
	if e.host != nil {
		failed = e.host.close()
	}
	if e.recorder != nil {
		e.recorder.Close()
	}
	if e.moto != nil {
		e.moto.Stop()
	}
	if processes := processesOf(e.dir); len(processes) > 0 {
		failed = errors.Join(failed, fmt.Errorf("processes are left: %s", strings.Join(processes, ", ")))
	}
	return errors.Join(failed, os.RemoveAll(e.dir))
}

// processesOf lists the processes that were started with a folder in their
// environment or arguments; nothing where there is no /proc.
func processesOf(dir string) []string {
	var found []string
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environments {
		environ, _ := os.ReadFile(path) // it may be gone, or another user's
		command, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if strings.Contains(string(environ)+string(command), dir) {
			found = append(found, filepath.Base(filepath.Dir(path))+" "+strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return found
}
