package integration_test

import (
	"context"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/emulator/query"
	"bosh-aws-cpi/integration/proxy"
)

// What EBS cannot do in place now, by its error codes.
var modificationRefusals = []TableEntry{
	Entry(nil, "IncorrectModificationState"),
	Entry(nil, "VolumeModificationRateExceeded"),
}

// diskKey is the key with which showKey has DescribeVolumes say that all
// encrypted volumes are encrypted.
const diskKey = "arn:aws:kms:us-east-1:123456789012:key/the-key"

var showKey = proxy.Rewrite(func(_ proxy.Call, root *query.Node) {
	for _, item := range root.All("volumeSet/item") {
		if item.Value("encrypted") == "true" {
			item.Set("kmsKeyId", diskKey)
		}
	}
})

var _ = Describe("resize_disk", func() {
	It("grows the volume, and returns when it is optimizing", func(ctx SpecContext) {
		disk := freeDisk(ctx, 10, nil)
		aws.Clear()
		aws.SetDelays(proxy.Delays{VolumeModified: soon})
		succeed(ctx, director(), "resize_disk", disk, 20<<10)
		call := only("ModifyVolume")
		Expect(call).To(haveParam("VolumeId", disk))
		Expect(call).To(haveParam("Size", "20"))
		expectWithout(call, "VolumeType", "Iops", "Throughput")
		polls := aws.Calls().Of("DescribeVolumesModifications")
		Expect(polls[len(polls)-1].Start).To(BeTemporally(">=", call.Start.Add(soon)))
		Expect(volume(ctx, disk).Value("size")).To(Equal("20"))
	})

	It("grows a volume that is attached", func(ctx SpecContext) {
		_, disk := attachedDisk(ctx, 10)
		succeed(ctx, director(), "resize_disk", disk, 20<<10)
		Expect(volume(ctx, disk).Value("size")).To(Equal("20"))
	})

	It("modifies nothing when the volume has the size", func(ctx SpecContext) {
		disk := freeDisk(ctx, 10, nil)
		aws.Clear()
		succeed(ctx, director(), "resize_disk", disk, 10<<10)
		Expect(aws.Actions()).To(Equal([]string{"DescribeVolumes"}))
	})

	It("cannot shrink", func(ctx SpecContext) {
		disk := freeDisk(ctx, 10, nil)
		refused := fail(ctx, director(), notSupported, "resize_disk", disk, 9<<10)
		Expect(refused.Message).To(And(ContainSubstring(disk), ContainSubstring("10 GiB"), ContainSubstring("9 GiB")))
		Expect(aws.Calls().Of("ModifyVolume")).To(BeEmpty())
	})

	DescribeTable("is not supported while EBS refuses", func(ctx SpecContext, code string) {
		disk := freeDisk(ctx, 10, nil)
		aws.Add(proxy.Rule{Action: "ModifyVolume", Do: proxy.Fail(http.StatusBadRequest, code, "not now")})
		refused := fail(ctx, director(), notSupported, "resize_disk", disk, 20<<10)
		Expect(refused.Message).To(And(ContainSubstring(disk), ContainSubstring(code)))
		Expect(aws.Calls().Of("ModifyVolume")).To(HaveLen(1))
	}, modificationRefusals)

	It("fails at once when the modification does, with AWS's reason", func(ctx SpecContext) {
		disk := freeDisk(ctx, 10, nil)
		aws.Add(proxy.Rule{Action: "DescribeVolumesModifications", Do: proxy.ShowModification("failed", "out of luck")})
		refused := fail(ctx, director(), cloudError, "resize_disk", disk, 20<<10)
		Expect(refused.Message).To(And(ContainSubstring(disk), ContainSubstring("out of luck")))
		Expect(aws.Calls().Of("DescribeVolumesModifications")).To(HaveLen(1))
	})

	It("answers DiskNotFound for an unknown disk", func(ctx SpecContext) {
		fail(ctx, director(), diskNotFound, "resize_disk", noDisk, 20<<10)
	})
})

var _ = Describe("update_disk", func() {
	var disk string
	update := func(ctx context.Context, size int, properties map[string]any) {
		GinkgoHelper()
		aws.Clear()
		Expect(succeed(ctx, director(), "update_disk", disk, size, properties).Response.Result).To(MatchJSON(`null`))
	}

	It("changes size, type and speed in one modification, and keeps the cid", func(ctx SpecContext) {
		disk = freeDisk(ctx, 10, map[string]any{"type": "gp2"})
		update(ctx, 20<<10, map[string]any{"type": "gp3", "iops": 4000, "throughput": 250})
		Expect(aws.Actions()).To(Equal([]string{"DescribeVolumes", "ModifyVolume", "DescribeVolumesModifications"}))
		call := only("ModifyVolume")
		for name, value := range map[string]string{"VolumeId": disk, "Size": "20", "VolumeType": "gp3", "Iops": "4000", "Throughput": "250"} {
			Expect(call).To(haveParam(name, value))
		}
	})

	It("sends only what changes", func(ctx SpecContext) {
		disk = freeDisk(ctx, 10, map[string]any{"type": "gp3", "iops": 4000})
		update(ctx, 10<<10, map[string]any{"type": "gp3", "iops": 5000})
		Expect(only("ModifyVolume")).To(haveParam("Iops", "5000"))
		expectWithout(only("ModifyVolume"), "Size", "VolumeType")
	})

	It("takes a gp3 volume back to the speed that it would be made with", func(ctx SpecContext) {
		disk = freeDisk(ctx, 10, map[string]any{"type": "gp3", "iops": 4000, "throughput": 250})
		update(ctx, 10<<10, map[string]any{})
		Expect(only("ModifyVolume")).To(haveParam("Iops", "3000"))
		Expect(only("ModifyVolume")).To(haveParam("Throughput", "125"))
	})

	It("leaves speed alone that the new type does not take", func(ctx SpecContext) {
		disk = freeDisk(ctx, 10, map[string]any{"type": "gp3"})
		update(ctx, 10<<10, map[string]any{"type": "gp2", "iops": 4000, "throughput": 250})
		Expect(only("ModifyVolume")).To(haveParam("VolumeType", "gp2"))
		expectWithout(only("ModifyVolume"), "Iops", "Throughput", "Size")
	})

	It("modifies nothing when the volume is as it should be", func(ctx SpecContext) {
		disk = freeDisk(ctx, 10, map[string]any{"type": "gp2"})
		update(ctx, 10<<10, map[string]any{"type": "gp2"})
		Expect(aws.Actions()).To(Equal([]string{"DescribeVolumes"}))
	})

	It("cannot shrink", func(ctx SpecContext) {
		disk = freeDisk(ctx, 10, nil)
		refused := fail(ctx, director(), notSupported, "update_disk", disk, 5<<10, map[string]any{})
		Expect(refused.Message).To(And(ContainSubstring(disk), ContainSubstring("5 GiB")))
		Expect(aws.Calls().Of("ModifyVolume")).To(BeEmpty())
	})

	DescribeTable("cannot change the encryption of a volume",
		func(ctx SpecContext, is, wanted map[string]any) {
			disk = freeDisk(ctx, 10, is)
			aws.Add(proxy.Rule{Action: "DescribeVolumes", Do: showKey})
			refused := fail(ctx, director(), notSupported, "update_disk", disk, 20<<10, wanted)
			Expect(refused.Message).To(ContainSubstring(disk))
			Expect(aws.Calls().Of("ModifyVolume")).To(BeEmpty())
		},
		Entry("on", map[string]any{}, map[string]any{"encrypted": true}),
		Entry("off", map[string]any{"encrypted": true}, map[string]any{"encrypted": false}),
		Entry("another key", map[string]any{"encrypted": true}, map[string]any{"encrypted": true, "kms_key_arn": "arn:aws:kms:us-east-1:1:key/another"}),
	)

	DescribeTable("takes a key as the volume's by ARN or id",
		func(ctx SpecContext, key string) {
			disk = freeDisk(ctx, 10, map[string]any{"encrypted": true})
			aws.Add(proxy.Rule{Action: "DescribeVolumes", Do: showKey})
			update(ctx, 20<<10, map[string]any{"encrypted": true, "kms_key_arn": key})
			Expect(volume(ctx, disk).Value("size")).To(Equal("20"))
		},
		Entry("ARN", diskKey), Entry("id", "the-key"),
	)

	DescribeTable("is not supported while EBS refuses", func(ctx SpecContext, code string) {
		disk = freeDisk(ctx, 10, nil)
		aws.Add(proxy.Rule{Action: "ModifyVolume", Do: proxy.Fail(http.StatusBadRequest, code, "not now")})
		Expect(fail(ctx, director(), notSupported, "update_disk", disk, 20<<10, map[string]any{}).Message).To(ContainSubstring(code))
	}, modificationRefusals)

	It("answers DiskNotFound for an unknown disk", func(ctx SpecContext) {
		fail(ctx, director(), diskNotFound, "update_disk", noDisk, 20<<10, map[string]any{})
	})
})
