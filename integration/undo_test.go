package integration_test

import (
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/emulator/query"
	"bosh-aws-cpi/integration/fakeregistry"
	"bosh-aws-cpi/integration/proxy"
)

// refusal is an error that no retry helps against.
var refusal = proxy.Fail(http.StatusForbidden, "UnauthorizedOperation", "You are not authorized to perform this operation")

// withEverything are create_vm's arguments for a VM that takes the elastic IP,
// the default route and a new one, and is behind load balancers.
func withEverything() []any {
	return vmArguments(map[string]any{
		"lb_target_groups": []string{account.TargetGroup.Name}, "elbs": []string{account.LoadBalancer},
		"advertised_routes": []map[string]any{
			{"table_id": account.RouteTable, "destination": "0.0.0.0/0"}, {"table_id": account.RouteTable, "destination": "10.99.0.0/16"},
		},
	}, driver.Object("default", manual(account.Subnets[0], "10.0.0.20", nil), "public", map[string]any{"type": "vip", "ip": account.ElasticIP.IP}), nil, nil)
}

var _ = Describe("A create_vm that fails", func() {
	BeforeEach(func(ctx SpecContext) {
		// Another VM has the elastic IP until then.
		createVM(ctx, director(), nil, driver.Object("default", manual(account.Subnets[0], "10.0.0.10", nil), "public", map[string]any{"type": "vip", "ip": account.ElasticIP.IP}))
		before = inventory(ctx)
		Expect(before).To(ContainElement(HavePrefix("address " + account.ElasticIP.IP)))
		aws.Clear()
	})

	DescribeTable("leaves nothing, and puts elastic IP and routes back",
		func(ctx SpecContext, action string) {
			refused := aws.Add(proxy.Rule{Action: action, Times: 1, Do: refusal})
			failed := fail(ctx, director(), notCreated, "create_vm", withEverything()...)
			Expect(refused.Hits()).To(Equal(1))
			Expect(failed.Message).To(And(HavePrefix("create_vm"), ContainSubstring(action), ContainSubstring("UnauthorizedOperation"), ContainSubstring("IAM policy")))
			Expect(failed.Message).NotTo(ContainSubstring("could not be undone"))
			expectNothingLeft(ctx)
		},
		Entry(nil, "RunInstances"), Entry(nil, "RegisterTargets"), Entry(nil, "RegisterInstancesWithLoadBalancer"),
		Entry(nil, "AssociateAddress"), Entry(nil, "ReplaceRoute"), Entry(nil, "CreateRoute"),
	)

	DescribeTable("leaves no NIC that was made beforehand",
		func(ctx SpecContext, action string, nth int) {
			aws.Add(proxy.Rule{Action: action, Nth: nth, Times: 1, Do: refusal})
			Expect(fail(ctx, director(), notCreated, "create_vm", vmArguments(map[string]any{"source_dest_check": false}, driver.Object(
				"a", manual(account.Subnets[0], "10.0.0.20", nil), "b", manual(account.Subnets[0], "10.0.0.21", map[string]any{"nic_group": "b"}),
				"c", manual(account.Subnets[0], "10.0.1.0", map[string]any{"nic_group": "b", "prefix": 28})), nil, nil)...).Message).To(ContainSubstring(action))
			expectNothingLeft(ctx)
		},
		Entry(nil, "CreateNetworkInterface", 2), Entry(nil, "AssignPrivateIpAddresses", 1), Entry(nil, "RunInstances", 1),
		Entry(nil, "ModifyNetworkInterfaceAttribute", 1), Entry(nil, "ModifyNetworkInterfaceAttribute", 4),
	)

	It("because the registry refuses, tells that and leaves nothing there either", func(ctx SpecContext) {
		withRegistry()
		registry.FailWith(func(request fakeregistry.Request) int {
			if request.Method == http.MethodPut {
				return http.StatusForbidden
			}
			return 0
		})
		DeferCleanup(registry.FailWith, (func(fakeregistry.Request) int)(nil))
		cpi := director()
		cpi.StemcellAPIVersion = 1
		failed := fail(ctx, cpi, cloudError, "create_vm", withEverything()...)
		Expect(failed.Message).To(And(ContainSubstring("registry"), ContainSubstring("403")))
		Expect(registry.Content()).To(BeEmpty())
		expectNothingLeft(ctx)
	})

	It("because the VM is terminated at birth, tells AWS's reason at once", func(ctx SpecContext) {
		aws.Add(proxy.Rule{Action: "DescribeInstances", Times: 1, Do: proxy.ShowInstance("terminated", "Client.VolumeLimitExceeded", "Volume limit exceeded")})
		failed := fail(ctx, director(), notCreated, "create_vm", withEverything()...)
		Expect(failed.OKToRetry).To(BeFalse())
		Expect(failed.Message).To(And(ContainSubstring("terminated"), ContainSubstring("Volume limit exceeded"), ContainSubstring("i-")))
		expectNothingLeft(ctx)
	})

	It("and cannot clean up, names first why it failed and then what is left", func(ctx SpecContext) {
		aws.Add(proxy.Rule{Action: "CreateRoute", Do: refusal})
		aws.Add(proxy.Rule{Action: "TerminateInstances", Do: proxy.Fail(http.StatusBadRequest, "OperationNotPermitted", "it may not be terminated")})
		failed := fail(ctx, director(), notCreated, "create_vm", withEverything()...)
		cause, left, found := strings.Cut(failed.Message, "could not be undone")
		Expect(found).To(BeTrue(), failed.Message)
		Expect(cause).To(And(ContainSubstring("CreateRoute"), ContainSubstring("UnauthorizedOperation")))
		Expect(left).To(And(MatchRegexp(`instance i-[0-9a-f]+`), ContainSubstring("it may not be terminated")))
		Expect(left).NotTo(Or(ContainSubstring("elastic IP"), ContainSubstring("route ")), "the undo goes on after a step that fails")
		Expect(inventory(ctx)).To(ContainElements(before), "elastic IP and route are back")
	})

	It("takes on a VM that ran only for a moment the way back in order", func(ctx SpecContext) {
		aws.Add(proxy.Rule{Action: "CreateRoute", Do: refusal})
		fail(ctx, director(), notCreated, "create_vm", withEverything()...)
		undone := []string{}
		for _, action := range aws.Actions() {
			switch action {
			case "ReplaceRoute", "AssociateAddress", "CreateRoute", "TerminateInstances":
				undone = append(undone, action)
			}
		}
		Expect(undone).To(Equal([]string{"AssociateAddress", "ReplaceRoute", "CreateRoute", "ReplaceRoute", "AssociateAddress", "TerminateInstances"}))
	})
})

var _ = Describe("A signal", func() {
	// interrupt makes a call and sends it a signal as a proxy's rule says; the
	// effect is made of the function that signals.
	interrupt := func(ctx SpecContext, signal syscall.Signal, rule func(signal func(proxy.Call)) proxy.Rule, method string, arguments ...any) driver.Outcome {
		GinkgoHelper()
		cpi := director()
		request, err := cpi.Request(method, arguments...)
		Expect(err).NotTo(HaveOccurred())
		started := make(chan *driver.Running, 1)
		aws.Add(rule(func(proxy.Call) {
			running := <-started
			started <- running
			Expect(running.Signal(signal)).To(Succeed())
		}))
		running, err := cpi.Start(ctx, request)
		Expect(err).NotTo(HaveOccurred())
		started <- running
		outcome := running.Wait()
		Expect(outcome.Invalid).NotTo(HaveOccurred())
		Expect(outcome.ExitCode).To(BeZero())
		return outcome
	}
	expectInterrupted := func(outcome driver.Outcome, signal string) {
		GinkgoHelper()
		Expect(outcome.Response.Error).NotTo(BeNil(), "%s", outcome.Stdout)
		Expect(outcome.Response.Error.Type).To(HavePrefix("Bosh::Clouds::"))
		Expect(outcome.Response.Error.Message).To(ContainSubstring("interrupted by " + signal))
	}
	duringAction := func(action string, effects ...proxy.Effect) func(func(proxy.Call)) proxy.Rule {
		return func(signal func(proxy.Call)) proxy.Rule {
			effect := proxy.Both(proxy.After(signal), proxy.DelayReply(soon)) // the signal is there before the answer
			for _, more := range effects {
				effect = proxy.Both(effect, more)
			}
			return proxy.Rule{Action: action, Times: 1, Do: effect}
		}
	}

	// Under nohup the CPI would inherit that SIGHUP is ignored, and ignore it too:
	// what is caught here is at its default there.
	heeded := func(sent syscall.Signal) {
		if signal.Ignored(sent) {
			caught := make(chan os.Signal, 1)
			signal.Notify(caught, sent)
			DeferCleanup(signal.Stop, caught)
		}
	}

	DescribeTable("while a call changes something ends it, and leaves nothing",
		func(ctx SpecContext, signal syscall.Signal, name, action string) {
			heeded(signal)
			expectInterrupted(interrupt(ctx, signal, duringAction(action), "create_vm", withEverything()...), name)
			expectNothingLeft(ctx)
		},
		Entry("launching", syscall.SIGTERM, "SIGTERM", "RunInstances"),
		Entry("launching", syscall.SIGINT, "SIGINT", "RunInstances"),
		Entry("launching", syscall.SIGHUP, "SIGHUP", "RunInstances"),
		Entry("connecting", syscall.SIGTERM, "SIGTERM", "RegisterTargets"),
		Entry("taking the elastic IP", syscall.SIGTERM, "SIGTERM", "AssociateAddress"),
		Entry("taking a route", syscall.SIGTERM, "SIGTERM", "ReplaceRoute"),
	)

	DescribeTable("just when the answer to a creating call is lost leaves nothing",
		func(ctx SpecContext, action, method string, arguments func() []any) {
			knowTokens()
			outcome := interrupt(ctx, syscall.SIGTERM, duringAction(action, proxy.DropReply()), method, arguments()...)
			expectInterrupted(outcome, "SIGTERM")
			expectNothingLeft(ctx)
		},
		Entry(nil, "RunInstances", "create_vm", withEverything),
		Entry(nil, "CreateNetworkInterface", "create_vm", twoNICs),
		Entry(nil, "CreateVolume", "create_disk", func() []any { return []any{1024, map[string]any{}} }),
		Entry(nil, "CreateSubnet", "create_network", func() []any { return []any{definition(nil)} }),
		Entry(nil, "CopyImage", "create_stemcell", func() []any { return light(here(), map[string]any{"encrypted": true}) }),
	)

	It("while NICs are made leaves nothing", func(ctx SpecContext) {
		expectInterrupted(interrupt(ctx, syscall.SIGTERM, duringAction("CreateNetworkInterface"), "create_vm", twoNICs()...), "SIGTERM")
		expectNothingLeft(ctx)
	})

	DescribeTable("while a state is waited for ends the wait, and leaves nothing",
		func(ctx SpecContext, delays proxy.Delays, action, method string, arguments func() []any) {
			aws.SetDelays(delays)
			outcome := interrupt(ctx, syscall.SIGTERM, duringAction(action), method, arguments()...)
			expectInterrupted(outcome, "SIGTERM")
			aws.Settle()
			expectNothingLeft(ctx)
		},
		Entry("a VM", proxy.Delays{InstanceRunning: time.Minute}, "DescribeInstances", "create_vm", withEverything),
		Entry("a disk", proxy.Delays{VolumeAvailable: time.Minute}, "DescribeVolumes", "create_disk", func() []any { return []any{1024, map[string]any{}} }),
	)

	It("while a disk is being attached takes it off again", func(ctx SpecContext) {
		vm, disk := createVM(ctx, director(), nil, nil), freeDisk(ctx, 10, nil)
		before = inventory(ctx)
		aws.SetDelays(proxy.Delays{VolumeAttached: time.Minute})
		expectInterrupted(interrupt(ctx, syscall.SIGTERM, duringAction("DescribeVolumes"), "attach_disk", vm, disk), "SIGTERM")
		expectNothingLeft(ctx)
	})

	It("that comes again does not stop the undo", func(ctx SpecContext) {
		twice := func(signal func(proxy.Call)) proxy.Rule {
			changing := func(call proxy.Call) bool {
				return call.Action == "AssociateAddress" || call.Action == "TerminateInstances"
			}
			return proxy.Rule{When: changing, Do: proxy.After(signal)}
		}
		expectInterrupted(interrupt(ctx, syscall.SIGTERM, twice, "create_vm", withEverything()...), "SIGTERM")
		expectNothingLeft(ctx)
	})

	It("while throttled ends the patience with AWS", func(ctx SpecContext) {
		aws.Add(proxy.Rule{Action: "RunInstances", Do: proxy.SlowDown()})
		throttled := func(signal func(proxy.Call)) proxy.Rule {
			return proxy.Rule{Action: "DescribeImages", Times: 1, Do: proxy.After(signal)}
		}
		expectInterrupted(interrupt(ctx, syscall.SIGTERM, throttled, "create_vm", withEverything()...), "SIGTERM")
		expectNothingLeft(ctx)
	}, SpecTimeout(patience))
})

var _ = Describe("An address that is in use", func() {
	again := func() []any {
		return vmArguments(nil, driver.Object("default", manual(account.Subnets[0], "10.0.0.10", nil)), nil, nil)
	}
	twice := func() []any {
		return vmArguments(nil, driver.Object("a", manual(account.Subnets[0], "10.0.0.10", nil), "b", manual(account.Subnets[0], "10.0.0.11", nil)), nil, nil)
	}

	DescribeTable("by a VM that is being terminated is waited for",
		func(ctx SpecContext, arguments func() []any) {
			dying := createVM(ctx, director(), nil, nil)
			aws.SetDelays(proxy.Delays{InstanceTerminated: soon})
			someoneElse(ctx, "TerminateInstances", "InstanceId.1", dying)
			vm := succeed(ctx, director(), "create_vm", arguments()...).VM()
			succeed(ctx, director(), "delete_vm", vm)
			expectNothingLeft(ctx)
		},
		Entry("with one NIC", again), Entry("with two", twice),
	)

	DescribeTable("by another VM is an error that names it",
		func(ctx SpecContext, arguments func() []any) {
			holder := createVM(ctx, director(), nil, nil)
			succeed(ctx, director(), "set_vm_metadata", holder, map[string]any{"name": "db/0", "deployment": "cf"})
			before = inventory(ctx)
			failed := fail(ctx, director(), notCreated, "create_vm", arguments()...)
			Expect(failed.OKToRetry).To(BeFalse())
			for _, part := range []string{"10.0.0.10", holder, "db/0", `"cf"`} {
				Expect(failed.Message).To(ContainSubstring(part))
			}
			expectNothingLeft(ctx)
		},
		Entry("with one NIC", again), Entry("with two", twice),
	)
})

var _ = Describe("A spot launch that AWS refuses", func() {
	spot := func(fallback bool) []any {
		return vmArguments(map[string]any{"spot_bid_price": 0.05, "spot_ondemand_fallback": fallback}, nil, nil, nil)
	}
	isSpot := func(call proxy.Call) bool { return call.Param("InstanceMarketOptions.MarketType") == "spot" }

	DescribeTable("becomes an on-demand launch with a token of its own, when the VM asks for that",
		func(ctx SpecContext, status int, code string) {
			aws.Add(proxy.Rule{Action: "RunInstances", When: isSpot, Do: proxy.Fail(status, code, "no")})
			vm := succeed(ctx, director(), "create_vm", spot(true)...).VM()
			launches := aws.Calls().Of("RunInstances")
			Expect(launches).To(HaveLen(2))
			Expect(launches[0]).To(haveParam("InstanceMarketOptions.SpotOptions.MaxPrice", "0.05"))
			Expect(launches[1].Params).NotTo(HaveKey("InstanceMarketOptions.MarketType"))
			Expect(launches[1].Param("ClientToken")).NotTo(Equal(launches[0].Param("ClientToken")))
			succeed(ctx, director(), "delete_vm", vm)
			expectNothingLeft(ctx)
		},
		Entry(nil, http.StatusInternalServerError, "InsufficientInstanceCapacity"),
		Entry(nil, http.StatusBadRequest, "SpotMaxPriceTooLow"),
		Entry(nil, http.StatusBadRequest, "MaxSpotInstanceCountExceeded"),
		Entry(nil, http.StatusBadRequest, "Unsupported"),
	)

	It("launches with the same NICs on demand, when they were made beforehand", func(ctx SpecContext) {
		arguments := twoNICs()
		arguments[2] = spot(true)[2]
		aws.Add(proxy.Rule{Action: "RunInstances", When: isSpot, Do: proxy.Fail(http.StatusBadRequest, "SpotMaxPriceTooLow", "no")})
		vm := succeed(ctx, director(), "create_vm", arguments...).VM()
		launches := aws.Calls().Of("RunInstances")
		Expect(launches).To(HaveLen(2))
		for _, nic := range []string{"NetworkInterface.1.NetworkInterfaceId", "NetworkInterface.2.NetworkInterfaceId"} {
			Expect(launches[1]).To(haveParam(nic, launches[0].Param(nic)))
		}
		Expect(aws.Calls().Of("CreateNetworkInterface")).To(HaveLen(2))
		succeed(ctx, director(), "delete_vm", vm)
		expectNothingLeft(ctx)
	})

	It("fails the VM for good without a fallback", func(ctx SpecContext) {
		aws.Add(proxy.Rule{Action: "RunInstances", When: isSpot, Do: proxy.Fail(http.StatusBadRequest, "SpotMaxPriceTooLow", "your price is too low")})
		failed := fail(ctx, director(), notCreated, "create_vm", spot(false)...)
		Expect(failed.OKToRetry).To(BeFalse())
		Expect(failed.Message).To(And(ContainSubstring("your price is too low"), ContainSubstring("spot_bid_price"), ContainSubstring("spot_ondemand_fallback")))
		Expect(aws.Calls().Of("RunInstances")).To(HaveLen(1))
		expectNothingLeft(ctx)
	})

	It("does not become one for a reason that on-demand launches have, too", func(ctx SpecContext) {
		aws.Add(proxy.Rule{Action: "RunInstances", Do: proxy.Fail(http.StatusBadRequest, "InvalidKeyPair.NotFound", "no key")})
		fail(ctx, director(), notCreated, "create_vm", spot(true)...)
		Expect(aws.Calls().Of("RunInstances")).To(HaveLen(1))
	})

	It("only after it began falls back as well, and leaves nothing of the first", func(ctx SpecContext) {
		withRegistry()
		cpi := director()
		cpi.StemcellAPIVersion = 1
		aws.Add(proxy.Rule{Action: "RunInstances", When: isSpot, Do: proxy.After(func(proxy.Call) {
			running := someoneElse(ctx, "DescribeInstances").All("reservationSet/item/instancesSet/item")
			someoneElse(ctx, "TerminateInstances", "InstanceId.1", running[0].Value("instanceId"))
		})})
		aws.Add(proxy.Rule{Action: "DescribeInstances", Nth: 2, Times: 1, Do: proxy.Rewrite(func(_ proxy.Call, root *query.Node) {
			for _, item := range root.All("reservationSet/item/instancesSet/item") {
				item.Set("stateReason/message", "Server.InsufficientInstanceCapacity: no room")
			}
		})})
		vm := succeed(ctx, cpi, "create_vm", spot(true)...).VM()
		Expect(registry.Content()).To(And(HaveLen(1), HaveKey(vm)))
		succeed(ctx, cpi, "delete_vm", vm)
		Expect(registry.Content()).To(BeEmpty())
		expectNothingLeft(ctx)
	})
})
