package integration_test

import (
	"context"
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/emulator/query"
	"bosh-aws-cpi/integration/proxy"
)

// The error types that specs meet most.
const (
	cloudError   = "Bosh::Clouds::CloudError"
	cpiError     = "Bosh::Clouds::CpiError"
	notSupported = "Bosh::Clouds::NotSupported"
	diskNotFound = "Bosh::Clouds::DiskNotFound"
	vmNotFound   = "Bosh::Clouds::VMNotFound"
	notCreated   = "Bosh::Clouds::VMCreationFailed"
)

// Resources that no account has, with ids of the right shape.
const (
	noVM       = "i-0123456789abcdef0"
	noDisk     = "vol-0123456789abcdef0"
	noSnapshot = "snap-0123456789abcdef0"
	noSubnet   = "subnet-0123456789abcdef0"
)

// soon is how long states are late in specs that only want them late.
const soon = 100 * time.Millisecond

// only returns the only recorded call of an action.
func only(action string) proxy.Call {
	GinkgoHelper()
	calls := aws.Calls().Of(action)
	Expect(calls).To(HaveLen(1), action)
	return calls[0]
}

// expectWithout expects none of these parameters on the wire.
func expectWithout(call proxy.Call, names ...string) {
	GinkgoHelper()
	for _, name := range names {
		Expect(call.Params).NotTo(HaveKey(name))
	}
}

// someoneElse makes an AWS call beside the CPI's, with the delays that hold.
func someoneElse(ctx context.Context, action string, parameters ...string) *query.Node {
	GinkgoHelper()
	answer, err := query.Client{Endpoint: aws.URL, Region: account.Region}.Do(ctx, query.EC2, action, parameters...)
	Expect(err).NotTo(HaveOccurred())
	return answer
}

// volume describes a volume as the emulator has it.
func volume(ctx context.Context, id string) *query.Node {
	GinkgoHelper()
	described, err := describe(ctx, "DescribeVolumes", "VolumeId.1", id)
	Expect(err).NotTo(HaveOccurred())
	return described.Get("volumeSet/item")
}

// freeDisk makes a disk in the first subnet's zone, for no VM, with properties.
func freeDisk(ctx context.Context, size int, properties map[string]any) string {
	GinkgoHelper()
	parameters := []string{"AvailabilityZone", account.Subnets[0].Zone, "Size", "10", "VolumeType", "gp3"}
	if properties == nil && size == 10 {
		return someoneElse(ctx, "CreateVolume", parameters...).Value("volumeId")
	}
	return succeed(ctx, director(), "create_disk", size<<10, properties).Text()
}

// attachedDisk makes a VM that has a disk, at this address of the first subnet.
func attachedDisk(ctx context.Context, address int) (vm, disk string) {
	GinkgoHelper()
	vm = createVM(ctx, director(), nil, driver.Object("default", manual(account.Subnets[0], account.Subnets[0].IP(address), nil)))
	disk = freeDisk(ctx, 10, nil)
	succeed(ctx, director(), "attach_disk", vm, disk)
	return vm, disk
}

// encryption is what a disk's own properties are to become on the wire.
type encryption struct {
	own            map[string]any
	encrypted, key string
}

var _ = Describe("create_disk", func() {
	create := func(ctx context.Context, size int, properties map[string]any) proxy.Call {
		GinkgoHelper()
		aws.Clear()
		succeed(ctx, director(), "create_disk", size, properties)
		return only("CreateVolume")
	}

	It("makes a gp3 volume in the VM's zone, and waits until it is available", func(ctx SpecContext) {
		network := driver.Object("default", manual(account.Subnets[1], account.Subnets[1].IP(10), nil))
		vm := createVM(ctx, director(), map[string]any{"availability_zone": account.Subnets[1].Zone}, network)
		aws.Clear()
		aws.SetDelays(proxy.Delays{VolumeAvailable: soon})
		disk := createDisk(ctx, director(), vm)
		Expect(disk).To(HavePrefix("vol-"))

		call := only("CreateVolume")
		Expect(call).To(haveParam("AvailabilityZone", account.Subnets[1].Zone))
		Expect(call).To(haveParam("VolumeType", "gp3"))
		Expect(call.Param("ClientToken")).NotTo(BeEmpty())
		expectWithout(call, "Iops", "Throughput", "Encrypted", "KmsKeyId")
		polls := aws.Calls().Of("DescribeVolumes")
		Expect(polls[len(polls)-1].Start).To(BeTemporally(">=", call.Start.Add(soon)))
	})

	DescribeTable("makes the volume in any zone of the region, when there is no VM: it is",
		func(ctx SpecContext, vm ...any) {
			succeed(ctx, director(), "create_disk", append([]any{1024, map[string]any{}}, vm...)...)
			Expect(aws.Actions()).To(Equal([]string{"DescribeAvailabilityZones", "CreateVolume", "DescribeVolumes"}))
			zones := only("DescribeAvailabilityZones")
			Expect(zones).To(haveParam("Filter.1.Name", "zone-type"))
			Expect(zones).To(haveParam("Filter.1.Value.1", "availability-zone"))
			Expect(zones).To(haveParam("Filter.2.Name", "state"))
			Expect(zones).To(haveParam("Filter.2.Value.1", "available"))
			Expect(only("CreateVolume").Param("AvailabilityZone")).To(HavePrefix(account.Region))
		},
		Entry("absent"),
		Entry("null", nil),
		Entry("empty", ""),
	)

	It("rounds MiB up to GiB", func(ctx SpecContext) {
		for mebibytes, gibibytes := range map[int]string{1: "1", 1024: "1", 1025: "2", 10240: "10"} {
			Expect(create(ctx, mebibytes, map[string]any{})).To(haveParam("Size", gibibytes), "%d MiB", mebibytes)
		}
	})

	It("sends iops and throughput to the types that take them", func(ctx SpecContext) {
		for kind, speed := range map[string][2]string{
			"gp3": {"4000", "250"}, "io1": {"4000", ""}, "io2": {"4000", ""}, "gp2": {}, "st1": {}, "standard": {},
		} {
			call := create(ctx, 10240, map[string]any{"type": kind, "iops": 4000, "throughput": 250})
			Expect(call).To(haveParam("VolumeType", kind))
			Expect(call).To(haveParam("Iops", speed[0]), kind)
			Expect(call).To(haveParam("Throughput", speed[1]), kind)
		}
	})

	DescribeTable("encrypts as the disk says, else as the configuration does",
		func(ctx SpecContext, global map[string]any, disks ...encryption) {
			config.AWS = global
			for _, disk := range disks {
				call := create(ctx, 1024, disk.own)
				Expect(call).To(haveParam("Encrypted", disk.encrypted), "%v", disk.own)
				Expect(call).To(haveParam("KmsKeyId", disk.key), "%v", disk.own)
			}
		},
		Entry("nothing in the configuration", nil,
			encryption{map[string]any{}, "", ""},
			encryption{map[string]any{"encrypted": true}, "true", ""},
			encryption{map[string]any{"encrypted": true, "kms_key_arn": "arn:own"}, "true", "arn:own"}),
		Entry("a key in the configuration", map[string]any{"kms_key_arn": "arn:global"},
			encryption{map[string]any{}, "", ""},
			encryption{map[string]any{"encrypted": true}, "true", "arn:global"},
			encryption{map[string]any{"encrypted": true, "kms_key_arn": "arn:own"}, "true", "arn:own"}),
		Entry("encryption in the configuration", map[string]any{"encrypted": true, "kms_key_arn": "arn:global"},
			encryption{map[string]any{}, "true", "arn:global"},
			encryption{map[string]any{"encrypted": false}, "", ""},
			encryption{map[string]any{"kms_key_arn": "arn:own"}, "true", "arn:own"}),
	)

	It("tags the volume in the creating call", func(ctx SpecContext) {
		call := create(ctx, 1024, map[string]any{"tags": map[string]any{"team": "platform", "none": nil, "bosh-director": "of an operator"}})
		Expect(call.Tags("volume")).To(Equal(map[string]string{
			"team": "platform", "bosh-director": driver.DefaultDirector, "bosh-request-id": "cpi-4711",
		}))
		Expect(aws.Calls().Of("CreateTags")).To(BeEmpty())
	})

	It("answers VMNotFound for a VM that is unknown or terminated, and makes nothing", func(ctx SpecContext) {
		vm := createVM(ctx, director(), nil, nil)
		someoneElse(ctx, "TerminateInstances", "InstanceId.1", vm)
		for _, gone := range []string{vm, noVM} {
			refused := fail(ctx, director(), vmNotFound, "create_disk", 1024, map[string]any{}, gone)
			Expect(refused.Message).To(And(HavePrefix("create_disk"), ContainSubstring(gone)))
		}
		expectNothingLeft(ctx)
	})

	It("answers NoDiskSpace when the account may have no more volumes", func(ctx SpecContext) {
		aws.Add(proxy.Rule{Action: "CreateVolume", Do: proxy.Fail(http.StatusBadRequest, "VolumeLimitExceeded", "limit")})
		refused := fail(ctx, director(), "Bosh::Clouds::NoDiskSpace", "create_disk", 1024, map[string]any{})
		Expect(refused.Message).To(ContainSubstring("VolumeLimitExceeded"))
	})

	It("deletes a volume that gets into the error state, and fails at once", func(ctx SpecContext) {
		aws.Add(proxy.Rule{Action: "DescribeVolumes", Times: 1, Do: proxy.ShowVolume("error")})
		refused := fail(ctx, director(), cloudError, "create_disk", 1024, map[string]any{})
		Expect(refused.Message).To(And(ContainSubstring("vol-"), ContainSubstring(`"error"`), ContainSubstring("KMS")))
		expectNothingLeft(ctx)
	})
})

var _ = Describe("delete_disk", func() {
	It("waits until the volume is gone", func(ctx SpecContext) {
		disk := freeDisk(ctx, 10, nil)
		aws.SetDelays(proxy.Delays{VolumeDeleted: soon})
		succeed(ctx, director(), "delete_disk", disk)
		expectNothingLeft(ctx)
	})

	It("names the VM that has the disk, and deletes nothing", func(ctx SpecContext) {
		vm, disk := attachedDisk(ctx, 10)
		succeed(ctx, director(), "set_vm_metadata", vm, map[string]any{"name": "db/0", "deployment": "cf"})
		refused := fail(ctx, director(), cloudError, "delete_disk", disk)
		Expect(refused.Message).To(And(ContainSubstring(disk), ContainSubstring(vm), ContainSubstring("db/0"), ContainSubstring("cf")))
		Expect(volume(ctx, disk).Value("status")).To(Equal("in-use"))
	})

	It("waits for a VM that is being terminated", func(ctx SpecContext) {
		vm, disk := attachedDisk(ctx, 10)
		aws.SetDelays(proxy.Delays{InstanceTerminated: soon})
		someoneElse(ctx, "TerminateInstances", "InstanceId.1", vm)
		succeed(ctx, director(), "delete_disk", disk)
		expectNothingLeft(ctx)
	})

	It("waits for a detachment", func(ctx SpecContext) {
		vm, disk := attachedDisk(ctx, 10)
		aws.SetDelays(proxy.Delays{VolumeDetached: soon})
		someoneElse(ctx, "DetachVolume", "InstanceId", vm, "VolumeId", disk)
		succeed(ctx, director(), "delete_disk", disk)
		succeed(ctx, director(), "delete_vm", vm)
		expectNothingLeft(ctx)
	})

	It("succeeds for a disk that is being deleted already", func(ctx SpecContext) {
		disk := freeDisk(ctx, 10, nil)
		aws.SetDelays(proxy.Delays{VolumeDeleted: soon})
		someoneElse(ctx, "DeleteVolume", "VolumeId", disk)
		succeed(ctx, director(), "delete_disk", disk)
		expectNothingLeft(ctx)
	})

	It("answers DiskNotFound for a disk that is gone", func(ctx SpecContext) {
		for _, id := range []string{noDisk, "disk-12345678"} {
			refused := fail(ctx, director(), diskNotFound, "delete_disk", id)
			Expect(refused.Message).To(And(HavePrefix("delete_disk"), ContainSubstring(id)))
		}
	})

	It("with fast_path_delete marks the disk and does not wait", func(ctx SpecContext) {
		config.AWS = map[string]any{"fast_path_delete": true}
		disk := freeDisk(ctx, 10, nil)
		aws.Clear()
		aws.SetDelays(proxy.Delays{VolumeDeleted: time.Hour})
		succeed(ctx, director(), "delete_disk", disk)
		Expect(aws.Actions()).To(Equal([]string{"CreateTags", "DeleteVolume"}))
		Expect(only("CreateTags").List("ResourceId")).To(Equal([]string{disk}))
		Expect(only("CreateTags")).To(haveParam("Tag.1.Key", "Name"))
		Expect(only("CreateTags")).To(haveParam("Tag.1.Value", "to be deleted"))
	})
})

var _ = Describe("delete_vm with fast_path_delete", func() {
	BeforeEach(func() { config.AWS = map[string]any{"fast_path_delete": true} })

	It("marks the VM and does not wait", func(ctx SpecContext) {
		vm := createVM(ctx, director(), nil, nil)
		aws.Clear()
		aws.SetDelays(proxy.Delays{InstanceTerminated: time.Hour})
		succeed(ctx, director(), "delete_vm", vm)
		Expect(aws.Actions()).To(Equal([]string{"CreateTags", "TerminateInstances"}))
		Expect(only("CreateTags").List("ResourceId")).To(Equal([]string{vm}))
		Expect(only("CreateTags")).To(haveParam("Tag.1.Value", "to be deleted"))
	})

	It("answers VMNotFound for a VM that is gone", func(ctx SpecContext) {
		fail(ctx, director(), vmNotFound, "delete_vm", noVM)
	})
})

var _ = Describe("has_disk", func() {
	has := func(ctx context.Context, disk string) bool {
		GinkgoHelper()
		var answer bool
		Expect(succeed(ctx, director(), "has_disk", disk).Decode(&answer)).To(Succeed())
		return answer
	}

	It("is true for a volume that exists, and false once it is on its way out", func(ctx SpecContext) {
		disk := freeDisk(ctx, 10, nil)
		Expect(has(ctx, disk)).To(BeTrue())
		aws.SetDelays(proxy.Delays{VolumeDeleted: time.Hour})
		someoneElse(ctx, "DeleteVolume", "VolumeId", disk)
		Expect(has(ctx, disk)).To(BeFalse())
		aws.Settle()
		Expect(has(ctx, disk)).To(BeFalse())
	})

	It("is false, at the first answer, for what no volume can be called", func(ctx SpecContext) {
		for _, id := range []string{noDisk, "vol-nonsense", "disk-12345678"} {
			aws.Clear()
			Expect(has(ctx, id)).To(BeFalse(), id)
			Expect(aws.Actions()).To(Equal([]string{"DescribeVolumes"}), id)
		}
	})

	It("does not take a refusal for a no", func(ctx SpecContext) {
		aws.Add(proxy.Rule{Action: "DescribeVolumes", Do: proxy.Fail(http.StatusForbidden, "UnauthorizedOperation", "You are not authorized")})
		refused := fail(ctx, director(), cloudError, "has_disk", noDisk)
		Expect(refused.Message).To(And(ContainSubstring("UnauthorizedOperation"), ContainSubstring("IAM policy"), ContainSubstring(noDisk)))
	})
})

var _ = Describe("get_disks", func() {
	It("returns the persistent disks, and neither root nor ephemeral disk", func(ctx SpecContext) {
		vm, disk := attachedDisk(ctx, 10)
		another := freeDisk(ctx, 10, nil)
		succeed(ctx, director(), "attach_disk", vm, another)
		var disks []string
		Expect(succeed(ctx, director(), "get_disks", vm).Decode(&disks)).To(Succeed())
		Expect(disks).To(ConsistOf(disk, another))
	})

	It("returns an empty list, not null, for a VM without", func(ctx SpecContext) {
		vm := createVM(ctx, director(), nil, nil)
		Expect(succeed(ctx, director(), "get_disks", vm).Response.Result).To(MatchJSON(`[]`))
	})

	It("answers VMNotFound for a VM that is unknown", func(ctx SpecContext) {
		fail(ctx, director(), vmNotFound, "get_disks", noVM)
	})
})
