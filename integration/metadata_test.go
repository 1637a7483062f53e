package integration_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/emulator/query"
	"bosh-aws-cpi/integration/proxy"
)

// tagsSent are the tags of a CreateTags call.
func tagsSent(call proxy.Call) map[string]string {
	tags := map[string]string{}
	for i := 1; call.Params.Has(fmt.Sprintf("Tag.%d.Key", i)); i++ {
		tags[call.Param(fmt.Sprintf("Tag.%d.Key", i))] = call.Param(fmt.Sprintf("Tag.%d.Value", i))
	}
	return tags
}

// tagsHeld are the tags that a resource has in the emulator.
func tagsHeld(ctx context.Context, id string) map[string]string {
	GinkgoHelper()
	described, err := describe(ctx, "DescribeTags", "Filter.1.Name", "resource-id", "Filter.1.Value.1", id)
	Expect(err).NotTo(HaveOccurred())
	tags := map[string]string{}
	for _, tag := range described.All("tagSet/item") {
		tags[tag.Value("key")] = tag.Value("value")
	}
	return tags
}

var _ = Describe("set_vm_metadata", func() {
	var vm string
	BeforeEach(func(ctx SpecContext) {
		vm = createVM(ctx, director(), nil, nil)
		aws.Clear()
	})
	set := func(ctx context.Context, metadata any) map[string]string {
		GinkgoHelper()
		aws.Clear()
		succeed(ctx, director(), "set_vm_metadata", vm, metadata)
		return tagsSent(only("CreateTags"))
	}

	It("tags the instance and all its volumes in one call", func(ctx SpecContext) {
		disk := freeDisk(ctx, 10, nil)
		succeed(ctx, director(), "attach_disk", vm, disk)
		set(ctx, map[string]any{"director": "bosh"})
		resources := only("CreateTags").List("ResourceId")
		Expect(resources).To(And(HaveLen(4), ContainElements(vm, disk)), "the instance, its root, its ephemeral and its persistent disk")
		for _, id := range resources[1:] {
			Expect(tagsHeld(ctx, id)).To(HaveKeyWithValue("director", "bosh"))
		}
	})

	It("names the VM by name, else job and index, else what it compiles", func(ctx SpecContext) {
		for name, metadata := range map[string]map[string]any{
			"api/uuid":       {"name": "api/uuid", "job": "api", "index": 0, "compiling": "ruby"},
			"api/0":          {"job": "api", "index": 0, "compiling": "ruby"},
			"compiling/ruby": {"job": "api", "compiling": "ruby"},
			"":               {"job": "api"},
		} {
			sent := set(ctx, metadata)
			Expect(sent["Name"]).To(Equal(name))
			Expect(sent).NotTo(HaveKey("name"))
		}
	})

	It("cuts long keys and values, leaves nulls out and merges what is alike then", func(ctx SpecContext) {
		long := strings.Repeat("k", 127)
		sent := set(ctx, map[string]any{
			long + "1": "x", long + "2": "x", "value": strings.Repeat("ü", 300), "null": nil, "index": 1, "flag": true,
		})
		Expect(sent).To(Equal(map[string]string{long: "x", "value": strings.Repeat("ü", 255), "index": "1", "flag": "true"}))
	})

	It("sends nothing when there is nothing to send", func(ctx SpecContext) {
		succeed(ctx, director(), "set_vm_metadata", vm, map[string]any{"null": nil})
		Expect(aws.Calls().Of("CreateTags")).To(BeEmpty())
	})

	DescribeTable("logs that AWS has no room for tags, tags the resources one by one, and succeeds",
		func(ctx SpecContext, code string) {
			full := func(call proxy.Call) bool { return call.List("ResourceId")[0] == vm }
			aws.Add(proxy.Rule{Action: "CreateTags", When: full, Do: proxy.Fail(http.StatusBadRequest, code, "too many tags")})
			outcome := succeed(ctx, director(), "set_vm_metadata", vm, map[string]any{"job": "api"})
			Expect(string(outcome.Stderr)).To(And(ContainSubstring(code), ContainSubstring("not tagged")))
			calls := aws.Calls().Of("CreateTags")
			Expect(calls).To(HaveLen(4), "all at once, then instance, root and ephemeral disk")
			for _, call := range calls[1:] {
				Expect(call.List("ResourceId")).To(HaveLen(1))
			}
			Expect(tagsHeld(ctx, vm)).NotTo(HaveKey("job"))
			Expect(tagsHeld(ctx, calls[0].List("ResourceId")[1])).To(HaveKeyWithValue("job", "api"))
		},
		Entry(nil, "TagLimitExceeded"), Entry(nil, "InvalidParameterValue"),
	)

	It("fails for any other reason", func(ctx SpecContext) {
		aws.Add(proxy.Rule{Action: "CreateTags", Do: proxy.Fail(http.StatusForbidden, "UnauthorizedOperation", "no")})
		Expect(fail(ctx, director(), cloudError, "set_vm_metadata", vm, map[string]any{"job": "api"}).Message).To(ContainSubstring(vm))
	})

	It("answers VMNotFound for a VM that is unknown or terminated", func(ctx SpecContext) {
		fail(ctx, director(), vmNotFound, "set_vm_metadata", noVM, map[string]any{"job": "api"})
		succeed(ctx, director(), "delete_vm", vm)
		fail(ctx, director(), vmNotFound, "set_vm_metadata", vm, map[string]any{"job": "api"})
	})
})

var _ = Describe("set_disk_metadata", func() {
	It("tags the volume", func(ctx SpecContext) {
		disk := freeDisk(ctx, 10, nil)
		aws.Clear()
		succeed(ctx, director(), "set_disk_metadata", disk, map[string]any{"deployment": "cf", "null": nil, "attached_at": "2026-01-01T00:00:00Z"})
		Expect(aws.Actions()).To(Equal([]string{"CreateTags"}))
		Expect(only("CreateTags").List("ResourceId")).To(Equal([]string{disk}))
		Expect(tagsSent(only("CreateTags"))).To(Equal(map[string]string{"deployment": "cf", "attached_at": "2026-01-01T00:00:00Z"}))
	})

	It("sends nothing when there is nothing to send", func(ctx SpecContext) {
		succeed(ctx, director(), "set_disk_metadata", noDisk, map[string]any{})
		Expect(aws.Calls()).To(BeEmpty())
	})

	It("logs that AWS has no room for tags, and succeeds", func(ctx SpecContext) {
		disk := freeDisk(ctx, 10, nil)
		aws.Add(proxy.Rule{Action: "CreateTags", Do: proxy.Fail(http.StatusBadRequest, "TagLimitExceeded", "too many tags")})
		outcome := succeed(ctx, director(), "set_disk_metadata", disk, map[string]any{"deployment": "cf"})
		Expect(string(outcome.Stderr)).To(And(ContainSubstring("TagLimitExceeded"), ContainSubstring(disk)))
	})

	It("answers DiskNotFound for an unknown disk", func(ctx SpecContext) {
		fail(ctx, director(), diskNotFound, "set_disk_metadata", noDisk, map[string]any{"deployment": "cf"})
	})
})

var _ = Describe("snapshot_disk", func() {
	metadata := map[string]any{
		"agent_id": "agent", "director_name": "my-bosh", "director_uuid": "uuid", "deployment": "cf", "job": "db", "index": 0, "instance_id": "i0", "none": nil,
	}
	snapshot := func(ctx context.Context, disk string, metadata map[string]any) proxy.Call {
		GinkgoHelper()
		aws.Clear()
		Expect(succeed(ctx, director(), "snapshot_disk", disk, metadata).Text()).To(HavePrefix("snap-"))
		return only("CreateSnapshot")
	}

	It("describes and tags the snapshot in the creating call", func(ctx SpecContext) {
		_, disk := attachedDisk(ctx, 10)
		call := snapshot(ctx, disk, metadata)
		Expect(aws.Actions()).To(Equal([]string{"DescribeVolumes", "CreateSnapshot"}))
		Expect(call).To(haveParam("VolumeId", disk))
		Expect(call).To(haveParam("Description", "cf/db/0/sdf"))
		Expect(call.Tags("snapshot")).To(Equal(map[string]string{
			"Name": "cf/db/0/sdf", "director": "my-bosh", "deployment": "cf", "instance_index": "0", "instance_name": "db/i0", "device": "/dev/sdf",
			"agent_id": "agent", "director_uuid": "uuid", "instance_id": "i0",
			"bosh-director": driver.DefaultDirector, "bosh-request-id": "cpi-4711",
		}))
	})

	It("relies on no key of the metadata, nor on an attachment", func(ctx SpecContext) {
		disk := freeDisk(ctx, 10, nil)
		call := snapshot(ctx, disk, map[string]any{"deployment": "cf"})
		Expect(call).To(haveParam("Description", "cf"))
		call = snapshot(ctx, disk, map[string]any{})
		expectWithout(call, "Description")
		Expect(call.Tags("snapshot")).To(HaveLen(2), "only those that say where it comes from")
	})

	It("returns as soon as AWS has accepted it", func(ctx SpecContext) {
		disk := freeDisk(ctx, 10, nil)
		aws.SetDelays(proxy.Delays{SnapshotCompleted: 1 << 50})
		snapshot(ctx, disk, metadata)
	})

	It("fails when it is in the error state by then, and deletes it", func(ctx SpecContext) {
		disk := freeDisk(ctx, 10, nil)
		before = inventory(ctx)
		aws.Add(proxy.Rule{Action: "CreateSnapshot", Do: proxy.Rewrite(func(_ proxy.Call, root *query.Node) {
			root.Set("status", "error")
			root.Set("statusMessage", "no access to the key")
		})})
		refused := fail(ctx, director(), cloudError, "snapshot_disk", disk, metadata)
		Expect(refused.Message).To(And(ContainSubstring(disk), ContainSubstring("no access to the key")))
		expectNothingLeft(ctx)
	})

	It("answers DiskNotFound for an unknown disk", func(ctx SpecContext) {
		fail(ctx, director(), diskNotFound, "snapshot_disk", noDisk, metadata)
	})
})

var _ = Describe("delete_snapshot", func() {
	It("deletes the snapshot, and answers DiskNotFound when it is gone", func(ctx SpecContext) {
		disk := freeDisk(ctx, 10, nil)
		before = inventory(ctx)
		snapshot := succeed(ctx, director(), "snapshot_disk", disk, map[string]any{}).Text()
		succeed(ctx, director(), "delete_snapshot", snapshot)
		expectNothingLeft(ctx)
		Expect(fail(ctx, director(), diskNotFound, "delete_snapshot", snapshot).Message).To(ContainSubstring(snapshot))
		fail(ctx, director(), diskNotFound, "delete_snapshot", noSnapshot)
	})

	It("says why a snapshot cannot be deleted", func(ctx SpecContext) {
		aws.Add(proxy.Rule{Action: "DeleteSnapshot", Do: proxy.Fail(http.StatusBadRequest, "InvalidSnapshot.InUse", "in use by ami-1")})
		refused := fail(ctx, director(), cloudError, "delete_snapshot", noSnapshot)
		Expect(refused.Message).To(And(ContainSubstring(noSnapshot), ContainSubstring("in use by ami-1")))
	})
})
