package action

import (
	"fmt"

	"bosh-aws-cpi/aws"
	"bosh-aws-cpi/aws/instancetypes"
	"bosh-aws-cpi/registry"
)

// defaultEphemeralGiB is the size of an ephemeral disk that nothing else says.
const defaultEphemeralGiB = 10

// fallbackRootDevice is the root device of an AMI that names none, as those of
// stemcells do.
const fallbackRootDevice = "/dev/xvda"

// blockDevices returns the block device mappings of a launch and what the agent
// learns about its disks.
func blockDevices(properties VMProperties, kind instancetypes.InstanceType, image aws.Image, defaults Defaults) ([]aws.Mapping, registry.Disks, error) {
	disks := registry.Disks{System: image.RootDevice, Persistent: map[string]string{}}
	if disks.System == "" {
		disks.System = fallbackRootDevice
	}
	mappings := []aws.Mapping{rootMapping(properties.RootDisk, image, defaults)}
	if err := checkInstanceStorage(properties, kind); err != nil {
		return nil, disks, err
	}
	if !properties.EphemeralDisk.UseRootDisk {
		disks.Ephemeral = ephemeralDevice
		if mapping, needed := ephemeralMapping(properties, kind, defaults); needed {
			mappings = append(mappings, mapping)
		}
	}
	if properties.RawInstanceStorage {
		more, paths := rawStorage(kind)
		mappings = append(mappings, more...)
		disks.RawEphemeral = paths
	}
	return mappings, disks, nil
}

func checkInstanceStorage(properties VMProperties, kind instancetypes.InstanceType) error {
	wants := ""
	if properties.EphemeralDisk.UseInstanceStorage {
		wants = "ephemeral_disk.use_instance_storage"
	} else if properties.RawInstanceStorage {
		wants = "raw_instance_storage"
	}
	if wants != "" && kind.InstanceStoreDisks == 0 {
		return fmt.Errorf("cloud_properties.%s: instance type %s is not known to have local disks; choose one that has", wants, kind.Name)
	}
	return nil
}

// rootMapping is always sent: it makes the root volume gp3 and deletes it with
// the instance, whatever the AMI says. It keeps the AMI's size unless a larger
// one is asked for: EC2 refuses a smaller one.
func rootMapping(root RootDisk, image aws.Image, defaults Defaults) aws.Mapping {
	device, found := image.RootMapping()
	if !found {
		device.Name = image.RootDevice
	}
	if device.Name == "" {
		device.Name = fallbackRootDevice
	}
	size := device.SizeGiB
	if root.Size != nil {
		asked, _ := gibibytes("root_disk.size", *root.Size) // checked with the properties
		size = max(size, asked)
	}
	return aws.Mapping{Device: device.Name, Volume: root.volume(size, defaults)}
}

// ephemeralMapping returns the ephemeral disk's mapping; false when EC2 attaches
// the disk by itself, as it does with local NVMe disks.
func ephemeralMapping(properties VMProperties, kind instancetypes.InstanceType, defaults Defaults) (aws.Mapping, bool) {
	disk := properties.EphemeralDisk
	if disk.UseInstanceStorage {
		return aws.Mapping{Device: ephemeralDevice, VirtualName: "ephemeral0"}, kind.InstanceStoreNVMe == instancetypes.NVMeUnsupported
	}
	size := int32(defaultEphemeralGiB)
	if disk.Size != nil {
		size, _ = gibibytes("ephemeral_disk.size", *disk.Size) // checked with the properties
	} else if gib, known := instancetypes.DefaultEphemeralGiB(kind.Name); known && !properties.RawInstanceStorage {
		size = int32(gib)
	}
	return aws.Mapping{Device: ephemeralDevice, Volume: disk.volume(size, defaults)}, true
}

// rawStorage gives the agent all local disks. NVMe ones are attached by EC2
// itself; the agent finds them and needs only their number. Others need a
// mapping each, from /dev/xvdba on.
func rawStorage(kind instancetypes.InstanceType) ([]aws.Mapping, []registry.Disk) {
	var mappings []aws.Mapping
	var paths []registry.Disk
	for i := range kind.InstanceStoreDisks {
		if kind.InstanceStoreNVMe != instancetypes.NVMeUnsupported {
			paths = append(paths, registry.Disk{Path: fmt.Sprintf("/dev/nvme%dn1", i)})
			continue
		}
		device := "/dev/xvdb" + string(rune('a'+i)) // no type has more than 24
		mappings = append(mappings, aws.Mapping{Device: device, VirtualName: fmt.Sprintf("ephemeral%d", i)})
		paths = append(paths, registry.Disk{Path: device})
	}
	return mappings, paths
}
