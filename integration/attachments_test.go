package integration_test

import (
	"context"
	"net/http"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/emulator/query"
	"bosh-aws-cpi/integration/proxy"
)

const notAttached = "Bosh::Clouds::DiskNotAttached"

// byID is the path under which udev shows a volume on a Nitro instance.
func byID(disk string) string {
	return "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_" + strings.Replace(disk, "-", "", 1)
}

// asType has AWS say that all instances are of this type.
func asType(name string) proxy.Rule {
	return proxy.Rule{Action: "DescribeInstances", Do: proxy.Rewrite(func(_ proxy.Call, root *query.Node) {
		for _, item := range root.All("reservationSet/item/instancesSet/item") {
			item.Set("instanceType", name)
		}
	})}
}

// holding expects an attachment in the emulator and returns its device.
func holding(ctx context.Context, vm, disk string) (device string) {
	GinkgoHelper()
	Expect(volume(ctx, disk).Value("attachmentSet/item/instanceId")).To(Equal(vm))
	return volume(ctx, disk).Value("attachmentSet/item/device")
}

// haveSettings puts an agent's settings into the registry.
func haveSettings(ctx context.Context, vm, settings string) {
	GinkgoHelper()
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, registry.URL+"/instances/"+vm+"/settings", strings.NewReader(settings))
	Expect(err).NotTo(HaveOccurred())
	request.SetBasicAuth(registryUser, registryPassword)
	answer, err := http.DefaultClient.Do(request)
	Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	Expect(answer.StatusCode).To(Equal(http.StatusOK))
}

var _ = Describe("attach_disk", func() {
	attach := func(ctx context.Context, vm, disk string) string {
		GinkgoHelper()
		return succeed(ctx, director(), "attach_disk", vm, disk).Text()
	}
	var vm, disk string
	BeforeEach(func(ctx SpecContext) {
		vm, disk = createVM(ctx, director(), nil, nil), freeDisk(ctx, 10, nil)
		aws.Clear()
	})

	Describe("the hint", func() {
		DescribeTable("depends on the VM's type",
			func(ctx SpecContext, kind string, hint func(disk string) string) {
				aws.Add(asType(kind))
				Expect(attach(ctx, vm, disk)).To(Equal(hint(disk)))
				Expect(aws.Actions()).To(Equal([]string{"DescribeInstances", "AttachVolume", "DescribeVolumes"}))
				Expect(only("AttachVolume")).To(haveParam("Device", "/dev/sdf"))
			},
			Entry("m5.large", "m5.large", byID), Entry("t3.micro", "t3.micro", byID),
			Entry("t2.micro", "t2.micro", func(string) string { return "/dev/sdf" }),
			Entry("m4.large", "m4.large", func(string) string { return "/dev/sdf" }),
			Entry("i3.large, whose EBS is no NVMe", "i3.large", func(string) string { return "/dev/sdf" }),
		)

		It("is not for version 1", func(ctx SpecContext) {
			withRegistry()
			haveSettings(ctx, vm, `{"disks":{}}`)
			cpi := director()
			cpi.APIVersion = 1
			Expect(succeed(ctx, cpi, "attach_disk", vm, disk).Response.Result).To(MatchJSON(`null`))
		})

		It("is the same when the disk is attached already, and nothing is attached again", func(ctx SpecContext) {
			first := attach(ctx, vm, disk)
			aws.Clear()
			Expect(attach(ctx, vm, disk)).To(Equal(first))
			Expect(aws.Calls().Of("AttachVolume")).To(BeEmpty())
		})

		Context("of a type that is not compiled in", func() {
			const unknown = "z99.large"
			BeforeEach(func() { aws.Add(asType(unknown)) })

			It("is asked of AWS", func(ctx SpecContext) {
				aws.Add(proxy.Rule{Action: "DescribeInstanceTypes", Do: proxy.Reply(http.StatusOK, "text/xml", `<DescribeInstanceTypesResponse><instanceTypeSet><item>`+
					`<instanceType>z99.large</instanceType><ebsInfo><nvmeSupport>unsupported</nvmeSupport></ebsInfo></item></instanceTypeSet></DescribeInstanceTypesResponse>`)})
				Expect(attach(ctx, vm, disk)).To(Equal("/dev/sdf"))
				Expect(only("DescribeInstanceTypes").List("InstanceType")).To(Equal([]string{unknown}))
				Expect(aws.Calls()).To(HaveLen(4))
			})

			It("is that of the newest types without the permission to ask", func(ctx SpecContext) {
				aws.Add(proxy.Rule{Action: "DescribeInstanceTypes", Do: proxy.Fail(http.StatusForbidden, "UnauthorizedOperation", "no")})
				Expect(attach(ctx, vm, disk)).To(Equal(byID(disk)))
			})

			It("is that of the newest types when asking is forbidden, and nobody is asked", func(ctx SpecContext) {
				config.AWS = map[string]any{"enable_describe_instance_types": false}
				Expect(attach(ctx, vm, disk)).To(Equal(byID(disk)))
				Expect(aws.Calls().Of("DescribeInstanceTypes")).To(BeEmpty())
			})
		})
	})

	It("waits until the disk is attached", func(ctx SpecContext) {
		aws.SetDelays(proxy.Delays{VolumeAttached: soon})
		attach(ctx, vm, disk)
		polls := aws.Calls().Of("DescribeVolumes")
		Expect(polls[len(polls)-1].Start).To(BeTemporally(">=", only("AttachVolume").Start.Add(soon)))
	})

	It("takes the first device name that the VM does not have", func(ctx SpecContext) {
		for _, device := range []string{"/dev/sdf", "/dev/xvdg", "/dev/sdi"} {
			someoneElse(ctx, "AttachVolume", "InstanceId", vm, "VolumeId", freeDisk(ctx, 10, nil), "Device", device)
		}
		attach(ctx, vm, disk)
		Expect(holding(ctx, vm, disk)).To(Equal("/dev/sdh"))
		another := freeDisk(ctx, 10, nil)
		attach(ctx, vm, another)
		Expect(holding(ctx, vm, another)).To(Equal("/dev/sdj"))
	})

	It("says so when all names are taken", func(ctx SpecContext) {
		aws.Add(proxy.Rule{Action: "DescribeInstances", Do: proxy.Rewrite(func(_ proxy.Call, root *query.Node) {
			mappings := root.All("reservationSet/item/instancesSet/item/blockDeviceMapping")[0]
			for letter := 'f'; letter <= 'p'; letter++ {
				mappings.Append(query.List("item", query.New("deviceName", "/dev/sd"+string(letter)), query.List("ebs", query.New("volumeId", noDisk))))
			}
		})})
		refused := fail(ctx, director(), cloudError, "attach_disk", vm, disk)
		Expect(refused.Message).To(And(ContainSubstring(vm), ContainSubstring("/dev/sdf to /dev/sdp")))
	})

	It("finds different names for two at once", func(ctx SpecContext) {
		disks := []string{disk, freeDisk(ctx, 10, nil)}
		var together sync.WaitGroup
		together.Add(len(disks))
		aws.Add(proxy.Rule{Action: "DescribeInstances", Times: len(disks), Do: proxy.After(func(proxy.Call) {
			together.Done()
			together.Wait() // both see the same devices
		})})
		var calls sync.WaitGroup
		for _, one := range disks {
			calls.Go(func() {
				defer GinkgoRecover()
				Expect(attach(ctx, vm, one)).To(Equal(byID(one)))
			})
		}
		calls.Wait()
		devices := []string{holding(ctx, vm, disks[0]), holding(ctx, vm, disks[1])}
		Expect(devices).To(ConsistOf("/dev/sdf", "/dev/sdg"))
	}, SpecTimeout(patience))

	It("names the VM that has the disk", func(ctx SpecContext) {
		holder := createVM(ctx, director(), nil, driver.Object("default", manual(account.Subnets[0], "10.0.0.11", nil)))
		attach(ctx, holder, disk)
		succeed(ctx, director(), "set_vm_metadata", holder, map[string]any{"name": "db/0", "deployment": "cf"})
		refused := fail(ctx, director(), cloudError, "attach_disk", vm, disk)
		Expect(refused.Message).To(And(ContainSubstring(disk), ContainSubstring(holder), ContainSubstring("db/0"), ContainSubstring("cf")))
		holding(ctx, holder, disk)
	})

	It("waits for a VM that is being terminated to give the disk up", func(ctx SpecContext) {
		holder := createVM(ctx, director(), nil, driver.Object("default", manual(account.Subnets[0], "10.0.0.11", nil)))
		attach(ctx, holder, disk)
		aws.SetDelays(proxy.Delays{InstanceTerminated: soon})
		someoneElse(ctx, "TerminateInstances", "InstanceId.1", holder)
		Expect(attach(ctx, vm, disk)).To(Equal(byID(disk)))
		holding(ctx, vm, disk)
	})

	It("waits for a detachment", func(ctx SpecContext) {
		attach(ctx, vm, disk)
		aws.SetDelays(proxy.Delays{VolumeDetached: soon})
		someoneElse(ctx, "DetachVolume", "InstanceId", vm, "VolumeId", disk)
		Expect(attach(ctx, vm, disk)).To(Equal(byID(disk)))
		holding(ctx, vm, disk)
	})

	It("answers VMNotFound for a VM that is unknown or terminated", func(ctx SpecContext) {
		Expect(fail(ctx, director(), vmNotFound, "attach_disk", noVM, disk).Message).To(ContainSubstring(noVM))
		succeed(ctx, director(), "delete_vm", vm)
		Expect(fail(ctx, director(), vmNotFound, "attach_disk", vm, disk).Message).To(ContainSubstring(vm))
	})

	It("answers DiskNotFound for an unknown disk", func(ctx SpecContext) {
		Expect(fail(ctx, director(), diskNotFound, "attach_disk", vm, noDisk).Message).To(ContainSubstring(noDisk))
	})

	It("takes the disk off again when the registry cannot be told", func(ctx SpecContext) {
		withRegistry()
		cpi := director()
		cpi.StemcellAPIVersion = 1
		refused := fail(ctx, cpi, cloudError, "attach_disk", vm, disk) // the registry knows no such VM
		Expect(refused.Message).To(ContainSubstring("registry"))
		Expect(volume(ctx, disk).Value("status")).To(Equal("available"))
	})

	It("is refused before anything changes when a registry is needed and none configured", func(ctx SpecContext) {
		cpi := director()
		cpi.StemcellAPIVersion = 1
		for _, method := range []string{"attach_disk", "detach_disk"} {
			Expect(fail(ctx, cpi, cpiError, method, vm, disk).Message).To(ContainSubstring("registry.endpoint"))
		}
		Expect(aws.Calls()).To(BeEmpty())
	})
})

var _ = Describe("detach_disk", func() {
	It("detaches the disk and waits until it is free", func(ctx SpecContext) {
		vm, disk := attachedDisk(ctx, 10)
		aws.Clear()
		aws.SetDelays(proxy.Delays{VolumeDetached: soon})
		succeed(ctx, director(), "detach_disk", vm, disk)
		Expect(volume(ctx, disk).Value("status")).To(Equal("available"))
		Expect(only("DetachVolume")).To(haveParam("InstanceId", vm))
		Expect(only("DetachVolume")).To(haveParam("VolumeId", disk))
	})

	It("waits for a detachment that has begun", func(ctx SpecContext) {
		vm, disk := attachedDisk(ctx, 10)
		// Not over before detach_disk has begun, on a busy machine either.
		aws.SetDelays(proxy.Delays{VolumeDetached: 10 * soon})
		someoneElse(ctx, "DetachVolume", "InstanceId", vm, "VolumeId", disk)
		succeed(ctx, director(), "detach_disk", vm, disk)
		Expect(volume(ctx, disk).Value("status")).To(Equal("available"))
	})

	It("succeeds for an unknown disk", func(ctx SpecContext) {
		vm := createVM(ctx, director(), nil, nil)
		succeed(ctx, director(), "detach_disk", vm, noDisk)
	})

	It("succeeds for a free disk and a VM that is unknown or terminated", func(ctx SpecContext) {
		vm, disk := createVM(ctx, director(), nil, nil), freeDisk(ctx, 10, nil)
		succeed(ctx, director(), "delete_vm", vm)
		succeed(ctx, director(), "detach_disk", vm, disk)
		succeed(ctx, director(), "detach_disk", noVM, disk)
	})

	It("answers DiskNotAttached for a free disk and a VM that is known", func(ctx SpecContext) {
		vm, disk := createVM(ctx, director(), nil, nil), freeDisk(ctx, 10, nil)
		refused := fail(ctx, director(), notAttached, "detach_disk", vm, disk)
		Expect(refused.OKToRetry).To(BeTrue())
		Expect(refused.Message).To(And(ContainSubstring(vm), ContainSubstring(disk)))
	})

	DescribeTable("answers DiskNotAttached for a disk that is attached elsewhere, and leaves it there",
		func(ctx SpecContext, asked func(SpecContext) string) {
			holder, disk := attachedDisk(ctx, 11)
			refused := fail(ctx, director(), notAttached, "detach_disk", asked(ctx), disk)
			Expect(refused.OKToRetry).To(BeTrue())
			Expect(refused.Message).To(And(ContainSubstring(disk), ContainSubstring(holder)))
			holding(ctx, holder, disk)
		},
		Entry("the VM is known", func(ctx SpecContext) string { return createVM(ctx, director(), nil, nil) }),
		Entry("the VM is unknown", func(SpecContext) string { return noVM }),
	)

	It("forgets the disk in the registry whenever it is detached", func(ctx SpecContext) {
		vm, disk := attachedDisk(ctx, 10)
		withRegistry()
		cpi := director()
		cpi.StemcellAPIVersion = 1
		for range 2 { // the second time it is free already, and the VM is gone
			haveSettings(ctx, vm, `{"disks":{"persistent":{"`+disk+`":"/dev/sdf","vol-2":"/dev/sdg"}}}`)
			succeed(ctx, cpi, "detach_disk", vm, disk)
			Expect(registry.Content()[vm]).To(MatchJSON(`{"disks":{"persistent":{"vol-2":"/dev/sdg"}}}`))
			someoneElse(ctx, "TerminateInstances", "InstanceId.1", vm)
		}
	})
})
