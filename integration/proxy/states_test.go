package proxy_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/proxy"
)

const (
	late   = 150 * time.Millisecond // long enough to look twice meanwhile
	faster = 10 * time.Millisecond
)

var _ = Describe("states", func() {
	var w *world

	BeforeEach(func(ctx SpecContext) { w = newWorld(ctx) })

	It("says that things are going on in replies and that they are done at the next look", func(ctx SpecContext) {
		run := w.ec2(ctx, "RunInstances", w.launch()...)
		vm := run.Value("instancesSet/item/instanceId")
		Expect(run.Value("instancesSet/item/instanceState/name")).To(Equal("pending"))
		Expect(run.All("instancesSet/item/blockDeviceMapping/item")).To(BeEmpty())
		Expect(w.state(ctx, vm)).To(Equal("running"))

		created := w.ec2(ctx, "CreateVolume", "Size", "1", "AvailabilityZone", w.account.Subnets[0].Zone)
		disk := created.Value("volumeId")
		Expect(created.Value("status")).To(Equal("creating"))
		Expect(w.state(ctx, disk)).To(Equal("available"))

		Expect(w.ec2(ctx, "AttachVolume", "VolumeId", disk, "InstanceId", vm, "Device", "/dev/sdf").Value("status")).To(Equal("attaching"))
		Expect(w.attachment(ctx, disk)).To(Equal("attached"))
		Expect(w.ec2(ctx, "DetachVolume", "VolumeId", disk).Value("status")).To(Equal("detaching"))
		Expect(w.attachment(ctx, disk)).To(BeEmpty())

		ended := w.ec2(ctx, "TerminateInstances", "InstanceId.1", vm)
		Expect(ended.Value("instancesSet/item/currentState/name")).To(Equal("shutting-down"))
		Expect(ended.Value("instancesSet/item/previousState/name")).To(Equal("running"))
		Expect(w.state(ctx, vm)).To(Equal("terminated"))
		w.ec2(ctx, "DeleteVolume", "VolumeId", disk)
		Expect(w.left(ctx)).To(BeEmpty())
	})

	It("shows an instance late, at both ends of its life", func(ctx SpecContext) {
		w.proxy.SetDelays(proxy.Delays{InstanceRunning: late, InstanceTerminated: late})
		vm := w.run(ctx)
		Expect(w.state(ctx, vm)).To(Equal("pending"))
		Consistently(w.state).WithContext(ctx).WithArguments(vm).WithTimeout(late / 2).WithPolling(faster).Should(Equal("pending"))
		Eventually(w.state).WithContext(ctx).WithArguments(vm).WithPolling(faster).Should(Equal("running"))

		w.ec2(ctx, "TerminateInstances", "InstanceId.1", vm)
		Expect(w.state(ctx, vm)).To(Equal("shutting-down"))
		Expect(w.left(ctx)).To(ContainElement("+ instance " + vm))
		Eventually(w.state).WithContext(ctx).WithArguments(vm).WithPolling(faster).Should(Equal("terminated"))
		Expect(w.left(ctx)).To(BeEmpty())
	})

	It("shows volumes and attachments late, at both ends of their lives", func(ctx SpecContext) {
		vm := w.run(ctx)
		w.proxy.SetDelays(proxy.Delays{VolumeAvailable: late, VolumeAttached: late, VolumeDetached: late, VolumeDeleted: late})
		disk := w.volume(ctx)
		Expect(w.state(ctx, disk)).To(Equal("creating"))
		Expect(w.refused(ctx, "AttachVolume", "VolumeId", disk, "InstanceId", vm, "Device", "/dev/sdf")).To(Equal("IncorrectState"))
		Eventually(w.state).WithContext(ctx).WithArguments(disk).WithPolling(faster).Should(Equal("available"))

		w.ec2(ctx, "AttachVolume", "VolumeId", disk, "InstanceId", vm, "Device", "/dev/sdf")
		Expect(w.attachment(ctx, disk)).To(Equal("attaching"))
		Eventually(w.attachment).WithContext(ctx).WithArguments(disk).WithPolling(faster).Should(Equal("attached"))

		w.ec2(ctx, "DetachVolume", "VolumeId", disk)
		Expect(w.attachment(ctx, disk)).To(Equal("detaching"))
		Expect(w.refused(ctx, "DeleteVolume", "VolumeId", disk)).To(Equal("VolumeInUse"))
		Eventually(w.attachment).WithContext(ctx).WithArguments(disk).WithPolling(faster).Should(BeEmpty())

		w.ec2(ctx, "DeleteVolume", "VolumeId", disk)
		Expect(w.state(ctx, disk)).To(Equal("deleting"))
		Eventually(func() []string { return w.inventory(ctx) }).WithPolling(faster).ShouldNot(ContainElement("volume " + disk))
		Expect(w.refused(ctx, "DescribeVolumes", "VolumeId.1", disk)).To(Equal("InvalidVolume.NotFound"))
	})

	It("lets a dying instance hold its address until it is dead", func(ctx SpecContext) {
		address := []string{"NetworkInterface.1.PrivateIpAddress", w.account.Subnets[0].IP(10)}
		vm := w.run(ctx, address...)
		w.proxy.SetDelays(proxy.Delays{InstanceTerminated: time.Hour})
		w.ec2(ctx, "TerminateInstances", "InstanceId.1", vm)
		Expect(w.refused(ctx, "RunInstances", w.launch(address...)...)).To(Equal("InvalidIPAddress.InUse"))
		w.proxy.Settle()
		Expect(w.state(ctx, vm)).To(Equal("terminated"))
		w.run(ctx, address...)
	})

	It("forgets what was to go when it is reset", func(ctx SpecContext) {
		vm := w.run(ctx)
		w.proxy.SetDelays(proxy.Delays{InstanceTerminated: late})
		w.ec2(ctx, "TerminateInstances", "InstanceId.1", vm)
		w.proxy.Reset()
		Consistently(w.state).WithContext(ctx).WithArguments(vm).WithTimeout(2 * late).WithPolling(late / 2).Should(Equal("running"))
	})
})
