package action

import "context"

// rebootVM reboots an instance (RebootInstances).
type rebootVM struct{}

func (rebootVM) run(ctx context.Context, s *session, arguments vmArguments) (any, error) {
	return nil, s.aws.Reboot(ctx, arguments.VMCID)
}
