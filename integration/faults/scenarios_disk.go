package main

import "context"

// diskScenarios are the methods that make, delete, attach and detach a disk.
func diskScenarios() []scenario {
	return []scenario{
		{
			name: "create_disk", method: "create_disk", creates: true, shards: 2,
			prepare: func(ctx context.Context, w *worker, s scenario) ([]any, error) {
				vm, err := makeVM(ctx, w, s, nil, nil)
				return []any{2048, map[string]any{"tags": map[string]any{"team": "platform"}}, vm}, err
			},
			gone: map[string]string{"DescribeInstances": vmNotFound},
		},
		{
			name: "create_disk, in any zone", method: "create_disk", creates: true,
			prepare: func(context.Context, *worker, scenario) ([]any, error) { return []any{2048, map[string]any{}}, nil },
		},
		{name: "delete_disk", method: "delete_disk", prepare: theDisk(), gone: map[string]string{"DeleteVolume": diskNotFound}},
		{name: "attach_disk", method: "attach_disk", creates: true, prepare: vmAndDisk(false), gone: attachGone},
		{name: "attach_disk, registry", method: "attach_disk", creates: true, prepare: vmAndDisk(false), stemcellVersion: 1, gone: attachGone},
		{name: "detach_disk", method: "detach_disk", prepare: vmAndDisk(true)},
		{name: "detach_disk, registry", method: "detach_disk", prepare: vmAndDisk(true), stemcellVersion: 1},
	}
}

var attachGone = map[string]string{"DescribeInstances": vmNotFound, "AttachVolume": diskNotFound, "DescribeVolumes": diskNotFound}

// diskChanges are the methods that change a disk in place.
func diskChanges() []scenario {
	metadata := map[string]any{"director": "bosh", "deployment": "cf", "instance_group": "api"}
	modified := map[string]string{"DescribeVolumes": diskNotFound, "ModifyVolume": diskNotFound, "DescribeVolumesModifications": diskNotFound}
	return []scenario{
		{name: "resize_disk", method: "resize_disk", prepare: theDisk(4096), gone: modified},
		{name: "update_disk", method: "update_disk", prepare: theDisk(4096, map[string]any{"iops": 4000}), gone: modified},
		{name: "set_disk_metadata", method: "set_disk_metadata", reusable: true, prepare: theDisk(metadata), gone: map[string]string{"CreateTags": diskNotFound}},
		{
			name: "snapshot_disk", method: "snapshot_disk", creates: true,
			prepare: theDisk(map[string]any{"deployment": "cf", "job": "api", "index": 0}),
			gone:    map[string]string{"DescribeVolumes": diskNotFound, "CreateSnapshot": diskNotFound},
		},
	}
}

// otherScenarios are snapshots and networks.
func otherScenarios() []scenario {
	return []scenario{
		{
			name: "delete_snapshot", method: "delete_snapshot",
			prepare: func(ctx context.Context, w *worker, s scenario) ([]any, error) {
				arguments, err := theDisk(map[string]any{})(ctx, w, s)
				if err != nil {
					return nil, err
				}
				outcome, err := w.must(ctx, s, "snapshot_disk", arguments...)
				return []any{outcome.Text()}, err
			},
			gone: map[string]string{"DeleteSnapshot": diskNotFound},
		},
		{
			name: "create_network", method: "create_network", creates: true, shards: 2,
			prepare: func(_ context.Context, w *worker, _ scenario) ([]any, error) {
				return []any{network(w, map[string]any{"range": "10.0.128.0/24", "gateway": "10.0.128.1"})}, nil
			},
		},
		{
			name: "create_network, by size", method: "create_network", creates: true, shards: 2,
			prepare: func(_ context.Context, w *worker, _ scenario) ([]any, error) {
				return []any{network(w, map[string]any{"netmask_bits": 24})}, nil
			},
		},
		{
			name: "delete_network", method: "delete_network", alone: true,
			prepare: func(ctx context.Context, w *worker, s scenario) ([]any, error) {
				outcome, err := w.must(ctx, s, "create_network", network(w, map[string]any{"range": "10.0.128.0/24"}))
				var result []any
				if err != nil || outcome.Decode(&result) != nil {
					return nil, err
				}
				return []any{result[0]}, nil
			},
			gone: map[string]string{"DeleteSubnet": networkNotFound},
		},
	}
}

// network is a subnet definition with a route table.
func network(w *worker, definition map[string]any) map[string]any {
	definition["type"] = "manual"
	definition["cloud_properties"] = map[string]any{
		"vpc": w.Account.VPC, "availability_zone": w.Account.Subnets[0].Zone, "route_table": w.Account.RouteTable,
	}
	return definition
}
