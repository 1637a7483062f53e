package action

import (
	"context"
	"errors"

	"bosh-aws-cpi/aws"
	"bosh-aws-cpi/cpi"
)

type createVMArguments struct {
	AgentID         string     `cpi:"agent_id"`
	StemcellCID     string     `cpi:"stemcell_cid"`
	CloudProperties cpi.Object `cpi:"cloud_properties"`
	Networks        cpi.Object `cpi:"networks"`
	DiskCIDs        []string   `cpi:"disk_cids,optional"`
	Env             cpi.Object `cpi:"env,optional"`
}

// createdVM is the result: the VM's cid and its networks as they were sent.
type createdVM [2]any

// createVM makes an instance with its disks and NICs, waits until it runs and
// connects it (DescribeImages, RunInstances, DescribeInstances; docs/development.md
// has what each feature adds).
//
// It goes from what costs nothing to what hurts most if it has to be undone:
// the request alone is checked, then AWS is asked without changing anything,
// then NICs and instance are made, and what is taken from another VM, an
// elastic IP or a route, comes last.
type createVM struct{}

func (createVM) run(ctx context.Context, s *session, arguments createVMArguments) (any, error) {
	if err := s.requireRegistry(); err != nil {
		return nil, err
	}
	plan, err := s.planVM(arguments)
	if err != nil {
		return nil, err
	}
	if err := s.lookUp(ctx, plan); err != nil {
		return nil, creationFailed(s.Method, err)
	}
	made := undo{s: s}
	var instance aws.Instance
	err = s.guarded(ctx, func(ctx context.Context) (err error) {
		instance, err = s.makeVM(ctx, plan, &made)
		return err
	})
	if err != nil {
		return nil, creationFailed(s.Method, made.run(ctx, err))
	}
	return createdVM{instance.ID, arguments.Networks}, nil
}

func (s *session) makeVM(ctx context.Context, plan *vmPlan, made *undo) (aws.Instance, error) {
	if plan.networks.several {
		if err := s.makeInterfaces(ctx, plan, made); err != nil {
			return aws.Instance{}, err
		}
	}
	launch, err := plan.launch(s)
	if err != nil {
		return aws.Instance{}, err
	}
	instance, err := s.launchVM(ctx, plan, launch, made)
	if err != nil {
		return instance, err
	}
	if shown, made := len(instance.Interfaces), len(plan.networks.groups); shown != made {
		return instance, cpi.Errorf(cpi.VMCreationFailed, "%s: AWS shows instance %s with %d network interfaces instead of %d", s.Method, instance.ID, shown, made)
	}
	if err := s.settle(ctx, plan, instance, made); err != nil {
		return instance, err
	}
	return instance, s.takeOver(ctx, plan, instance, made)
}

// creationFailed maps an error of create_vm. The Director makes the call again,
// up to five times, when another try can help.
func creationFailed(method string, err error) error {
	mapped := answered(method, err)
	typed, isTyped := mapped.(*cpi.Error)
	if !isTyped {
		return mapped
	}
	if asked := (*aws.Error)(nil); typed.Type != cpi.CloudError || !errors.As(err, &asked) {
		return mapped
	}
	failed := *typed
	failed.Type = cpi.VMCreationFailed
	return &failed
}
