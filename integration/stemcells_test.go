package integration_test

import (
	"context"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/emulator"
	"bosh-aws-cpi/integration/proxy"
)

// light are create_stemcell's arguments for a light stemcell with these AMIs,
// by region, and more properties.
func light(ami map[string]string, more map[string]any) []any {
	properties := map[string]any{"name": "bosh-aws-xen-hvm-ubuntu-jammy-go_agent", "version": "1.500", "ami": ami}
	for key, value := range more {
		properties[key] = value
	}
	return []any{"/unused/image", properties}
}

// here is the account's AMI for the account's region.
func here() map[string]string { return map[string]string{account.Region: account.Image} }

var _ = Describe("create_stemcell", func() {
	Context("light", func() {
		It("returns the region's AMI, and asks for deprecated ones, too", func(ctx SpecContext) {
			stemcell := succeed(ctx, director(), "create_stemcell", light(map[string]string{account.Region: account.Image, "eu-west-1": emulator.ImageARM}, nil)...)
			Expect(stemcell.Text()).To(Equal(account.Image + " light"))
			Expect(aws.Calls()).To(HaveLen(1))
			Expect(only("DescribeImages")).To(haveParam("IncludeDeprecated", "true"))
			Expect(only("DescribeImages")).To(haveParam("Filter.1.Name", "image-id"))
			Expect(only("DescribeImages").List("Filter.1.Value")).To(Equal([]string{account.Image}))
		})

		It("finds the AMI among those of other regions by its id", func(ctx SpecContext) {
			elsewhere := map[string]string{"eu-west-1": "ami-0123456789abcdef0", "eu-west-2": account.Image}
			Expect(succeed(ctx, director(), "create_stemcell", light(elsewhere, nil)...).Text()).To(Equal(account.Image + " light"))
			Expect(only("DescribeImages").List("Filter.1.Value")).To(ConsistOf("ami-0123456789abcdef0", account.Image))
		})

		It("names the regions there are when it finds none", func(ctx SpecContext) {
			elsewhere := map[string]string{"eu-west-1": "ami-0123456789abcdef0", "ap-south-1": "ami-0123456789abcdef1"}
			refused := fail(ctx, director(), cloudError, "create_stemcell", light(elsewhere, nil)...)
			Expect(refused.Message).To(And(ContainSubstring(account.Region), ContainSubstring("ap-south-1, eu-west-1")))
		})

		It("needs no copy for the configuration's encryption, which the launch applies", func(ctx SpecContext) {
			config.AWS = map[string]any{"encrypted": true}
			Expect(succeed(ctx, director(), "create_stemcell", light(here(), nil)...).Text()).To(Equal(account.Image + " light"))
			Expect(aws.Actions()).To(Equal([]string{"DescribeImages"}))
		})

		It("is tagged in version 3 as the env says", func(ctx SpecContext) {
			cpi := director()
			cpi.APIVersion = 3
			succeed(ctx, cpi, "create_stemcell", append(light(here(), map[string]any{"tags": map[string]any{"a": "properties", "b": "properties"}}), map[string]any{"tags": map[string]any{"a": "env", "c": "env"}})...)
			Expect(aws.Actions()).To(Equal([]string{"DescribeImages", "CreateTags"}))
			Expect(only("CreateTags").List("ResourceId")).To(Equal([]string{account.Image}))
			Expect(tagsSent(only("CreateTags"))).To(And(HaveLen(3), HaveKeyWithValue("b", "properties"), HaveKeyWithValue("c", "env")))
		})

		It("takes an env without tags, or none at all, in version 3", func(ctx SpecContext) {
			cpi := director()
			cpi.APIVersion = 3
			for _, env := range [][]any{{map[string]any{"tags": map[string]any{}}}, {map[string]any{}}, {nil}, {}} {
				succeed(ctx, cpi, "create_stemcell", append(light(here(), nil), env...)...)
			}
			Expect(aws.Calls().Of("CreateTags")).To(BeEmpty())
		})

		It("takes no env in version 2", func(ctx SpecContext) {
			refused := fail(ctx, director(), "InvalidCall", "create_stemcell", append(light(here(), nil), map[string]any{})...)
			Expect(refused.Message).To(HavePrefix("create_stemcell"))
			Expect(aws.Calls()).To(BeEmpty())
		})
	})

	Context("encrypted", func() {
		encrypted := func(ctx context.Context, more map[string]any) string {
			GinkgoHelper()
			more["encrypted"] = true
			return succeed(ctx, director(), "create_stemcell", light(here(), more)...).Text()
		}

		It("copies the AMI, waits for the copy, and deletes it with its snapshots", func(ctx SpecContext) {
			aws.SetDelays(proxy.Delays{ImageAvailable: soon})
			stemcell := encrypted(ctx, map[string]any{"kms_key_arn": "arn:own", "tags": map[string]any{"team": "platform"}})
			Expect(stemcell).To(And(HavePrefix("ami-"), Not(Equal(account.Image)), Not(ContainSubstring(" "))))

			call := only("CopyImage")
			for name, value := range map[string]string{
				"SourceImageId": account.Image, "SourceRegion": account.Region, "Encrypted": "true", "KmsKeyId": "arn:own",
			} {
				Expect(call).To(haveParam(name, value))
			}
			Expect(call.Param("ClientToken")).NotTo(BeEmpty())
			Expect(call.Param("Name")).NotTo(BeEmpty())
			for _, kind := range []string{"image", "snapshot"} {
				Expect(call.Tags(kind)).To(Equal(map[string]string{
					"team": "platform", "bosh-director": driver.DefaultDirector, "bosh-request-id": "cpi-4711",
				}), kind)
			}
			polls := aws.Calls().Of("DescribeImages")
			last := polls[len(polls)-1]
			Expect(last.Start.Add(last.Duration)).To(BeTemporally(">=", call.Start.Add(soon)))

			aws.Clear()
			succeed(ctx, director(), "delete_stemcell", stemcell)
			Expect(aws.Actions()).To(And(HaveLen(4), ConsistOf("DescribeImages", "DescribeSnapshots", "DeregisterImage", "DeleteSnapshot")))
			Expect(aws.Actions()[2:]).To(Equal([]string{"DeregisterImage", "DeleteSnapshot"}))
			expectNothingLeft(ctx)
		})

		It("takes the configuration's key, or the account's own", func(ctx SpecContext) {
			encrypted(ctx, map[string]any{})
			expectWithout(only("CopyImage"), "KmsKeyId")
			aws.Clear()
			config.AWS = map[string]any{"kms_key_arn": "arn:global"}
			encrypted(ctx, map[string]any{})
			Expect(only("CopyImage")).To(haveParam("KmsKeyId", "arn:global"))
		})

		It("makes VMs as any stemcell does", func(ctx SpecContext) {
			arguments := vmArguments(nil, nil, nil, nil)
			arguments[1] = encrypted(ctx, map[string]any{})
			succeed(ctx, director(), "create_vm", arguments...)
			Expect(launch()).To(haveParam("ImageId", arguments[1].(string)))
		})

		It("removes a copy that failed, and tells AWS's reason", func(ctx SpecContext) {
			failed := func(call proxy.Call) bool { return call.Param("Filter.1.Value.1") != account.Image }
			aws.Add(proxy.Rule{Action: "DescribeImages", When: failed, Do: proxy.ShowImage("failed", "Client.InternalError", "no access to the key")})
			refused := fail(ctx, director(), cloudError, "create_stemcell", light(here(), map[string]any{"encrypted": true})...)
			Expect(refused.Message).To(And(ContainSubstring("failed"), ContainSubstring("no access to the key")))
			Expect(aws.Calls().Of("DescribeImages")).To(HaveLen(3), "the source, the copy, and what there is to undo")
			expectNothingLeft(ctx)
		})
	})

	It("asks AWS for nothing when a heavy stemcell's image is not there", func(ctx SpecContext) {
		refused := fail(ctx, director(), cloudError, "create_stemcell", "/nowhere/image", map[string]any{"name": "bosh", "version": "1", "disk": 3072})
		Expect(refused.Message).To(ContainSubstring("/nowhere/image"))
		Expect(aws.Calls()).To(BeEmpty())
	})
})

var _ = Describe("delete_stemcell", func() {
	var stemcell, snapshot string
	heavy := func(ctx SpecContext) {
		stemcell = succeed(ctx, director(), "create_stemcell", light(here(), map[string]any{"encrypted": true})...).Text()
		described, err := describe(ctx, "DescribeImages", "ImageId.1", stemcell)
		Expect(err).NotTo(HaveOccurred())
		snapshot = described.Value("imagesSet/item/blockDeviceMapping/item/ebs/snapshotId")
		Expect(snapshot).To(HavePrefix("snap-"))
		aws.Clear()
	}

	It("leaves a light stemcell alone", func(ctx SpecContext) {
		succeed(ctx, director(), "delete_stemcell", account.Image+" light")
		Expect(aws.Calls()).To(BeEmpty())
	})

	It("finds a snapshot again that it could not delete at first", func(ctx SpecContext) {
		heavy(ctx)
		aws.Add(proxy.Rule{Action: "DeleteSnapshot", Times: 1, Do: proxy.Fail(http.StatusBadRequest, "InvalidSnapshot.InUse", "in use by ami-1")})
		refused := fail(ctx, director(), cloudError, "delete_stemcell", stemcell)
		Expect(refused.Message).To(And(ContainSubstring(stemcell), ContainSubstring(snapshot), ContainSubstring("in use by ami-1")))

		aws.Clear()
		succeed(ctx, director(), "delete_stemcell", stemcell)
		Expect(only("DeleteSnapshot")).To(haveParam("SnapshotId", snapshot))
		expectNothingLeft(ctx)
	})

	It("deletes nothing when the AMI cannot be deregistered", func(ctx SpecContext) {
		heavy(ctx)
		aws.Add(proxy.Rule{Action: "DeregisterImage", Times: 1, Do: proxy.Fail(http.StatusForbidden, "UnauthorizedOperation", "no")})
		Expect(fail(ctx, director(), cloudError, "delete_stemcell", stemcell).Message).To(And(ContainSubstring(stemcell), ContainSubstring("IAM policy")))
		Expect(aws.Calls().Of("DeleteSnapshot")).To(BeEmpty())
		succeed(ctx, director(), "delete_stemcell", stemcell)
		expectNothingLeft(ctx)
	})

	It("succeeds for a stemcell that is gone", func(ctx SpecContext) {
		heavy(ctx)
		succeed(ctx, director(), "delete_stemcell", stemcell)
		succeed(ctx, director(), "delete_stemcell", stemcell)
		succeed(ctx, director(), "delete_stemcell", "ami-0123456789abcdef0")
		expectNothingLeft(ctx)
	})

	It("succeeds when someone else deregisters the AMI in between", func(ctx SpecContext) {
		heavy(ctx)
		aws.Add(proxy.Rule{Action: "DeregisterImage", Times: 1, Do: proxy.Before(func(proxy.Call) {
			_, err := describe(ctx, "DeregisterImage", "ImageId", stemcell)
			Expect(err).NotTo(HaveOccurred())
		})})
		succeed(ctx, director(), "delete_stemcell", stemcell)
		expectNothingLeft(ctx)
	})
})
