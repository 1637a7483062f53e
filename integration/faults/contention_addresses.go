package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/emulator"
	"bosh-aws-cpi/integration/life"
	"bosh-aws-cpi/integration/proxy"
)

// dying is how long a VM takes to go: longer than one poll of the scaled waits.
const dying = 300 * time.Millisecond

// addressContests are about an IP address that another VM has.
func addressContests() []contest {
	var all []contest
	for _, variant := range []struct {
		name     string
		networks func(emulator.Account) any
	}{{"one NIC", oneNetwork}, {"two NICs", twoNetworks}} {
		all = append(all,
			contest{"address of a dying VM is waited for, " + variant.name, func(ctx context.Context, w *worker) (error, error) {
				return w.takeAddressOfDying(ctx, variant.networks(w.Account))
			}},
			contest{"address of a living VM is refused at once, " + variant.name, func(ctx context.Context, w *worker) (error, error) {
				return w.takeAddressOfLiving(ctx, variant.networks(w.Account))
			}})
	}
	return all
}

func oneNetwork(account emulator.Account) any {
	return driver.Object("default", life.Network(account, 10))
}

// holdAddress makes the VM that has the address which the case wants.
func (w *worker) holdAddress(ctx context.Context) (string, error) {
	holder, err := makeVM(ctx, w, scenario{name: "contention"}, nil, oneNetwork(w.Account))
	if err != nil {
		return "", err
	}
	_, err = w.must(ctx, scenario{name: "contention"}, "set_vm_metadata", holder, map[string]any{"name": "db/0", "deployment": "cf"})
	return holder, err
}

func (w *worker) takeAddressOfDying(ctx context.Context, networks any) (wrong, err error) {
	holder, err := w.holdAddress(ctx)
	if err != nil {
		return nil, err
	}
	w.Recorder.SetDelays(proxy.Delays{InstanceTerminated: dying})
	if err := w.someoneElse(ctx, "TerminateInstances", "InstanceId.1", holder); err != nil {
		return nil, err
	}
	return w.cpi(scenario{}).Call(ctx, "create_vm", vmArguments(w.Account, nil, networks)...).Err(), nil
}

func (w *worker) takeAddressOfLiving(ctx context.Context, networks any) (wrong, err error) {
	holder, err := w.holdAddress(ctx)
	if err != nil {
		return nil, err
	}
	before, err := w.inventory(ctx)
	if err != nil {
		return nil, err
	}
	w.Recorder.Clear()
	outcome := w.cpi(scenario{}).Call(ctx, "create_vm", vmArguments(w.Account, nil, networks)...)
	wrong, err = w.refusedWith(ctx, before, outcome, vmCreationFailed, w.Account.Subnets[0].IP(10), holder, "db/0", `"cf"`)
	if tries := len(w.Recorder.Calls().Where(refusedAddress)); tries != 1 {
		wrong = errors.Join(wrong, fmt.Errorf("the address asked for once, not %d times", tries))
	}
	return wrong, err
}

func refusedAddress(call proxy.Call) bool { return call.Code == "InvalidIPAddress.InUse" }
