package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"bosh-aws-cpi/integration/emulator/query"
	"bosh-aws-cpi/integration/proxy"
)

// host runs the account's instances: when one is launched it boots a VM, when one is
// terminated it ends it. It learns of both from the proxy, in the calls themselves.
type host struct {
	ctx   context.Context
	agent string
	dir   string
	ec2   query.Client // past the proxy

	mu      sync.Mutex
	running map[string]*vm
	failed  error // what went wrong where nobody could be told
}

func newHost(ctx context.Context, agent, dir string, ec2 query.Client, recorder *proxy.Proxy) *host {
	h := &host{ctx: ctx, agent: agent, dir: dir, ec2: ec2, running: map[string]*vm{}}
	recorder.Add(proxy.Rule{Action: "RunInstances", Do: proxy.After(func(proxy.Call) { h.note(h.bootNew()) })})
	recorder.Add(proxy.Rule{Action: "TerminateInstances", Do: proxy.After(func(call proxy.Call) {
		if call.Code == "" {
			h.note(h.end(call.List("InstanceId")...))
		}
	})})
	return h
}

func (h *host) note(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failed = errors.Join(h.failed, err)
}

// failure is what went wrong since the last look.
func (h *host) failure() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	err := h.failed
	h.failed = nil
	return err
}

// bootNew boots every instance that runs and has no VM yet.
func (h *host) bootNew() error {
	answer, err := h.ec2.Do(h.ctx, query.EC2, "DescribeInstances", "Filter.1.Name", "instance-state-name", "Filter.1.Value.1", "running")
	if err != nil {
		return fmt.Errorf("looking for instances: %w", err)
	}
	for _, instance := range answer.All("reservationSet/item/instancesSet/item/instanceId") {
		if err := h.bootOne(instance.Text); err != nil {
			return err
		}
	}
	return nil
}

func (h *host) bootOne(instance string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.running[instance] != nil {
		return nil
	}
	answer, err := h.ec2.Do(h.ctx, query.EC2, "DescribeInstanceAttribute", "InstanceId", instance, "Attribute", "userData")
	if err != nil {
		return fmt.Errorf("the user data of %s: %w", instance, err)
	}
	userData, err := base64.StdEncoding.DecodeString(answer.Value("userData/value"))
	if err != nil {
		return fmt.Errorf("the user data of %s: %w", instance, err)
	}
	h.running[instance], err = startVM(h.agent, filepath.Join(h.dir, instance), instance, userData)
	if err != nil {
		delete(h.running, instance)
	}
	return err
}

// end ends the VMs of instances.
func (h *host) end(instances ...string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var failed error
	for _, instance := range instances {
		if vm := h.running[instance]; vm != nil {
			failed = errors.Join(failed, vm.kill())
			delete(h.running, instance)
		}
	}
	return failed
}

// close ends all VMs.
func (h *host) close() error {
	h.mu.Lock()
	var all []string
	for instance := range h.running {
		all = append(all, instance)
	}
	h.mu.Unlock()
	return h.end(all...)
}

// only is the folder of the one VM that runs, "" when it is not one.
func (h *host) only() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, vm := range h.running {
		if len(h.running) == 1 {
			return vm.dir
		}
	}
	return ""
}

// logs are the ends of the agents' logs, for who looks for a fault.
func (h *host) logs() string {
	files, _ := filepath.Glob(filepath.Join(h.dir, "*", "agent.log"))
	text := ""
	for _, file := range files {
		content, _ := os.ReadFile(file)
		text += fmt.Sprintf("\n%s:\n%s", file, content[max(0, len(content)-4000):])
	}
	return text
}
