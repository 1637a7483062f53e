package heavy_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/heavyimage"
	"bosh-aws-cpi/integration/proxy"
)

var _ = Describe("create_stemcell of an image", func() {
	create := func(ctx SpecContext, path string, more map[string]any) (id string, calls proxy.Log) {
		GinkgoHelper()
		outcome := director().Call(ctx, "create_stemcell", path, properties(more), map[string]any{"tags": map[string]any{"team": "platform"}})
		Expect(outcome.Err()).NotTo(HaveOccurred(), "%s", outcome.Stderr)
		return outcome.Text(), aws.Calls()
	}
	write := func(spec heavyimage.Spec) string {
		GinkgoHelper()
		path := filepath.Join(scratch, "image")
		Expect(spec.Write(path)).To(Succeed())
		DeferCleanup(os.Remove, path)
		return path
	}

	It("uploads 2 GiB, block by block, and registers what it uploaded", func(ctx SpecContext) {
		spec := heavyimage.Spec{Bytes: 2 << 30}
		id, calls := create(ctx, write(spec), nil)
		Expect(id).To(HavePrefix("ami-"))
		Expect(id).NotTo(ContainSubstring("light"))
		snapshot := calls.Of("RegisterImage")[0].Param("BlockDeviceMapping.1.Ebs.SnapshotId")
		expectBlocks(ctx, snapshot, spec)
		Expect(calls.Of("PutSnapshotBlock")).To(HaveLen(spec.DataBlocks()))

		By("registering it as its properties say")
		register := calls.Of("RegisterImage")[0]
		fmt.Printf("\nRegisterImage: %v\n", register.Params)
		for name, value := range map[string]string{
			"Architecture": "x86_64", "BootMode": "legacy-bios", "VirtualizationType": "hvm", "EnaSupport": "true", "SriovNetSupport": "simple",
			"RootDeviceName": "/dev/sda1", "BlockDeviceMapping.1.DeviceName": "/dev/sda1", "BlockDeviceMapping.1.Ebs.VolumeType": "gp3",
			"BlockDeviceMapping.1.Ebs.DeleteOnTermination": "true", "Description": "bosh-aws-xen-hvm-ubuntu-jammy-go_agent 1.500",
		} {
			Expect(register.Param(name)).To(Equal(value), name)
		}
		Expect(register.Params).NotTo(HaveKey("BlockDeviceMapping.1.Ebs.Encrypted"))
		Expect(register.Tags("image")).To(SatisfyAll(HaveKeyWithValue("team", "platform"), HaveKeyWithValue("bosh-request-id", "cpi-4711")))

		By("starting the snapshot so that nothing is left of it for long")
		start := calls.Of("StartSnapshot")[0].JSON
		Expect(start).To(SatisfyAll(HaveKeyWithValue("VolumeSize", 2.0), HaveKey("Timeout"), HaveKey("ClientToken"), Not(HaveKey("Encrypted"))))
		Expect(start["Tags"]).To(ContainElement(map[string]any{"Key": "team", "Value": "platform"}))
		Expect(calls.Of("CreateTags")[0].List("ResourceId")).To(Equal([]string{snapshot}))

		By("deleting all of it again")
		Expect(director().Call(ctx, "delete_stemcell", id).Err()).NotTo(HaveOccurred())
		expectNothingLeft(ctx)
	})

	It("pads an image of an odd size, and takes one that is not gzipped", func(ctx SpecContext) {
		spec := heavyimage.Spec{Bytes: 3*heavyimage.BlockBytes + 1000}
		path := filepath.Join(scratch, "plain")
		Expect(writeTar(path, "./root.img", contentOf(spec))).To(Succeed())
		_, calls := create(ctx, path, nil)
		expectBlocks(ctx, calls.Of("RegisterImage")[0].Param("BlockDeviceMapping.1.Ebs.SnapshotId"), spec)
	})

	It("makes the snapshot as large as the stemcell's disk, encrypted with its key", func(ctx SpecContext) {
		config.AWS = map[string]any{"encrypted": true, "kms_key_arn": "arn:aws:kms:us-east-1:123456789012:key/global"}
		_, calls := create(ctx, write(heavyimage.Spec{Bytes: 1 << 20}), map[string]any{"disk": 5000, "kms_key_arn": "arn:aws:kms:us-east-1:123456789012:key/own"})
		Expect(calls.Of("StartSnapshot")[0].JSON).To(SatisfyAll(HaveKeyWithValue("VolumeSize", 5.0), HaveKeyWithValue("Encrypted", true),
			HaveKeyWithValue("KmsKeyArn", "arn:aws:kms:us-east-1:123456789012:key/own")))
	})

	DescribeTable("boots as it must",
		func(ctx SpecContext, more map[string]any, architecture, mode, root string) {
			_, calls := create(ctx, write(heavyimage.Spec{Bytes: 1 << 20}), more)
			register := calls.Of("RegisterImage")[0]
			Expect(register.Param("Architecture")).To(Equal(architecture))
			Expect(register.Param("BootMode")).To(Equal(mode))
			Expect(register.Param("RootDeviceName")).To(Equal(root))
		},
		Entry("arm64", map[string]any{"architecture": "arm64"}, "arm64", "uefi", "/dev/sda1"),
		Entry("what it says itself", map[string]any{"boot_mode": "uefi-preferred", "root_device_name": nil}, "x86_64", "uefi-preferred", "/dev/xvda"),
	)
})

// expectBlocks reads every block of a snapshot back and holds it against the
// image.
func expectBlocks(ctx SpecContext, snapshot string, spec heavyimage.Spec) {
	GinkgoHelper()
	stored := storedBlocks(ctx, snapshot)
	Expect(stored).To(HaveLen(spec.DataBlocks()))
	block := make([]byte, heavyimage.BlockBytes)
	for index := range spec.Blocks() {
		if !spec.HasData(index) {
			Expect(stored).NotTo(HaveKey(int32(index)))
			continue
		}
		spec.Fill(index, block)
		Expect(stored[int32(index)] == sha256.Sum256(block)).To(BeTrue(), "block %d", index)
	}
}
