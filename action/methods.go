package action

import (
	"context"

	"bosh-aws-cpi/cpi"
)

// method is a CPI method that talks to AWS.
type method[A any] interface {
	run(context.Context, *session, A) (any, error)
}

// Methods returns the method table: every CPI method that there is. version is
// the CPI's own, for CloudTrail.
func Methods(file ConfigFile, version string) cpi.API {
	home := house{file, version}
	return cpi.API{Versions: versions, Methods: []cpi.Method{
		cpi.NewMethod("info", info{file}.run),
		cpi.NewMethod("ping", ping),
		cpi.NewMethod("calculate_vm_cloud_properties", calculateVMCloudProperties),
		cpi.NewMethod("configure_networks", configureNetworks),
		cpi.NewMethod("current_vm_id", currentVMID),
		online(home, "create_stemcell", createStemcell{}),
		online(home, "delete_stemcell", deleteStemcell{}),
		online(home, "create_vm", createVM{}),
		online(home, "delete_vm", deleteVM{}),
		online(home, "has_vm", hasVM{}),
		online(home, "reboot_vm", rebootVM{}),
		online(home, "set_vm_metadata", setVMMetadata{}),
		online(home, "create_disk", createDisk{}),
		online(home, "delete_disk", deleteDisk{}),
		online(home, "has_disk", hasDisk{}),
		online(home, "attach_disk", attachDisk{}),
		online(home, "detach_disk", detachDisk{}),
		online(home, "get_disks", getDisks{}),
		online(home, "resize_disk", resizeDisk{}),
		online(home, "update_disk", updateDisk{}),
		online(home, "set_disk_metadata", setDiskMetadata{}),
		online(home, "snapshot_disk", snapshotDisk{}),
		online(home, "delete_snapshot", deleteSnapshot{}),
		online(home, "create_network", createNetwork{}),
		online(home, "delete_network", deleteNetwork{}),
	}}
}

// house is what all calls of the process share.
type house struct {
	file    ConfigFile
	version string
}

// online makes the table's line of a method that talks to AWS: it opens the
// call's session, and answers every error in the Director's terms.
func online[A any](home house, name string, m method[A]) cpi.Method {
	return cpi.NewMethod(name, func(ctx context.Context, call *cpi.Call, arguments A) (any, error) {
		s, err := openSession(ctx, call, home.file, home.version)
		if err != nil {
			return nil, err
		}
		result, err := m.run(ctx, s, arguments)
		if err != nil {
			return nil, answered(name, err)
		}
		return result, nil
	})
}
