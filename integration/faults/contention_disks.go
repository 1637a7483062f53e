package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/emulator"
	"bosh-aws-cpi/integration/proxy"
)

// diskContests are about a volume that another VM has, and about two volumes
// for one VM.
func diskContests() []contest {
	return []contest{
		{"attach_disk of a dying VM's disk is waited for", func(ctx context.Context, w *worker) (error, error) {
			return w.wantDiskOfDying(ctx, "attach_disk")
		}},
		{"attach_disk of a living VM's disk is refused at once", func(ctx context.Context, w *worker) (error, error) {
			return w.wantDiskOfLiving(ctx, "attach_disk")
		}},
		{"delete_disk of a dying VM's disk is waited for", func(ctx context.Context, w *worker) (error, error) {
			return w.wantDiskOfDying(ctx, "delete_disk")
		}},
		{"delete_disk of a living VM's disk is refused at once", func(ctx context.Context, w *worker) (error, error) {
			return w.wantDiskOfLiving(ctx, "delete_disk")
		}},
		{"two attach_disk to one VM at once", attachTwo},
	}
}

// holdDisk makes a disk at a VM, and returns both and another VM's arguments for
// the method that wants the disk.
func (w *worker) holdDisk(ctx context.Context, method string) (holder, disk string, arguments []any, err error) {
	s := scenario{name: "contention"}
	if holder, err = makeVM(ctx, w, s, nil, nil); err != nil {
		return "", "", nil, err
	}
	if disk, err = makeDisk(ctx, w, s, holder); err != nil {
		return "", "", nil, err
	}
	if _, err = w.must(ctx, s, "attach_disk", holder, disk); err != nil {
		return "", "", nil, err
	}
	if _, err = w.must(ctx, s, "set_vm_metadata", holder, map[string]any{"name": "db/0", "deployment": "cf"}); err != nil {
		return "", "", nil, err
	}
	if method == "delete_disk" {
		return holder, disk, []any{disk}, nil
	}
	vm, err := makeVM(ctx, w, s, nil, nil)
	return holder, disk, []any{vm, disk}, err
}

func (w *worker) wantDiskOfDying(ctx context.Context, method string) (wrong, err error) {
	holder, _, arguments, err := w.holdDisk(ctx, method)
	if err != nil {
		return nil, err
	}
	w.Recorder.SetDelays(proxy.Delays{InstanceTerminated: dying})
	if err := w.someoneElse(ctx, "TerminateInstances", "InstanceId.1", holder); err != nil {
		return nil, err
	}
	return w.cpi(scenario{}).Call(ctx, method, arguments...).Err(), nil
}

func (w *worker) wantDiskOfLiving(ctx context.Context, method string) (wrong, err error) {
	holder, disk, arguments, err := w.holdDisk(ctx, method)
	if err != nil {
		return nil, err
	}
	before, err := w.inventory(ctx)
	if err != nil {
		return nil, err
	}
	w.Recorder.Clear()
	outcome := w.cpi(scenario{}).Call(ctx, method, arguments...)
	wrong, err = w.refusedWith(ctx, before, outcome, cloudError, disk, holder, "db/0", "cf")
	change := map[string]string{"attach_disk": "AttachVolume", "delete_disk": "DeleteVolume"}[method]
	return errors.Join(wrong, w.oneCall(change)), err
}

// attachTwo attaches two disks at once: neither process sees the device that the
// other one is about to take.
func attachTwo(ctx context.Context, w *worker) (wrong, err error) {
	s := scenario{name: "contention"}
	vm, err := makeVM(ctx, w, s, nil, nil)
	if err != nil {
		return nil, err
	}
	var disks [2]string
	for i := range disks {
		if disks[i], err = makeDisk(ctx, w, s, vm); err != nil {
			return nil, err
		}
	}
	var together, calls sync.WaitGroup
	together.Add(len(disks))
	w.Recorder.Add(proxy.Rule{Action: "DescribeInstances", Times: len(disks), Do: proxy.After(func(proxy.Call) {
		together.Done()
		together.Wait()
	})})
	var outcomes [2]driver.Outcome
	for i, disk := range disks {
		cpi := w.cpi(s)
		calls.Go(func() { outcomes[i] = cpi.Call(ctx, "attach_disk", vm, disk) })
	}
	calls.Wait()
	for _, outcome := range outcomes {
		if err := outcome.Err(); err != nil {
			return err, nil
		}
	}
	resources, err := w.Moto.Resources(ctx, "")
	return differentDevices(resources, vm, disks), err
}

// differentDevices says what is wrong with where two disks are. The hints are
// made of the volumes' ids and say nothing of it.
func differentDevices(resources []emulator.Resource, vm string, disks [2]string) error {
	var devices [2]string
	for _, r := range resources {
		for i, disk := range disks {
			if r.Kind == "attachment" && r.ID == disk+" -> "+vm {
				devices[i] = r.State
			}
		}
	}
	if devices[0] == "" || devices[1] == "" || devices[0] == devices[1] {
		return fmt.Errorf("both disks at %s on devices of their own, not at %q and %q", vm, devices[0], devices[1])
	}
	return nil
}
