package integration_test

import (
	"fmt"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/driver"
)

var _ = Describe("Many processes at once", func() {
	const fleet = 40

	// together runs a call for each of the fleet, all at once.
	together := func(call func(n int)) time.Duration {
		started := time.Now()
		var group sync.WaitGroup
		for n := range fleet {
			group.Go(func() {
				defer GinkgoRecover()
				call(n)
			})
		}
		group.Wait()
		return time.Since(started)
	}

	It("all succeed, and leave nothing", func(ctx SpecContext) {
		config.TimeScale = 1
		cpi := director()
		vms := make([]string, fleet)
		created := together(func(n int) {
			network := driver.Object("default", manual(account.Subnets[0], account.Subnets[0].IP(100+n), nil))
			vms[n] = succeed(ctx, cpi, "create_vm", vmArguments(nil, network, nil, nil)...).VM()
		})
		deleted := together(func(n int) { succeed(ctx, cpi, "delete_vm", vms[n]) })
		fmt.Printf("\n%d create_vm at once: %.1f s; %d delete_vm at once: %.1f s\n", fleet, created.Seconds(), fleet, deleted.Seconds())
		Expect(vms).To(HaveEach(HavePrefix("i-")))
		expectNothingLeft(ctx)
	}, SpecTimeout(5*time.Minute))
})
