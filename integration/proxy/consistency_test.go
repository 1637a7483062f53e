package proxy_test

import (
	"errors"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/emulator/query"
	"bosh-aws-cpi/integration/proxy"
)

var _ = Describe("client tokens", func() {
	var w *world

	BeforeEach(func(ctx SpecContext) { w = newWorld(ctx) })

	It("make one instance of two launches, however close together", func(ctx SpecContext) {
		ids := make([]string, 4)
		var all sync.WaitGroup
		for i := range ids {
			all.Go(func() {
				defer GinkgoRecover()
				ids[i] = w.run(ctx, "ClientToken", "t-1")
			})
		}
		all.Wait()
		Expect(ids).To(HaveEach(ids[0]))
		Expect(w.left(ctx)).To(ContainElement("+ instance " + ids[0]))
		Expect(w.proxy.Calls().Where(func(c proxy.Call) bool { return c.Fault == "replayed" })).To(HaveLen(3))
		Expect(w.run(ctx, "ClientToken", "t-2")).NotTo(Equal(ids[0]))
	})

	It("are refused with other parameters", func(ctx SpecContext) {
		w.run(ctx, "ClientToken", "t-1")
		Expect(w.refused(ctx, "RunInstances", w.launch("ClientToken", "t-1", "InstanceType", "t3.small")...)).To(Equal("IdempotentParameterMismatch"))
	})

	It("are free again after a failure", func(ctx SpecContext) {
		Expect(w.refused(ctx, "RunInstances", w.launch("ClientToken", "t-1", "InstanceType", "x9.none")...)).To(HavePrefix("InvalidInstanceType"))
		w.run(ctx, "ClientToken", "t-1")
	})

	It("survive a lost reply", func(ctx SpecContext) {
		w.proxy.Add(proxy.Rule{Action: "RunInstances", Times: 1, Do: proxy.DropReply()})
		_, err := w.Do(ctx, query.EC2, "RunInstances", w.launch("ClientToken", "t-1")...)
		Expect(err).To(HaveOccurred())
		vm := w.run(ctx, "ClientToken", "t-1")
		w.ec2(ctx, "TerminateInstances", "InstanceId.1", vm)
		Expect(w.left(ctx)).To(BeEmpty())
	})

	It("do not bring a dead instance back", func(ctx SpecContext) {
		vm := w.run(ctx, "ClientToken", "t-1")
		w.ec2(ctx, "TerminateInstances", "InstanceId.1", vm)
		Expect(w.refused(ctx, "RunInstances", w.launch("ClientToken", "t-1")...)).To(Equal("IdempotentInstanceTerminated"))
	})

	DescribeTable("mean something on the calls that have them only",
		func(ctx SpecContext, action string, once bool, params func() []string) {
			first := w.ec2(ctx, action, append(params(), "ClientToken", "t-1")...)
			second := w.ec2(ctx, action, append(params(), "ClientToken", "t-1")...)
			Expect(string(first.Encode()) == string(second.Encode())).To(Equal(once))
		},
		Entry(nil, "CreateVolume", true, func() []string { return []string{"Size", "1", "AvailabilityZone", "us-east-1a"} }),
		Entry(nil, "CreateNetworkInterface", true, func() []string { return []string{"SubnetId", w.account.Subnets[0].ID} }),
		Entry(nil, "CopyImage", true, func() []string {
			return []string{"SourceImageId", w.account.Image, "SourceRegion", "us-east-1", "Name", "copy"}
		}),
		Entry(nil, "CreateSecurityGroup", false, func() []string {
			return []string{"GroupName", time.Now().String(), "GroupDescription", "d", "VpcId", w.account.VPC}
		}),
	)
})

var _ = Describe("hiding", func() {
	var w *world

	BeforeEach(func(ctx SpecContext) { w = newWorld(ctx) })

	It("keeps a fresh resource unknown for its first uses", func(ctx SpecContext) {
		w.proxy.Hide(proxy.Hiding{Uses: 2, Kinds: []string{"i"}})
		vm := w.run(ctx)
		Expect(w.refused(ctx, "DescribeInstances", "InstanceId.1", vm)).To(Equal("InvalidInstanceID.NotFound"))
		Expect(w.refused(ctx, "CreateTags", "ResourceId.1", vm, "Tag.1.Key", "k", "Tag.1.Value", "v")).To(Equal("InvalidInstanceID.NotFound"))
		Expect(w.state(ctx, vm)).To(Equal("running"))
		Expect(w.proxy.Calls()[1].Fault).To(Equal("hidden"))
	})

	It("keeps it unknown for a time", func(ctx SpecContext) {
		w.proxy.Hide(proxy.Hiding{For: late})
		disk := w.volume(ctx)
		Expect(w.refused(ctx, "DescribeVolumes", "VolumeId.1", disk)).To(Equal("InvalidVolume.NotFound"))
		Eventually(func() error { _, err := w.Do(ctx, query.EC2, "DescribeVolumes", "VolumeId.1", disk); return err }).
			WithPolling(faster).Should(Succeed())
	})

	It("keeps it unknown to some calls for good", func(ctx SpecContext) {
		w.proxy.Hide(proxy.Hiding{Uses: proxy.Forever, Actions: []string{"DescribeVolumes"}})
		disk := w.volume(ctx)
		for range 3 {
			Expect(w.refused(ctx, "DescribeVolumes", "VolumeId.1", disk)).To(Equal("InvalidVolume.NotFound"))
		}
		w.ec2(ctx, "DeleteVolume", "VolumeId", disk)
	})

	It("does not touch what was there before", func(ctx SpecContext) {
		disk := w.volume(ctx)
		w.proxy.Hide(proxy.Hiding{Uses: 1})
		Expect(w.state(ctx, disk)).To(Equal("available"))
		w.run(ctx)
		w.ec2(ctx, "DescribeSubnets", "SubnetId.1", w.account.Subnets[0].ID)
	})

	It("speaks the words of each service", func(ctx SpecContext) {
		w.proxy.Hide(proxy.Hiding{Uses: 2})
		vm := w.run(ctx)
		var failure *query.Error
		_, err := w.Do(ctx, query.ELBv2, "RegisterTargets", "TargetGroupArn", w.account.TargetGroup.ARN, "Targets.member.1.Id", vm)
		Expect(errors.As(err, &failure)).To(BeTrue())
		Expect(failure.Code).To(Equal("InvalidTarget"))
		_, err = w.Do(ctx, query.ELB, "RegisterInstancesWithLoadBalancer", "LoadBalancerName", w.account.LoadBalancer, "Instances.member.1.InstanceId", vm)
		Expect(errors.As(err, &failure)).To(BeTrue())
		Expect(failure.Code).To(Equal("InvalidInstance"))
	})
})
