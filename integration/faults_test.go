package integration_test

import (
	"context"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/emulator/query"
	"bosh-aws-cpi/integration/proxy"
)

// withRetries sets aws.max_retries.
func withRetries(most int) { config.AWS = map[string]any{"max_retries": most} }

// twoNICs are networks for which NICs are made before the launch.
func twoNICs() []any {
	return vmArguments(nil, driver.Object("a", manual(account.Subnets[0], "10.0.0.10", nil), "b", manual(account.Subnets[0], "10.0.0.11", nil)), nil, nil)
}

// knowTokens has DescribeInstances find the instance of a launch by the filter
// client-token, which the emulator does not know.
func knowTokens() {
	aws.Add(proxy.Rule{Action: "RunInstances", Do: proxy.After(func(made proxy.Call) {
		described, err := describe(context.Background(), "DescribeInstances", "Filter.1.Name", "instance-state-name", "Filter.1.Value.1", "running")
		if err != nil {
			return // the spec fails for want of the instance
		}
		for _, reservation := range described.All("reservationSet/item") {
			reservation.Child("instancesSet").Filter(func(item *query.Node) bool { return item.Value("clientToken") == made.Param("ClientToken") })
		}
		ofToken := func(call proxy.Call) bool { return call.Param("Filter.1.Value.1") == made.Param("ClientToken") }
		aws.Add(proxy.Rule{Action: "DescribeInstances", When: ofToken, Do: proxy.Reply(http.StatusOK, "text/xml", string(described.Encode()))})
	})})
}

// kinds counts what there is more of than when the spec began: "volume": 1.
func kinds(ctx context.Context) map[string]int {
	GinkgoHelper()
	count := map[string]int{}
	for _, line := range inventory(ctx) {
		kind, _, _ := strings.Cut(line, " ")
		count[kind]++
	}
	for _, line := range before {
		kind, _, _ := strings.Cut(line, " ")
		if count[kind]--; count[kind] == 0 {
			delete(count, kind)
		}
	}
	return count
}

var _ = Describe("Throttling", func() {
	DescribeTable("is waited out whatever max_retries says, and each wait is in the log",
		func(ctx SpecContext, code string) {
			withRetries(0)
			config.TimeScale = 0.002
			aws.Add(proxy.Rule{Action: "RunInstances", Times: 12, Do: proxy.Fail(http.StatusServiceUnavailable, code, "slower")})
			outcome := succeed(ctx, director(), "create_vm", vmArguments(nil, nil, nil, nil)...)
			launches := aws.Calls().Of("RunInstances")
			Expect(launches).To(HaveLen(13))
			Expect(strings.Count(launches[12].UserAgent, "bosh-aws-cpi/")).To(Equal(1))
			Expect(regexp.MustCompile(`RunInstances \S+: trying again in`).FindAllString(string(outcome.Stderr), -1)).To(HaveLen(12))
			Expect(outcome.Response.Log).To(ContainSubstring("12 throttled"))
		},
		Entry(nil, "RequestLimitExceeded"), Entry(nil, "Throttling"), Entry(nil, "SlowDown"),
	)

	It("of every kind of call, as EC2 does it, fails nothing", func(ctx SpecContext) {
		withRetries(0)
		aws.Throttle(proxy.Limits{Describe: proxy.Bucket{Size: 1, Refill: 20}, Mutating: proxy.Bucket{Size: 1, Refill: 20}})
		succeed(ctx, director(), "delete_vm", createVM(ctx, director(), nil, nil))
		expectNothingLeft(ctx)
	}, SpecTimeout(patience))
})

var _ = Describe("A fault of AWS", func() {
	fault := proxy.Fail(http.StatusInternalServerError, "InternalError", "An internal error has occurred")

	It("is got over within max_retries", func(ctx SpecContext) {
		withRetries(2)
		aws.Add(proxy.Rule{Action: "RunInstances", Times: 2, Do: fault})
		createVM(ctx, director(), nil, nil)
		Expect(kinds(ctx)).To(HaveKeyWithValue("instance", 1))
	})

	It("fails a create_vm that can be made again, when it lasts", func(ctx SpecContext) {
		withRetries(2)
		aws.Add(proxy.Rule{Action: "RunInstances", Do: fault})
		failed := fail(ctx, director(), notCreated, "create_vm", vmArguments(nil, nil, nil, nil)...)
		Expect(failed.OKToRetry).To(BeTrue())
		Expect(failed.Message).To(And(HavePrefix("create_vm"), ContainSubstring("RunInstances"), ContainSubstring("InternalError"), ContainSubstring("AWS request id")))
		Expect(aws.Calls().Of("RunInstances")).To(HaveLen(3))
		expectNothingLeft(ctx)
	})

	It("fails another method when it lasts, which another try may get round", func(ctx SpecContext) {
		withRetries(1)
		aws.Add(proxy.Rule{Action: "DescribeVolumes", Do: fault})
		failed := fail(ctx, director(), cloudError, "has_disk", noDisk)
		Expect(failed.OKToRetry).To(BeTrue())
		Expect(aws.Calls().Of("DescribeVolumes")).To(HaveLen(2))
	})

	DescribeTable("is got over when it is one of the connection", func(ctx SpecContext, effect proxy.Effect) {
		withRetries(2)
		config.HTTPTimeout = 0.2
		aws.Add(proxy.Rule{Action: "DescribeVolumes", Times: 2, Do: effect})
		Expect(string(succeed(ctx, director(), "has_disk", noDisk).Response.Result)).To(Equal("false"))
	},
		Entry("reset before the request", proxy.DropRequest()),
		Entry("reset before the answer", proxy.DropReply()),
		Entry("silence", proxy.HangRequest()),
		Entry("HTTP 503", proxy.Reply(http.StatusServiceUnavailable, "text/xml", "")),
		Entry("HTTP 429", proxy.Reply(http.StatusTooManyRequests, "text/xml", "")),
		Entry("a page of a load balancer", proxy.HTML(http.StatusBadGateway)),
	)

	It("of an endpoint that nobody serves names it, and lets the Director try again", func(ctx SpecContext) {
		withRetries(1)
		config.Endpoint = "http://127.0.0.1:1"
		failed := fail(ctx, director(), notCreated, "create_vm", vmArguments(nil, nil, nil, nil)...)
		Expect(failed.OKToRetry).To(BeTrue())
		Expect(failed.Message).To(And(ContainSubstring("127.0.0.1:1"), ContainSubstring("connection refused")))
	})

	It("that is a page instead of an answer says what answered", func(ctx SpecContext) {
		withRetries(1)
		for _, status := range []int{http.StatusOK, http.StatusForbidden, http.StatusBadGateway} {
			aws.Add(proxy.Rule{Action: "DescribeVolumes", Do: proxy.HTML(status)})
			failed := fail(ctx, director(), cloudError, "has_disk", noDisk)
			for _, part := range []string{strings.TrimPrefix(aws.URL, "http://"), "text/html", strconv.Itoa(status), "check the endpoint"} {
				Expect(failed.Message).To(ContainSubstring(part))
			}
			aws.ClearRules()
		}
	})

	It("that is no EC2 answer to a launch makes no second VM, and leaves none behind", func(ctx SpecContext) {
		knowTokens()
		aws.Add(proxy.Rule{Action: "RunInstances", Times: 1, Do: proxy.Rewrite(func(_ proxy.Call, root *query.Node) { root.Children = nil })})
		outcome := director().Call(ctx, "create_vm", vmArguments(nil, nil, nil, nil)...)
		Expect(outcome.Invalid).NotTo(HaveOccurred())
		Expect(string(outcome.Stderr)).NotTo(ContainSubstring("panic"))
		if outcome.Response.Error != nil {
			expectNothingLeft(ctx)
			return
		}
		Expect(kinds(ctx)).To(HaveKeyWithValue("instance", 1))
	})
})

var _ = Describe("A lack of capacity", func() {
	It("fails at once, and is not to be tried again", func(ctx SpecContext) {
		for _, lack := range []struct {
			status     int
			code, hint string
		}{
			{http.StatusInternalServerError, "InsufficientInstanceCapacity", "another availability zone"},
			{http.StatusInternalServerError, "InsufficientHostCapacity", "another availability zone"},
			{http.StatusInternalServerError, "InsufficientReservedInstanceCapacity", "another availability zone"},
			{http.StatusBadRequest, "InstanceLimitExceeded", "higher limit"},
			{http.StatusBadRequest, "VcpuLimitExceeded", "higher vCPU limit"},
			{http.StatusBadRequest, "Unsupported", "another availability zone"},
		} {
			aws.Clear()
			rule := aws.Add(proxy.Rule{Action: "RunInstances", Do: proxy.Fail(lack.status, lack.code, "AWS's own hint")})
			failed := fail(ctx, director(), notCreated, "create_vm", vmArguments(nil, nil, nil, nil)...)
			Expect(failed.OKToRetry).To(BeFalse(), lack.code)
			Expect(failed.Message).To(And(ContainSubstring(lack.code), ContainSubstring("AWS's own hint"), ContainSubstring(lack.hint), ContainSubstring("m5.large")))
			Expect(aws.Calls().Of("RunInstances")).To(HaveLen(1), lack.code)
			rule.Remove()
		}
		expectNothingLeft(ctx)
	})

	It("that shows after the launch is no different", func(ctx SpecContext) {
		aws.Add(proxy.Rule{Action: "DescribeInstances", Times: 1,
			Do: proxy.ShowInstance("terminated", "Server.InsufficientInstanceCapacity", "no room")})
		failed := fail(ctx, director(), notCreated, "create_vm", vmArguments(nil, nil, nil, nil)...)
		Expect(failed.OKToRetry).To(BeFalse())
		Expect(failed.Message).To(And(ContainSubstring("no room"), ContainSubstring("another availability zone")))
		expectNothingLeft(ctx)
	})
})

var _ = Describe("A lost answer", func() {
	// once makes a call whose answer to an action is lost, with retries and
	// without, and expects one more resource of a kind.
	once := func(ctx context.Context, retries int, action, kind, method string, arguments ...any) {
		GinkgoHelper()
		withRetries(retries)
		before = inventory(ctx)
		lost := aws.Add(proxy.Rule{Action: action, Times: 1, Do: proxy.DropReply()})
		succeed(ctx, director(), method, arguments...)
		Expect(lost.Hits()).To(Equal(1))
		Expect(kinds(ctx)).To(HaveKeyWithValue(kind, 1))
	}

	for _, retries := range []int{0, 8} {
		with := "with retries"
		if retries == 0 {
			with = "without retries"
		}
		Context(with, func() {
			It("of RunInstances makes no second VM", func(ctx SpecContext) {
				knowTokens()
				once(ctx, retries, "RunInstances", "instance", "create_vm", vmArguments(nil, nil, nil, nil)...)
			})
			It("of CreateNetworkInterface makes no third NIC", func(ctx SpecContext) {
				withRetries(retries)
				aws.Add(proxy.Rule{Action: "CreateNetworkInterface", Times: 1, Do: proxy.DropReply()})
				succeed(ctx, director(), "create_vm", twoNICs()...)
				Expect(kinds(ctx)).To(HaveKeyWithValue("network-interface", 2))
			})
			It("of CreateVolume makes no second disk", func(ctx SpecContext) {
				once(ctx, retries, "CreateVolume", "volume", "create_disk", 1024, map[string]any{})
			})
			It("of CreateSnapshot makes no second snapshot", func(ctx SpecContext) {
				once(ctx, retries, "CreateSnapshot", "snapshot", "snapshot_disk", freeDisk(ctx, 10, nil), map[string]any{"deployment": "cf"})
			})
			It("of CopyImage makes no second image", func(ctx SpecContext) {
				once(ctx, retries, "CopyImage", "image", "create_stemcell", light(here(), map[string]any{"encrypted": true})...)
			})
			It("of CreateSubnet makes no second subnet", func(ctx SpecContext) {
				once(ctx, retries, "CreateSubnet", "subnet", "create_network", definition(nil))
			})
			It("of AssociateRouteTable is found out", func(ctx SpecContext) {
				once(ctx, retries, "AssociateRouteTable", "route", "create_network", definition(map[string]any{"route_table": account.RouteTable}))
				Expect(aws.Calls().Of("AssociateRouteTable")).To(HaveLen(1))
			})
			It("of AttachVolume is found out", func(ctx SpecContext) {
				vm, disk := createVM(ctx, director(), nil, nil), freeDisk(ctx, 10, nil)
				once(ctx, retries, "AttachVolume", "attachment", "attach_disk", vm, disk)
				Expect(aws.Calls().Of("AttachVolume")).To(HaveLen(1))
			})
			It("of DetachVolume is found out", func(ctx SpecContext) {
				withRetries(retries)
				vm, disk := attachedDisk(ctx, 10)
				aws.Add(proxy.Rule{Action: "DetachVolume", Times: 1, Do: proxy.DropReply()})
				succeed(ctx, director(), "detach_disk", vm, disk)
				Expect(aws.Calls().Of("DetachVolume")).To(HaveLen(1))
			})
			It("of AssociateAddress is found out", func(ctx SpecContext) {
				once(ctx, retries, "AssociateAddress", "address", "create_vm", withEverything()...)
				Expect(aws.Calls().Of("AssociateAddress")).To(HaveLen(1))
			})
			It("of CreateRoute is found out", func(ctx SpecContext) {
				once(ctx, retries, "CreateRoute", "route", "create_vm", withEverything()...)
				Expect(aws.Calls().Of("CreateRoute")).To(HaveLen(1))
			})
			It("of ModifyVolume is found out", func(ctx SpecContext) {
				withRetries(retries)
				disk := freeDisk(ctx, 10, nil)
				aws.Add(proxy.Rule{Action: "ModifyVolume", Times: 1, Do: proxy.DropReply()})
				succeed(ctx, director(), "resize_disk", disk, 20<<10)
				Expect(aws.Calls().Of("ModifyVolume")).To(HaveLen(1))
			})
		})
	}

	It("that was a lost request is made again", func(ctx SpecContext) {
		disk := freeDisk(ctx, 10, nil)
		vm := createVM(ctx, director(), nil, nil)
		for _, action := range []string{"AttachVolume", "DetachVolume", "ModifyVolume", "CreateSnapshot", "CreateSubnet"} {
			aws.Add(proxy.Rule{Action: action, Times: 1, Do: proxy.DropRequest()})
		}
		succeed(ctx, director(), "attach_disk", vm, disk)
		holding(ctx, vm, disk)
		succeed(ctx, director(), "detach_disk", vm, disk)
		succeed(ctx, director(), "resize_disk", disk, 20<<10)
		Expect(volume(ctx, disk).Value("size")).To(Equal("20"))
		succeed(ctx, director(), "snapshot_disk", disk, map[string]any{})
		succeed(ctx, director(), "create_network", definition(nil))
		Expect(kinds(ctx)).To(And(HaveKeyWithValue("snapshot", 1), HaveKeyWithValue("subnet", 1)))
	})
})

var _ = Describe("What was made a moment ago and is not visible yet", func() {
	BeforeEach(func() { aws.Hide(proxy.Hiding{Uses: 3}) })

	It("is waited for by create_vm, and by its undo", func(ctx SpecContext) {
		vm := succeed(ctx, director(), "create_vm", twoNICs()...).VM()
		aws.Hide(proxy.Hiding{})
		succeed(ctx, director(), "delete_vm", vm)
		expectNothingLeft(ctx)

		aws.Hide(proxy.Hiding{Uses: 3})
		aws.Add(proxy.Rule{Action: "ModifyNetworkInterfaceAttribute", Do: proxy.Fail(http.StatusForbidden, "UnauthorizedOperation", "no")})
		fail(ctx, director(), notCreated, "create_vm", twoNICs()...)
		expectNothingLeft(ctx)
	})

	It("is waited for by load balancers", func(ctx SpecContext) {
		aws.Hide(proxy.Hiding{Uses: 3, Actions: []string{"RegisterTargets", "RegisterInstancesWithLoadBalancer"}})
		succeed(ctx, director(), "create_vm", everyService()...)
	})

	It("is waited for by create_disk, create_network and create_stemcell", func(ctx SpecContext) {
		disk := succeed(ctx, director(), "create_disk", 1024, map[string]any{}).Text()
		subnet := subnetOf(succeed(ctx, director(), "create_network", definition(map[string]any{"route_table": account.RouteTable})))
		succeed(ctx, director(), "create_stemcell", light(here(), map[string]any{"encrypted": true})...)
		Expect([]string{disk, subnet}).To(HaveEach(Not(BeEmpty())))
	})

	It("is known soon to those that another process told about it", func(ctx SpecContext) {
		aws.Hide(proxy.Hiding{Uses: 1})
		disk := someoneElse(ctx, "CreateVolume", "AvailabilityZone", account.Subnets[0].Zone, "Size", "10").Value("volumeId")
		succeed(ctx, director(), "set_disk_metadata", disk, map[string]any{"a": "b"})
		Expect(tagsHeld(ctx, disk)).To(HaveKeyWithValue("a", "b"))
	})
})
