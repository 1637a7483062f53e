package badrequests_test

import (
	. "github.com/onsi/ginkgo/v2"

	"bosh-aws-cpi/integration/proxy"
)

// The ids of what is not there.
const (
	noVM       = "i-0123456789abcdef0"
	noDisk     = "vol-0123456789abcdef0"
	noSnapshot = "snap-0123456789abcdef0"
)

var _ = Describe("a VM that is not there", func() {
	about := func(what, vm, method string, arguments ...any) bad {
		return bad{what: what, method: method, arguments: arguments, kind: vmNotFound, says: []string{vm}}
	}
	refuses(
		about("unknown VM", noVM, "delete_vm", noVM),
		about("unknown VM", noVM, "reboot_vm", noVM),
		about("unknown VM", noVM, "set_vm_metadata", noVM, object{"job": "a"}),
		about("unknown VM", noVM, "get_disks", noVM),
		about("unknown VM", noVM, "attach_disk", noVM, "{disk}"),
		about("disk for an unknown VM", noVM, "create_disk", 1024, object{}, noVM),
		about("VM id malformed", "vm-1", "delete_vm", "vm-1"),
		about("VM id malformed", "i-1", "get_disks", "i-1"),
		about("VM id malformed", "i-1", "reboot_vm", "i-1"),
		about("VM id malformed", "i-1", "attach_disk", "i-1", "{disk}"),
		about("terminated VM", "{terminated vm}", "attach_disk", "{terminated vm}", "{disk}"),
		about("terminated VM", "{terminated vm}", "set_vm_metadata", "{terminated vm}", object{"job": "a"}),
		about("disk for a terminated VM", "{terminated vm}", "create_disk", 1024, object{}, "{terminated vm}"),
	)
	refuses(
		bad{what: "not running on EC2", method: "current_vm_id", kind: cloudError, says: []string{"metadata service", "EC2 instance"},
			caller: environment("AWS_EC2_METADATA_SERVICE_ENDPOINT=http://127.0.0.1:1")},
		bad{what: "VM protected against termination", method: "delete_vm", arguments: []any{"{vm}"}, kind: cloudError,
			rules: refusing("TerminateInstances", 400, "OperationNotPermitted", "The instance may not be terminated. Modify its 'disableApiTermination' instance attribute and try again."),
			says:  []string{"{vm}", "OperationNotPermitted", "remove the protection"}},
		bad{what: "no permission", method: "has_vm", arguments: []any{"{vm}"}, kind: cloudError,
			rules: refusing("DescribeInstances", 403, "UnauthorizedOperation", "You are not authorized to perform this operation."),
			says:  []string{"DescribeInstances", "IAM policy"}},
	)
})

var _ = Describe("a disk that is not there", func() {
	about := func(what, disk, method string, arguments ...any) bad {
		return bad{what: what, method: method, arguments: arguments, kind: diskNotFound, says: []string{disk}}
	}
	refuses(
		about("unknown disk", noDisk, "delete_disk", noDisk),
		about("unknown disk", noDisk, "attach_disk", "{vm}", noDisk),
		about("unknown disk", noDisk, "resize_disk", noDisk, 4096),
		about("unknown disk", noDisk, "update_disk", noDisk, 4096, object{}),
		about("unknown disk", noDisk, "set_disk_metadata", noDisk, object{"a": "b"}),
		about("unknown disk", noDisk, "snapshot_disk", noDisk, object{}),
		about("unknown snapshot", noSnapshot, "delete_snapshot", noSnapshot),
		about("disk id malformed", "vol-1", "delete_disk", "vol-1"),
		about("disk id malformed", "vol-1", "resize_disk", "vol-1", 4096),
		about("disk id malformed", "vol-1", "attach_disk", "{vm}", "vol-1"),
		about("snapshot id malformed", "snap-1", "delete_snapshot", "snap-1"),
		about("no disk id at all", "disk-1", "delete_disk", "disk-1"),
		about("no disk id at all", "disk-1", "snapshot_disk", "disk-1", object{}),
		about("no snapshot id at all", "snapshot-1", "delete_snapshot", "snapshot-1"),
	)
})

var _ = Describe("a disk that cannot be", func() {
	create := func(what string, size any, properties any, says ...string) bad {
		return bad{what: what, method: "create_disk", arguments: []any{size, properties, "{vm}"}, kind: cloudError, says: says}
	}
	update := func(what string, size any, properties any, says ...string) bad {
		return bad{what: what, method: "update_disk", arguments: []any{"{disk}", size, properties}, kind: cloudError, says: says}
	}
	refusesUnasked(
		create("size above 64 TiB", 64<<20+1, object{}, "size", "64 TiB"),
		create("size near the end of numbers", int64(1)<<62, object{}, "size", "64 TiB"),
		create("type unknown", 1024, object{"type": "floppy"}, "cloud_properties.type", "gp3", `"floppy"`),
		create("type a number", 1024, object{"type": 3}, "cloud_properties.type", "expected a string, got a number"),
		create("io1 without iops", 4096, object{"type": "io1"}, "cloud_properties.iops", "io1"),
		create("io2 with iops 0", 4096, object{"type": "io2", "iops": 0}, "cloud_properties.iops", "io2"),
		create("iops negative", 1024, object{"iops": -3000}, "cloud_properties.iops", "above 0"),
		create("iops a string", 1024, object{"iops": "3000"}, "cloud_properties.iops", "expected a whole number, got a string"),
		create("iops beyond all numbers", 1024, object{"iops": 1 << 40}, "cloud_properties.iops", "expected a whole number"),
		create("throughput negative", 1024, object{"throughput": -1}, "cloud_properties.throughput", "above 0"),
		create("encrypted a string", 1024, object{"encrypted": "true"}, "cloud_properties.encrypted", "expected true or false, got a string"),
		create("key without encryption", 1024, object{"encrypted": false, "kms_key_arn": "arn:aws:kms:x"}, "cloud_properties.kms_key_arn", "encrypted"),
		create("tags a string", 1024, object{"tags": "a=b"}, "cloud_properties.tags", "expected an object, got a string"),
		update("type unknown", 4096, object{"type": "tape"}, "cloud_properties.type", "gp3", `"tape"`),
		update("io2 without iops", 4096, object{"type": "io2"}, "cloud_properties.iops", "io2"),
		update("new_size above 64 TiB", 64<<20+1, object{}, "new_size", "64 TiB"),
		bad{what: "new_size above 64 TiB", method: "resize_disk", arguments: []any{"{disk}", 64<<20 + 1}, kind: cloudError, says: []string{"new_size", "64 TiB"}},
	)

	unsupported := func(what, method string, rules []proxy.Rule, arguments []any, says ...string) bad {
		return bad{what: what, method: method, rules: rules, arguments: arguments, kind: notSupported, says: append(says, "{disk}")}
	}
	refuses(
		unsupported("shrinking", "resize_disk", nil, []any{"{disk}", 1024}, "2 GiB", "1 GiB", "shrink"),
		unsupported("shrinking", "update_disk", nil, []any{"{disk}", 1024, object{}}, "2 GiB", "1 GiB", "shrink"),
		unsupported("encrypting", "update_disk", nil, []any{"{disk}", 4096, object{"encrypted": true}}, "cloud_properties.encrypted", "encryption"),
		unsupported("modified too often", "resize_disk", refusing("ModifyVolume", 400, "VolumeModificationRateExceeded", "You've reached the maximum modification rate per volume limit."),
			[]any{"{disk}", 4096}, "VolumeModificationRateExceeded"),
		unsupported("modified right now", "update_disk", refusing("ModifyVolume", 400, "IncorrectModificationState", "Volume is currently being modified."),
			[]any{"{disk}", 4096, object{}}, "IncorrectModificationState"),
		bad{what: "no room for more disks", method: "create_disk", arguments: []any{1024, object{}, "{vm}"}, kind: noDiskSpace,
			rules: refusing("CreateVolume", 400, "VolumeLimitExceeded", "You have exceeded your maximum gp3 storage limit of 50 TiB in this region."),
			says:  []string{"VolumeLimitExceeded", "higher limit"}},
		bad{what: "KMS key that cannot be used", method: "create_disk", arguments: []any{1024, object{"encrypted": true, "kms_key_arn": "arn:aws:kms:us-east-1:123456789012:key/stranger"}, "{vm}"},
			kind: cloudError, undone: true, says: []string{"error", "KMS key"},
			rules: []proxy.Rule{{Action: "DescribeVolumes", Times: 1, Do: proxy.ShowVolume("error")}}},
		bad{what: "no permission", method: "snapshot_disk", arguments: []any{"{disk}", object{}}, kind: cloudError,
			rules: refusing("CreateSnapshot", 403, "UnauthorizedOperation", "You are not authorized to perform this operation."),
			says:  []string{"CreateSnapshot", "{disk}", "IAM policy"}},
		bad{what: "too many snapshots", method: "snapshot_disk", arguments: []any{"{disk}", object{}}, kind: cloudError,
			rules: refusing("CreateSnapshot", 400, "SnapshotLimitExceeded", "Maximum allowed snapshot limit reached."),
			says:  []string{"{disk}", "SnapshotLimitExceeded"}},
	)
})

var _ = Describe("a disk at the wrong place", func() {
	refuses(
		bad{what: "attached to another VM", method: "attach_disk", arguments: []any{"{other vm}", "{attached disk}"}, kind: cloudError,
			says: []string{"{attached disk}", "{vm}", "detach"}},
		bad{what: "of another zone", method: "attach_disk", arguments: []any{"{vm}", "{far disk}"}, kind: cloudError,
			says: []string{"{far disk}", "{vm}", "InvalidVolume.ZoneMismatch"}},
		bad{what: "attached to a VM", method: "delete_disk", arguments: []any{"{attached disk}"}, kind: cloudError,
			says: []string{"{attached disk}", "{vm}", "detach"}},
		bad{what: "attached nowhere", method: "detach_disk", arguments: []any{"{vm}", "{disk}"}, kind: diskNotAttached, retry: true,
			says: []string{"{disk}", "{vm}"}},
		bad{what: "attached elsewhere", method: "detach_disk", arguments: []any{"{other vm}", "{attached disk}"}, kind: diskNotAttached, retry: true,
			says: []string{"{attached disk}", "{other vm}", "{vm}"}},
		bad{what: "attached elsewhere, unknown VM", method: "detach_disk", arguments: []any{noVM, "{attached disk}"}, kind: diskNotAttached, retry: true,
			says: []string{"{attached disk}", noVM, "{vm}"}},
	)
})
