package action

import (
	"context"

	"bosh-aws-cpi/aws"
	"bosh-aws-cpi/cpi"
)

type vmArguments struct {
	VMCID string `cpi:"vm_cid"`
}

// hasVM says whether an instance exists (DescribeInstances). One that is being
// terminated exists until it is terminated.
type hasVM struct{}

func (hasVM) run(ctx context.Context, s *session, arguments vmArguments) (any, error) {
	instance, err := s.aws.Instance(ctx, arguments.VMCID)
	if aws.IsNotFound(err) {
		return false, nil
	}
	return err == nil && instance.State != aws.InstanceTerminated, err
}

// vmGone is the error of a method that needs a VM that is terminated.
func vmGone(method string, instance aws.Instance) error {
	return cpi.Errorf(cpi.VMNotFound, "%s: %s is %s", method, instance.Label(), instance.State)
}
