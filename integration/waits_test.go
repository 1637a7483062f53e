package integration_test

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/proxy"
)

// These run at the real pace: they show how soon a state is noticed. They print
// what they measure; what they assert is how far the polls lie apart, which the
// machine's speed does not change.
var _ = Describe("A state that AWS shows late", func() {
	BeforeEach(func() { config.TimeScale = 1 })

	// gap is the longest pause between two polls, from the begin of the wait on.
	gap := func(calls proxy.Log, begin, poll string) time.Duration {
		GinkgoHelper()
		begun := calls.Of(begin)
		Expect(begun).To(HaveLen(1))
		last, longest := begun[0].Start.Add(begun[0].Duration), time.Duration(0)
		for _, call := range calls.Of(poll) {
			if call.Start.Before(last) {
				continue
			}
			longest = max(longest, call.Start.Sub(last))
			last = call.Start
		}
		return longest
	}

	It("is noticed within 2 s: an instance that runs after 8 s", func(ctx SpecContext) {
		aws.SetDelays(proxy.Delays{InstanceRunning: 8 * time.Second})
		outcome := succeed(ctx, director(), "create_vm", vmArguments(nil, nil, nil, nil)...)
		fmt.Printf("\ncreate_vm, running after 8 s: returned after %.2f s (today's CPI: 16.2 s)\n", outcome.Wall.Seconds())
		Expect(gap(aws.Calls(), "RunInstances", "DescribeInstances")).To(BeNumerically("<", 2*time.Second))
	}, SpecTimeout(time.Minute))

	It("is noticed within 1.5 s: a volume that is attached after 1 s", func(ctx SpecContext) {
		vm := createVM(ctx, director(), nil, nil)
		disk := createDisk(ctx, director(), vm)
		aws.SetDelays(proxy.Delays{VolumeAttached: time.Second})
		aws.Clear()
		outcome := succeed(ctx, director(), "attach_disk", vm, disk)
		fmt.Printf("\nattach_disk, attached after 1 s: returned after %.2f s\n", outcome.Wall.Seconds())
		Expect(gap(aws.Calls(), "AttachVolume", "DescribeVolumes")).To(BeNumerically("<", 1500*time.Millisecond))
	}, SpecTimeout(time.Minute))

	It("is waited for by a launch with NICs that are pending still", func(ctx SpecContext) {
		config.TimeScale = 0.1
		aws.SetDelays(proxy.Delays{InterfaceAvailable: 300 * time.Millisecond})
		networks := driver.Object("a", manual(account.Subnets[0], "10.0.0.10", nil), "b", manual(account.Subnets[0], "10.0.0.11", nil))
		vm := createVM(ctx, director(), nil, networks)
		succeed(ctx, director(), "delete_vm", vm)
		expectNothingLeft(ctx)
	})
})
