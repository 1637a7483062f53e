package main

import (
	"context"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/emulator"
	"bosh-aws-cpi/integration/life"
	"bosh-aws-cpi/integration/proxy"
)

// The error types of the contract.
const (
	cloudError       = "Bosh::Clouds::CloudError"
	vmCreationFailed = "Bosh::Clouds::VMCreationFailed"
	vmNotFound       = "Bosh::Clouds::VMNotFound"
	diskNotFound     = "Bosh::Clouds::DiskNotFound"
	networkNotFound  = "Bosh::Clouds::NetworkNotFound"
)

// scenario is a method in one of its variants.
type scenario struct {
	name   string
	method string
	// prepare makes what the method needs, and returns its arguments.
	prepare func(context.Context, *worker, scenario) ([]any, error)
	// failure is the type of an error that says nothing more special.
	failure string
	// creates says that a failed call must leave the account as it was. A method
	// that takes something away may have done so before it failed.
	creates bool
	// gone is the error for a resource of the caller's that AWS does not know, by
	// the action that says so; "" is success.
	gone map[string]string
	// standing are rules that hold in every run: AWS as this variant needs it.
	standing []proxy.Rule
	// stemcellVersion is 1 where the registry is used.
	stemcellVersion int
	// shards is how many workers share the cases of a long one.
	shards int
	// reusable says that a case leaves no trace that the next one would see and
	// the inventory does not show.
	reusable bool
	// alone says that what is prepared can be in an account only once.
	alone bool
}

// scenarios are all that is swept.
func scenarios() []scenario {
	var all []scenario
	for _, group := range [][]scenario{vmScenarios(), vmChanges(), diskScenarios(), diskChanges(), stemcellScenarios(), otherScenarios()} {
		for _, s := range group {
			if s.failure == "" {
				s.failure = cloudError
			}
			// Taking a disk off again leaves it in the registry.
			inRegistry := s.method == "attach_disk" && s.stemcellVersion == 1
			s.reusable = s.reusable || s.creates && !inRegistry
			all = append(all, s)
		}
	}
	return all
}

// agentID is that of all VMs.
const agentID = life.AgentID

// vmArguments are create_vm's: properties and networks on top of the least.
func vmArguments(account emulator.Account, more map[string]any, networks any) []any {
	properties := life.Properties(account)
	for key, value := range more {
		properties[key] = value
	}
	if networks == nil {
		networks = driver.Object("default", life.Network(account, 10))
	}
	env := map[string]any{"bosh": map[string]any{"tags": map[string]any{"deployment": "cf"}}}
	return []any{agentID, account.Image + " light", properties, networks, []string{}, env}
}

// makeVM makes a VM, each with another address, and than that of the arguments
// above.
func makeVM(ctx context.Context, w *worker, s scenario, more map[string]any, networks any) (string, error) {
	if networks == nil {
		networks = driver.Object("default", life.Network(w.Account, w.address()))
	}
	outcome, err := w.must(ctx, s, "create_vm", vmArguments(w.Account, more, networks)...)
	return outcome.VM(), err
}

// address is the number of a subnet's address that no VM has.
func (w *worker) address() int { return firstAddress + w.requests%addresses }

// The addresses of prepared VMs: beyond those of the cases, within the subnet.
const (
	firstAddress = 20
	addresses    = 4000
)

// makeDisk makes a disk for a VM.
func makeDisk(ctx context.Context, w *worker, s scenario, vm string) (string, error) {
	outcome, err := w.must(ctx, s, "create_disk", 2048, map[string]any{}, vm)
	return outcome.Text(), err
}

// theVM prepares a VM, the method's one argument.
func theVM(ctx context.Context, w *worker, s scenario) ([]any, error) {
	vm, err := makeVM(ctx, w, s, nil, nil)
	return []any{vm}, err
}

// theDisk prepares a disk, the first argument, before more of them.
func theDisk(more ...any) func(context.Context, *worker, scenario) ([]any, error) {
	return func(ctx context.Context, w *worker, s scenario) ([]any, error) {
		outcome, err := w.must(ctx, s, "create_disk", 2048, map[string]any{})
		return append([]any{outcome.Text()}, more...), err
	}
}

// vmAndDisk prepares a VM and a disk, attached or not.
func vmAndDisk(attached bool) func(context.Context, *worker, scenario) ([]any, error) {
	return func(ctx context.Context, w *worker, s scenario) ([]any, error) {
		vm, err := makeVM(ctx, w, s, nil, nil)
		if err != nil {
			return nil, err
		}
		disk, err := makeDisk(ctx, w, s, vm)
		if err == nil && attached {
			_, err = w.must(ctx, s, "attach_disk", vm, disk)
		}
		return []any{vm, disk}, err
	}
}
