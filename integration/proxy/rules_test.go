package proxy_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/emulator/query"
	"bosh-aws-cpi/integration/proxy"
)

// answerWith has a stub always answer the same.
func answerWith(status int, body string) func(http.ResponseWriter, url.Values) {
	return func(w http.ResponseWriter, _ url.Values) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

var _ = Describe("rules", func() {
	var (
		upstream *stub
		p        *proxy.Proxy
		aws      caller
	)

	BeforeEach(func() {
		upstream = newStub()
		p = startProxy(upstream.URL)
		aws = callerOf(p)
	})

	// outcome is an AWS error code, "ok", or "broken" for no answer at all.
	outcome := func(ctx context.Context, action string, params ...string) string {
		_, err := aws.Do(ctx, query.EC2, action, params...)
		var failure *query.Error
		switch {
		case err == nil:
			return "ok"
		case errors.As(err, &failure):
			return failure.Code
		default:
			return "broken"
		}
	}

	It("take part in as many matching calls as they say, from the one they say on", func(ctx SpecContext) {
		rule := p.Add(proxy.Rule{Service: query.EC2, Action: "A", Nth: 2, Times: 2, Do: proxy.Fail(400, "No", "no")})
		got := []string{outcome(ctx, "B")}
		for range 5 {
			got = append(got, outcome(ctx, "A"))
		}
		Expect(got).To(Equal([]string{"ok", "ok", "No", "No", "ok", "ok"}))
		Expect(rule.Hits()).To(Equal(2))
		Expect(upstream.requests()).To(Equal([]string{"B", "A", "A", "A"}))
		Expect(p.Calls()[2].Fault).To(Equal("scripted"))
	})

	It("look at parameters, and can be removed", func(ctx SpecContext) {
		rule := p.Add(proxy.Rule{When: func(c proxy.Call) bool { return c.Param("Id") == "1" }, Do: proxy.Fail(500, "InternalError", "oops")})
		Expect(outcome(ctx, "A", "Id", "1")).To(Equal("InternalError"))
		Expect(outcome(ctx, "A", "Id", "2")).To(Equal("ok"))
		rule.Remove()
		Expect(outcome(ctx, "A", "Id", "1")).To(Equal("ok"))
	})

	DescribeTable("answer throttling in the words of each service",
		func(ctx SpecContext, service, code string, status int) {
			p.Add(proxy.Rule{Do: proxy.SlowDown()})
			_, err := aws.Do(ctx, service, "A")
			var failure *query.Error
			Expect(errors.As(err, &failure)).To(BeTrue())
			Expect(failure.Code).To(Equal(code))
			Expect(failure.Status).To(Equal(status))
			Expect(p.Calls()[0].Throttled()).To(BeTrue())
		},
		Entry("EC2", query.EC2, "RequestLimitExceeded", 503),
		Entry("ELB", query.ELB, "Throttling", 400),
		Entry("ELBv2", query.ELBv2, "Throttling", 400),
		Entry("STS", query.STS, "Throttling", 400),
	)

	It("answer with a page", func(ctx SpecContext) {
		p.Add(proxy.Rule{Do: proxy.HTML(502)})
		_, err := aws.Do(ctx, query.EC2, "A")
		Expect(err).To(MatchError(ContainSubstring("<title>Bad Gateway</title>")))
	})

	It("reset the connection before the call has an effect, or after", func(ctx SpecContext) {
		p.Add(proxy.Rule{Action: "Before", Do: proxy.DropRequest()})
		p.Add(proxy.Rule{Action: "After", Do: proxy.DropReply()})
		for _, action := range []string{"Before", "After"} {
			_, err := aws.Do(ctx, query.EC2, action)
			Expect(errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF)).To(BeTrue(), "%v", err)
		}
		Expect(upstream.requests()).To(Equal([]string{"After"}))
		Expect(p.Calls()[0].Status).To(Equal(-1))
		Expect(p.Calls()[1].String()).To(ContainSubstring("After dropped reply dropped"))
	})

	It("never answer, before the call has an effect or after", func(ctx SpecContext) {
		p.Add(proxy.Rule{Action: "Before", Do: proxy.HangRequest()})
		p.Add(proxy.Rule{Action: "After", Do: proxy.HangReply()})
		for _, action := range []string{"Before", "After"} {
			short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
			Expect(outcome(short, action)).To(Equal("broken"))
			cancel()
		}
		Expect(upstream.requests()).To(Equal([]string{"After"}))
		Eventually(func() []int {
			return []int{p.Calls()[0].Status, p.Calls()[1].Status}
		}).Should(Equal([]int{-1, -1}))
	})

	It("let go of hanging calls when the proxy closes", func(ctx SpecContext) {
		p.Add(proxy.Rule{Do: proxy.HangRequest()})
		done := make(chan string)
		go func() { done <- outcome(ctx, "A") }()
		Eventually(p.Actions).Should(HaveLen(1))
		p.Close()
		Eventually(done).Should(Receive(Equal("broken")))
	})

	It("call functions before and after the call has its effect", func(ctx SpecContext) {
		var seen []string
		see := func(when string) func(proxy.Call) {
			return func(c proxy.Call) { seen = append(seen, when+" "+c.Action+" after "+join(upstream.requests())) }
		}
		p.Add(proxy.Rule{Do: proxy.Both(proxy.Before(see("before")), proxy.After(see("after")))})
		Expect(outcome(ctx, "A")).To(Equal("ok"))
		Expect(seen).To(Equal([]string{"before A after ", "after A after A"}))
	})

	It("delay", func(ctx SpecContext) {
		p.Add(proxy.Rule{Action: "A", Do: proxy.Delay(30 * time.Millisecond)})
		p.Add(proxy.Rule{Action: "B", Do: proxy.DelayReply(30 * time.Millisecond)})
		Expect(outcome(ctx, "A")).To(Equal("ok"))
		Expect(outcome(ctx, "B")).To(Equal("ok"))
		for _, call := range p.Calls() {
			Expect(call.Duration).To(BeNumerically(">=", 30*time.Millisecond))
		}
	})

	It("rewrite good answers", func(ctx SpecContext) {
		upstream.answer = answerWith(200, `<X xmlns="urn:x"><reservationSet><item><instancesSet><item><instanceId>i-1</instanceId></item></instancesSet></item></reservationSet></X>`)
		p.Add(proxy.Rule{Do: proxy.ShowInstance("terminated", "Server.InternalError", "Internal error on launch")})
		root := aws.ec2(ctx, "DescribeInstances")
		item := root.Get("reservationSet/item/instancesSet/item")
		Expect(item.Value("instanceState/name")).To(Equal("terminated"))
		Expect(item.Value("stateReason/code")).To(Equal("Server.InternalError"))
		Expect(item.Value("instanceId")).To(Equal("i-1"))
		Expect(root.Space).To(Equal("urn:x"))
	})

	It("serve a call to its end when the caller goes away", func(ctx SpecContext) {
		release := make(chan struct{})
		p.Add(proxy.Rule{Do: proxy.Before(func(proxy.Call) { <-release })})
		short, cancel := context.WithCancel(ctx)
		go outcome(short, "A")
		Eventually(p.Actions).Should(HaveLen(1))
		cancel()
		close(release)
		Eventually(upstream.requests).Should(Equal([]string{"A"}))
	})
})

func join(actions []string) string {
	text := ""
	for _, action := range actions {
		text += action
	}
	return text
}

var _ = Describe("limits", func() {
	It("throttle by action once the bucket is empty, and let calls in as it fills", func(ctx SpecContext) {
		p := startProxy(newStub().URL)
		aws := callerOf(p)
		p.Throttle(proxy.Limits{
			Describe: proxy.Bucket{Size: 2, Refill: 0.001},
			Actions:  map[string]proxy.Bucket{"RunInstances": {Size: 1, Refill: 100}},
		})
		aws.ec2(ctx, "DescribeVpcs")
		aws.ec2(ctx, "DescribeVpcs")
		Expect(aws.refused(ctx, "DescribeVpcs")).To(Equal("RequestLimitExceeded"))
		aws.ec2(ctx, "DescribeSubnets")
		aws.ec2(ctx, "DeleteTags") // no bucket: no limit
		Eventually(func() error { _, err := aws.Do(ctx, query.EC2, "RunInstances"); return err }).Should(Succeed())
		Eventually(func() error { _, err := aws.Do(ctx, query.EC2, "RunInstances"); return err }).Should(Succeed())
		p.Throttle(proxy.Limits{})
		aws.ec2(ctx, "DescribeVpcs")
		Expect(p.Calls()[2].Fault).To(Equal("throttled"))
	})

	It("have EC2's documented sizes", func() {
		limits := proxy.EC2Limits()
		Expect(limits.Of("RunInstances")).To(Equal(proxy.Bucket{Size: 5, Refill: 2}))
		Expect(limits.Of("TerminateInstances")).To(Equal(proxy.Bucket{Size: 100, Refill: 5}))
		Expect(limits.Of("DescribeInstances")).To(Equal(proxy.Bucket{Size: 100, Refill: 20}))
		Expect(limits.Of("CreateTags")).To(Equal(proxy.Bucket{Size: 50, Refill: 5}))
		Expect(limits.Faster(10).Of("RunInstances")).To(Equal(proxy.Bucket{Size: 5, Refill: 20}))
	})

	It("let in exactly what there are tokens for, however many ask at once", func(ctx SpecContext) {
		p := startProxy(newStub().URL)
		aws := callerOf(p)
		p.Throttle(proxy.Limits{Mutating: proxy.Bucket{Size: 7, Refill: 1e-9}})
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() { _, _ = aws.Do(ctx, query.EC2, "A") })
		}
		all.Wait()
		Expect(p.Calls().Where(proxy.Call.Succeeded)).To(HaveLen(7))
		Expect(p.Calls().Where(proxy.Call.Throttled)).To(HaveLen(33))
	})
})

var _ = Describe("latency", func() {
	It("is added by action", func(ctx SpecContext) {
		p := startProxy(newStub().URL)
		aws := callerOf(p)
		p.SetLatency(map[string]proxy.Latency{"": {Min: 20 * time.Millisecond}, "B": {Min: 0, Max: 0}, "C": {Min: 40 * time.Millisecond, Max: 50 * time.Millisecond}})
		aws.ec2(ctx, "A")
		aws.ec2(ctx, "C")
		Expect(p.Calls()[0].Duration).To(BeNumerically(">=", 20*time.Millisecond))
		Expect(p.Calls()[1].Duration).To(BeNumerically(">=", 40*time.Millisecond))
	})
})
