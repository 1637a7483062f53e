package action

import (
	"context"

	"bosh-aws-cpi/aws"
	"bosh-aws-cpi/cpi"
)

// detachDisk detaches a volume from an instance and waits until it is free
// (DetachVolume, DescribeVolumes). An unknown disk is a success.
type detachDisk struct{}

func (detachDisk) run(ctx context.Context, s *session, arguments attachDiskArguments) (any, error) {
	if err := s.requireRegistry(); err != nil {
		return nil, err
	}
	vm, disk := arguments.VMCID, arguments.DiskCID
	err := s.aws.Detach(ctx, disk, vm)
	switch {
	case aws.HasCode(err, "InvalidVolume.NotFound", "InvalidVolumeID.Malformed", "InvalidVolumeID.NotFound"):
		s.Logger.Info(s.Tag, "volume %s is unknown: there is nothing to detach", disk)
	case isNotAttached(err) || aws.HasCode(err, "InvalidInstanceID.NotFound", "InvalidInstanceID.Malformed"):
		if err := s.explainDetached(ctx, vm, disk); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	default:
		if err := s.aws.WaitDetached(ctx, disk, vm); err != nil {
			return nil, err
		}
	}
	if s.usesRegistry() {
		return nil, s.registry.RemoveDisk(ctx, vm, disk)
	}
	return nil, nil
}

// isNotAttached says that EC2 refused to detach what is not attached there.
func isNotAttached(err error) bool {
	return aws.HasCode(err, "IncorrectState", "InvalidAttachment.NotFound")
}

// explainDetached finds out why a volume could not be detached from a VM, to
// which it is not attached, and answers nil where that is as good as detached:
// when it is on its way off, or free and the VM unknown.
func (s *session) explainDetached(ctx context.Context, vm, disk string) error {
	volume, err := s.aws.Volume(ctx, disk)
	if aws.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	holder, held := volume.Holder()
	if held && holder.InstanceID == vm {
		return s.aws.WaitDetached(ctx, disk, vm)
	}
	if held {
		return notAttached("%s: disk %s is not attached to VM %s but to instance %s as %s", s.Method, disk, vm, holder.InstanceID, holder.Device)
	}
	instance, err := s.aws.Instance(ctx, vm)
	if aws.IsNotFound(err) || (err == nil && instance.Gone()) {
		s.Logger.Info(s.Tag, "VM %s is gone and disk %s is free", vm, disk)
		return nil
	}
	if err != nil {
		return err
	}
	return notAttached("%s: disk %s is not attached to VM %s; it is %s", s.Method, disk, vm, volume.State)
}

func notAttached(format string, operands ...any) error {
	err := cpi.Errorf(cpi.DiskNotAttached, format, operands...)
	err.OKToRetry = true
	return err
}
