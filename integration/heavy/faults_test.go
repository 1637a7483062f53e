package heavy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/heavyimage"
	"bosh-aws-cpi/integration/proxy"
)

// uploadCalls are the AWS calls of a heavy stemcell, in order.
var uploadCalls = []string{"StartSnapshot", "PutSnapshotBlock", "CompleteSnapshot", "DescribeSnapshots", "RegisterImage", "CreateTags", "DescribeImages"}

var _ = Describe("A fault on the way", Ordered, func() {
	var image string
	spec := heavyimage.Spec{Bytes: 60 * heavyimage.BlockBytes}

	BeforeAll(func() {
		image = filepath.Join(scratch, "faults-image")
		Expect(spec.Write(image)).To(Succeed())
	})

	create := func(ctx SpecContext) driver.Outcome {
		GinkgoHelper()
		outcome := director().Call(ctx, "create_stemcell", image, properties(nil), map[string]any{})
		Expect(outcome.Invalid).NotTo(HaveOccurred(), "%s", outcome.Stderr)
		return outcome
	}
	report := func(what, call string, outcome driver.Outcome) {
		answer := string(outcome.Response.Result)
		if outcome.Response.Error != nil {
			answer = outcome.Response.Error.Error()
		}
		fmt.Printf("%-22s %-18s %s\n", what, call, answer)
	}

	It("is told, and leaves nothing: each call refused", func(ctx SpecContext) {
		for _, call := range uploadCalls {
			aws.ClearRules()
			aws.Add(proxy.Rule{Action: call, Do: proxy.Fail(403, "UnauthorizedOperation", "You are not authorized to perform this operation.")})
			outcome := create(ctx)
			report("refused", call, outcome)
			Expect(outcome.ErrorType()).To(Equal("Bosh::Clouds::CloudError"))
			Expect(outcome.Response.Error.Message).To(SatisfyAll(ContainSubstring(call), ContainSubstring("UnauthorizedOperation")))
			expectNothingLeft(ctx)
		}
	})

	It("is waited out: each call throttled, far beyond max_retries", func(ctx SpecContext) {
		config.AWS, config.TimeScale = map[string]any{"max_retries": 1}, 0.002
		for _, call := range uploadCalls {
			aws.ClearRules()
			aws.Add(proxy.Rule{Action: call, Times: 20, Do: proxy.SlowDown()})
			outcome := create(ctx)
			report("throttled 20 times", call, outcome)
			Expect(outcome.Err()).NotTo(HaveOccurred())
			Expect(director().Call(ctx, "delete_stemcell", outcome.Text()).Err()).NotTo(HaveOccurred())
			expectNothingLeft(ctx)
		}
	})

	DescribeTable("is made good: the connection breaks once",
		func(ctx SpecContext, what string, drop func() proxy.Effect) {
			for _, call := range uploadCalls {
				aws.ClearRules()
				aws.Add(proxy.Rule{Action: call, Times: 1, Do: drop()})
				outcome := create(ctx)
				report(what, call, outcome)
				Expect(outcome.Err()).NotTo(HaveOccurred(), "%s", outcome.Stderr)
				Expect(director().Call(ctx, "delete_stemcell", outcome.Text()).Err()).NotTo(HaveOccurred())
				expectNothingLeft(ctx)
			}
		},
		Entry("before it is made", "reset before", proxy.DropRequest),
		Entry("after it was made", "reply lost", proxy.DropReply),
	)

	It("is undone: SIGTERM half way", func(ctx SpecContext) {
		for _, call := range uploadCalls {
			aws.ClearRules()
			started := make(chan *driver.Running, 1)
			aws.Add(proxy.Rule{Action: call, Nth: 1, Times: 1, Do: proxy.Before(func(proxy.Call) {
				running := <-started
				Expect(running.Signal(syscall.SIGTERM)).To(Succeed())
			})})
			cpi := director()
			request, err := cpi.Request("create_stemcell", image, properties(nil), map[string]any{})
			Expect(err).NotTo(HaveOccurred())
			running, err := cpi.Start(ctx, request)
			Expect(err).NotTo(HaveOccurred())
			started <- running
			outcome := running.Wait()
			Expect(outcome.Invalid).NotTo(HaveOccurred())
			report("SIGTERM", call, outcome)
			if outcome.Response.Error == nil { // it was done already
				Expect(call).To(Equal("DescribeImages"))
				Expect(director().Call(ctx, "delete_stemcell", outcome.Text()).Err()).NotTo(HaveOccurred())
			} else {
				Expect(outcome.Response.Error.Message).To(ContainSubstring("SIGTERM"))
			}
			expectNothingLeft(ctx)
		}
	})

	It("stops all workers promptly", func(ctx SpecContext) {
		aws.SetLatency(map[string]proxy.Latency{"PutSnapshotBlock": {Min: 20 * time.Millisecond, Max: 20 * time.Millisecond}})
		aws.Add(proxy.Rule{Action: "PutSnapshotBlock", Nth: 1, Times: 1, Do: proxy.Fail(400, "ValidationException", "no")})
		Expect(create(ctx).ErrorType()).To(Equal("Bosh::Clouds::CloudError"))
		Expect(len(aws.Calls().Of("PutSnapshotBlock"))).To(BeNumerically("<=", 2*32), "of a crew of 32, hardly any begins another block")
		Expect(os.Remove(image)).To(Succeed())
	})
})
