package action

import (
	"context"
	"fmt"
	"strings"

	"bosh-aws-cpi/aws"
	"bosh-aws-cpi/aws/instancetypes"
	"bosh-aws-cpi/cpi"
)

type attachDiskArguments struct {
	VMCID   string `cpi:"vm_cid"`
	DiskCID string `cpi:"disk_cid"`
}

// attachDisk attaches a volume to an instance and returns where the agent finds
// it (DescribeInstances, AttachVolume, DescribeVolumes; DescribeInstanceTypes
// for a type that is not compiled in). A disk that is attached already is no
// failure.
type attachDisk struct{}

func (attachDisk) run(ctx context.Context, s *session, arguments attachDiskArguments) (any, error) {
	if err := s.requireRegistry(); err != nil {
		return nil, err
	}
	instance, err := s.aws.NamedInstance(ctx, arguments.VMCID)
	if err != nil {
		return nil, err
	}
	if instance.Gone() {
		return nil, vmGone(s.Method, instance)
	}
	kind, err := s.instanceType(ctx, instance.Type)
	if err != nil {
		return nil, err
	}
	made := undo{s: s}
	device, err := s.attach(ctx, instance, arguments.DiskCID, &made)
	if err != nil {
		return nil, made.run(ctx, err)
	}
	hint := diskHint(kind, device, arguments.DiskCID)
	if s.usesRegistry() {
		if err := s.registry.SetDisk(ctx, instance.ID, arguments.DiskCID, hint); err != nil {
			return nil, made.run(ctx, err)
		}
	}
	return hint, nil
}

func (s *session) instanceType(ctx context.Context, name string) (instancetypes.InstanceType, error) {
	ask := s.config.Defaults.DescribeInstanceTypes
	return s.aws.InstanceType(ctx, name, ask == nil || *ask)
}

// nvmePath is the start of the path under which udev shows an EBS volume on an
// instance whose EBS is NVMe; the volume id without its dash follows.
const nvmePath = "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_"

// diskHint tells the agent where a disk is. Where EBS is always NVMe the device
// name means nothing to the kernel, and udev's name is the only sure one.
func diskHint(kind instancetypes.InstanceType, device, volume string) string {
	if kind.EBSNVMe == instancetypes.NVMeRequired {
		return nvmePath + strings.Replace(volume, "-", "", 1)
	}
	return device
}

// attachTries bounds how often an attachment is tried while others take the
// device names or the volume: more often than there are names.
const attachTries = 16

// attach attaches a volume at the first free device name and returns the name.
// When two calls choose the same name at once, EC2 refuses one of them, which
// chooses again.
func (s *session) attach(ctx context.Context, instance aws.Instance, volume string, made *undo) (string, error) {
	tried := map[string]bool{}
	var err error
	for range attachTries {
		if device, attached := deviceOf(instance, volume); attached {
			return device, s.aws.WaitAttached(ctx, volume, instance.ID)
		}
		device, noneFree := freeDevice(s.Method, instance, tried)
		if noneFree != nil {
			return "", noneFree
		}
		err = s.aws.Attach(ctx, volume, instance.ID, device)
		switch {
		case err == nil:
			made.add(fmt.Sprintf("attachment of volume %s to instance %s", volume, instance.ID), func(ctx context.Context) error {
				return s.detachNew(ctx, volume, instance.ID)
			})
			return device, s.aws.WaitAttached(ctx, volume, instance.ID)
		case isDeviceTaken(err):
			tried[device] = true
			s.Logger.Info(s.Tag, "device %s was taken a moment ago, choosing another", device)
			now, gone := s.aws.Instance(ctx, instance.ID)
			if gone != nil {
				return "", gone
			}
			instance = now
		case aws.HasCode(err, "VolumeInUse", "IncorrectState"):
			device, failed := s.attachHeld(ctx, instance, volume, err)
			if failed != nil || device != "" {
				return device, failed
			}
		default:
			return "", err
		}
	}
	return "", err
}

// attachHeld deals with a volume that is not free: attached to this instance it
// is what was wanted, and its device is returned; from an instance that is
// going away it will come free, which is waited for; else the holder is named.
func (s *session) attachHeld(ctx context.Context, instance aws.Instance, volume string, refused error) (string, error) {
	found, err := s.aws.Volume(ctx, volume)
	if err != nil {
		return "", err
	}
	holder, held := found.Holder()
	switch {
	case held && holder.InstanceID == instance.ID && holder.State != "detaching":
		return holder.Device, s.aws.WaitAttached(ctx, volume, instance.ID)
	case held:
		return "", s.waitForHolder(ctx, found, holder)
	case found.State == aws.VolumeAvailable, found.State == aws.VolumeInUse, found.State == "creating":
		// Free since the refusal, or about to be.
		return "", s.aws.WaitVolumeFree(ctx, volume)
	default:
		return "", refused
	}
}

// waitForHolder waits until an instance that gives a volume up has done so; an
// instance that keeps it is named in the error.
func (s *session) waitForHolder(ctx context.Context, volume aws.Volume, holder aws.Attachment) error {
	if holder.State == "detaching" {
		return s.aws.WaitVolumeFree(ctx, volume.ID)
	}
	instance, err := s.aws.Instance(ctx, holder.InstanceID)
	if err != nil && !aws.IsNotFound(err) {
		return err
	}
	if err != nil || instance.Gone() {
		s.Logger.Info(s.Tag, "volume %s comes free when instance %s is terminated", volume.ID, holder.InstanceID)
		return s.aws.WaitVolumeFree(ctx, volume.ID)
	}
	return cpi.Errorf(cpi.CloudError, "%s: volume %s is attached to %s (%s) as %s; detach it there first",
		s.Method, volume.ID, instance.Label(), instance.State, holder.Device)
}

func (s *session) detachNew(ctx context.Context, volume, instance string) error {
	err := s.aws.Detach(ctx, volume, instance)
	if err != nil && !isNotAttached(err) {
		return err
	}
	return s.aws.WaitDetached(ctx, volume, instance)
}

// deviceOf returns the device name that a volume has at an instance, unless it
// is on its way off.
func deviceOf(instance aws.Instance, volume string) (string, bool) {
	for _, device := range instance.Devices {
		if device.VolumeID == volume && device.State != "detaching" {
			return device.Name, true
		}
	}
	return "", false
}

// freeDevice returns the first of /dev/sdf to /dev/sdp (the names that AWS
// recommends for EBS volumes) that the instance does not have, under this name
// or the kernel's (/dev/xvdf).
func freeDevice(method string, instance aws.Instance, tried map[string]bool) (string, error) {
	taken := map[string]bool{}
	for _, device := range instance.Devices {
		taken[strings.Replace(device.Name, "/dev/xvd", "/dev/sd", 1)] = true
	}
	for letter := 'f'; letter <= 'p'; letter++ {
		if device := "/dev/sd" + string(letter); !taken[device] && !tried[device] {
			return device, nil
		}
	}
	return "", cpi.Errorf(cpi.CloudError, "%s: %s has no free device name left for another disk (/dev/sdf to /dev/sdp); detach one first", method, instance.Label())
}

func isDeviceTaken(err error) bool {
	return aws.HasCode(err, "InvalidParameterValue") && strings.Contains(err.Error(), "already in use")
}
