package action

import (
	"context"
	"math"

	"bosh-aws-cpi/aws/instancetypes"
	"bosh-aws-cpi/cpi"
)

const calculateName = "calculate_vm_cloud_properties"

type calculateArguments struct {
	Requirements cpi.Object `cpi:"desired_instance_size"`
}

// vmRequirements are what a VM needs at least.
type vmRequirements struct {
	CPU               *int64 `json:"cpu"`
	RAM               *int64 `json:"ram"`                 // MiB
	EphemeralDiskSize *int64 `json:"ephemeral_disk_size"` // MiB
}

type calculatedProperties struct {
	InstanceType  string        `json:"instance_type"`
	EphemeralDisk ephemeralSize `json:"ephemeral_disk"`
}

type ephemeralSize struct {
	Size int64 `json:"size"` // MiB
}

// calculateVMCloudProperties turns the needs of a VM into cloud properties; see
// instancetypes.Smallest for the choice. It makes no call.
func calculateVMCloudProperties(_ context.Context, _ *cpi.Call, arguments calculateArguments) (any, error) {
	var wanted vmRequirements
	if err := arguments.Requirements.Decode(&wanted); err != nil {
		return nil, cpi.Errorf(cpi.InvalidCall, "%s: argument 1 (desired_instance_size): %w", calculateName, err)
	}
	for _, need := range []struct {
		key  string
		size *int64
	}{
		{"cpu", wanted.CPU}, {"ram", wanted.RAM}, {"ephemeral_disk_size", wanted.EphemeralDiskSize},
	} {
		if need.size == nil {
			return nil, invalid(calculateName, "%s is missing: cpu, ram and ephemeral_disk_size are needed", need.key)
		}
		if *need.size <= 0 {
			return nil, invalid(calculateName, "%s: expected a whole number above 0, got %d", need.key, *need.size)
		}
	}
	if _, err := gibibytes("ephemeral_disk_size", *wanted.EphemeralDiskSize); err != nil {
		return nil, invalid(calculateName, "%s", err)
	}
	fitting, largest, ok := instancetypes.Smallest(int(min(*wanted.CPU, math.MaxInt32)), *wanted.RAM)
	if !ok {
		return nil, invalid(calculateName, "no instance type has %d CPUs and %d MiB of RAM; the largest to choose from is %s with %d CPUs and %d MiB; name a larger one with instance_type in a VM type's cloud_properties",
			*wanted.CPU, *wanted.RAM, largest.Name, largest.VCPUs, largest.MemoryMiB)
	}
	return calculatedProperties{fitting.Name, ephemeralSize{*wanted.EphemeralDiskSize}}, nil
}
