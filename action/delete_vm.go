package action

import (
	"context"

	"bosh-aws-cpi/aws"
)

// deleteVM terminates an instance and waits until its addresses and volumes are
// free (TerminateInstances, DescribeInstances). With fast_path_delete it names
// the instance "to be deleted" instead and does not wait (CreateTags,
// TerminateInstances).
type deleteVM struct{}

// doomed is the Name of what fast_path_delete does not wait for.
var doomed = aws.Tags{"Name": "to be deleted"}

func (deleteVM) run(ctx context.Context, s *session, arguments vmArguments) (any, error) {
	vm := arguments.VMCID
	if s.config.Defaults.FastPathDelete {
		if err := s.aws.Tag(ctx, doomed, vm); err != nil && !aws.IsNotFound(err) {
			s.Logger.Warn(s.Tag, "not tagged: %s", err)
		}
	}
	terminated := s.aws.Terminate(ctx, vm)
	if terminated != nil && !aws.IsNotFound(terminated) {
		return nil, terminated
	}
	if terminated == nil && !s.config.Defaults.FastPathDelete {
		if err := s.aws.WaitTerminated(ctx, vm); err != nil {
			return nil, err
		}
	}
	// An unknown VM may have settings, too. The CLI deletes with a wrong version
	// after a failed deploy, so a registry that is missing is no error here.
	if s.usesRegistry() && s.registry != nil {
		if err := s.registry.Delete(ctx, vm); err != nil {
			return nil, err
		}
	}
	return nil, terminated
}
