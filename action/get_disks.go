package action

import (
	"context"
	"strings"

	"bosh-aws-cpi/aws"
)

// ephemeralDevice is where every VM has its ephemeral disk.
const ephemeralDevice = "/dev/sdb"

// getDisks returns the persistent disks of a VM: its EBS volumes but the root
// and the ephemeral one (DescribeInstances). The Director snapshots them.
type getDisks struct{}

func (getDisks) run(ctx context.Context, s *session, arguments vmArguments) (any, error) {
	instance, err := s.aws.NamedInstance(ctx, arguments.VMCID)
	if err != nil {
		return nil, err
	}
	return persistentDisks(instance), nil
}

func persistentDisks(instance aws.Instance) []string {
	disks := []string{} // an empty list, not null
	for _, device := range instance.Devices {
		// The root may be a partition of its device: /dev/sda1 of /dev/sda.
		isRoot := strings.HasPrefix(instance.RootDevice, device.Name)
		if !isRoot && device.Name != ephemeralDevice {
			disks = append(disks, device.VolumeID)
		}
	}
	return disks
}
