package canary_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/fakeregistry"
	"bosh-aws-cpi/integration/proxy"
)

// fresh lets each spec start from nothing.
func fresh(ctx context.Context) {
	GinkgoHelper()
	w.proxy.Reset()
	w.registry.Clear()
	w.registry.FailWith(nil)
	Expect(w.moto.Reset(ctx)).To(Succeed())
	var err error
	w.account, err = w.moto.NewAccount(ctx, "")
	Expect(err).NotTo(HaveOccurred())
}

// userData is what the last launch told its agent.
func userData() string {
	GinkgoHelper()
	launches := w.proxy.Calls().Of("RunInstances")
	Expect(launches).NotTo(BeEmpty())
	decoded, err := base64.StdEncoding.DecodeString(launches[len(launches)-1].Param("UserData"))
	Expect(err).NotTo(HaveOccurred())
	return string(decoded)
}

var agentSecrets = []string{
	"agent.mbus", "agent.blobstore.options.secret", "agent.extra[]",
	"env.bosh.password", "env.bosh.mbus.cert.private_key", "env.bosh.blobstores[].options", "env of an operator's own",
}

var _ = Describe("a canary", func() {
	BeforeEach(fresh)

	It("flies: what is planted gets to where it belongs", func(ctx SpecContext) {
		plain, registry, unused := modes[0], modes[1], modes[2]
		succeed(ctx, cpi(plain, config(plain)), "create_vm", createVM(20, nil)...)
		for _, place := range agentSecrets {
			Expect(userData()).To(ContainSubstring(secret(place)), place)
		}
		assumed := w.proxy.Calls().Of("AssumeRole")
		Expect(assumed).To(HaveLen(1))
		Expect(assumed[0].Param("ExternalId")).To(Equal(secret("aws.external_id")))
		Expect(assumed[0].HasSessionToken).To(BeTrue())

		succeed(ctx, cpi(unused, config(unused)), "create_vm", createVM(21, nil)...)
		Expect(userData()).To(ContainSubstring(secret("env.bosh.password")))
		Expect(userData()).To(ContainSubstring(secret("registry.endpoint user") + ":" + secret("registry.endpoint password")))

		vm := succeed(ctx, cpi(registry, config(registry)), "create_vm", createVM(22, nil)...).VM()
		Expect(userData()).To(ContainSubstring(secret("registry.endpoint password")))
		for _, place := range agentSecrets {
			Expect(w.registry.Content()[vm]).To(ContainSubstring(secret(place)), place)
		}
	})

	for _, m := range modes {
		Describe(m.name, func() {
			It("is not to be seen when every method succeeds", func(ctx SpecContext) {
				c := cpi(m, config(m))
				all := everyMethod()
				succeeded := life(ctx, c)
				for _, one := range all {
					if one.method != "configure_networks" { // which always fails
						Expect(succeeded).To(ContainElement(one.method))
					}
				}
			})

			for _, refused := range refusals {
				It("is not to be seen when every method fails: "+refused.name, func(ctx SpecContext) {
					w.proxy.Add(proxy.Rule{Do: refused.effect})
					failEveryMethod(ctx, cpi(m, config(m)))
				})
			}

			It("is not to be seen when AWS fails in all but AssumeRole", func(ctx SpecContext) {
				for _, refused := range refusals {
					w.proxy.ClearRules()
					w.proxy.Add(proxy.Rule{When: func(c proxy.Call) bool { return c.Action != "AssumeRole" }, Do: refused.effect})
					try := fail
					if refused.vague {
						try = attempt
					}
					tryEveryMethod(ctx, cpi(m, config(m)), try)
				}
			})

			It("is not to be seen when nobody answers", func(ctx SpecContext) {
				broken := config(m)
				broken.Endpoint = "http://127.0.0.1:1"
				failEveryMethod(ctx, cpi(m, broken))
			})

			It("is not to be seen when the arguments are wrong", func(ctx SpecContext) {
				c := cpi(m, config(m))
				for _, one := range everyMethod() {
					// The env in every place where it does not belong.
					fail(ctx, c, one.method, append(slices.Clone(one.arguments), env(), env())...)
					for i, right := range one.arguments {
						wrong := slices.Clone(one.arguments)
						wrong[i] = misplaced(right)
						fail(ctx, c, one.method, wrong...)
					}
				}
			})

			It("is not to be seen when a VM is undone", func(ctx SpecContext) {
				c := cpi(m, config(m))
				unknownGroup := map[string]any{"lb_target_groups": []string{w.account.TargetGroup.ARN + "0"}}
				Expect(fail(ctx, c, "create_vm", createVM(20, unknownGroup)...).Stderr).To(ContainSubstring("undone: instance"))
				w.proxy.Add(proxy.Rule{Action: "TerminateInstances", Do: proxy.Fail(500, "InternalError", "An internal error has occurred")})
				failed := fail(ctx, c, "create_vm", createVM(21, unknownGroup)...)
				Expect(failed.Response.Error.Message).To(ContainSubstring("could not be undone"))
			})

			It("is not to be seen when the VM dies", func(ctx SpecContext) {
				w.proxy.Add(proxy.Rule{Action: "DescribeInstances", Times: 1, Do: proxy.ShowInstance("terminated", "Server.InternalError", "Internal error on launch")})
				fail(ctx, cpi(m, config(m)), "create_vm", createVM(20, nil)...)
			})

			It("is not to be seen when the launch is refused", func(ctx SpecContext) {
				for _, code := range []string{"InvalidParameterValue", "InvalidUserData.Malformed", "UnauthorizedOperation", "SignatureDoesNotMatch"} {
					w.proxy.ClearRules()
					w.proxy.Add(proxy.Rule{Action: "RunInstances", Do: proxy.Fail(400, code, "refused")})
					fail(ctx, cpi(m, config(m)), "create_vm", createVM(20, nil)...)
				}
			})

			It("is not to be seen when the call is interrupted", func(ctx SpecContext) {
				c := cpi(m, config(m))
				launched := make(chan struct{})
				w.proxy.SetDelays(proxy.Delays{InstanceRunning: time.Minute})
				w.proxy.Add(proxy.Rule{Action: "DescribeInstances", Times: 1, Do: proxy.After(func(proxy.Call) { close(launched) })})
				request, err := c.Request("create_vm", createVM(20, nil)...)
				Expect(err).NotTo(HaveOccurred())
				running, err := c.Start(ctx, request)
				Expect(err).NotTo(HaveOccurred())
				Eventually(ctx, launched).Should(BeClosed())
				Expect(running.Signal(syscall.SIGTERM)).To(Succeed())
				outcome := running.Wait()
				expectNoLeak("create_vm", outcome)
				Expect(outcome.Response.Error.Message).To(ContainSubstring("SIGTERM"))
			})

			It("is not to be seen when the user data is too large", func(ctx SpecContext) {
				arguments := createVM(20, nil)
				large := env()
				large["large"] = strings.Repeat(secret("env of an operator's own"), 1000)
				arguments[5] = large
				outcome := attempt(ctx, cpi(m, config(m)), "create_vm", arguments...)
				if m.api > 1 { // else it goes to the registry, which takes it
					Expect(outcome.Response.Error.Message).To(ContainSubstring("16384"))
				}
			})
		})
	}
})

// refusal is a way in which AWS, or what stands before it, fails.
type refusal struct {
	name   string
	effect proxy.Effect
	vague  bool // a method may take it for a success
}

var refusals = []refusal{
	{name: "AWS refuses", effect: proxy.Fail(400, "UnauthorizedOperation", "You are not authorized to perform this operation.")},
	{name: "AWS fails", effect: proxy.Fail(500, "InternalError", "An internal error has occurred")},
	{name: "the signature does not match", effect: proxy.Fail(403, "SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided.")},
	{name: "a proxy's page", effect: proxy.HTML(502)},
	{name: "a login page", effect: proxy.HTML(200)},
	{name: "garbage", effect: proxy.Reply(200, "text/xml", "\x00\x01 no XML")},
	{name: "XML that breaks off", effect: proxy.Reply(200, "text/xml", "<Response><a"), vague: true},
	{name: "JSON", effect: proxy.Reply(500, "application/json", `{"message":"Internal Server Error"}`)},
	{name: "dropped connections", effect: proxy.DropRequest()},
	{name: "an empty answer", effect: proxy.Reply(200, "text/xml", ""), vague: true},
	{name: "a redirect elsewhere", effect: proxy.Reply(302, "text/html", "moved")},
}

// failEveryMethod calls every method while AWS is broken. Those that do not ask
// it are given arguments that they cannot take.
func failEveryMethod(ctx context.Context, c driver.CPI) { tryEveryMethod(ctx, c, fail) }

func tryEveryMethod(ctx context.Context, c driver.CPI, try func(context.Context, driver.CPI, string, ...any) driver.Outcome) {
	GinkgoHelper()
	for _, one := range everyMethod() {
		if slices.Contains(offline, one.method) {
			one.arguments = append(one.arguments, env())
		}
		try(ctx, c, one.method, one.arguments...)
	}
}

// misplaced is the env, in a form that does not fit where something else
// belongs.
func misplaced(right any) any {
	switch right.(type) {
	case string, int, []any, []string:
		return env()
	default:
		return []any{env()}
	}
}

// life calls every method with success, but for configure_networks, and tells
// which ones it called.
func life(ctx context.Context, c driver.CPI) []string {
	GinkgoHelper()
	var called []string
	do := func(method string, arguments ...any) driver.Outcome {
		GinkgoHelper()
		called = append(called, method)
		return succeed(ctx, c, method, arguments...)
	}
	none := map[string]any{}
	do("info")
	do("ping")
	do("current_vm_id")
	do("calculate_vm_cloud_properties", map[string]any{"cpu": 1, "ram": 1024, "ephemeral_disk_size": 1024})
	stemcell := do("create_stemcell", "/image", map[string]any{"ami": map[string]any{w.account.Region: w.account.Image}}).Text()
	vm := do("create_vm", createVM(20, map[string]any{"lb_target_groups": []string{w.account.TargetGroup.Name}, "elbs": []string{w.account.LoadBalancer}})...).VM()
	do("has_vm", vm)
	do("set_vm_metadata", vm, map[string]any{"job": "a", "index": 0})
	disk := do("create_disk", 1024, none, vm).Text()
	do("has_disk", disk)
	do("set_disk_metadata", disk, map[string]any{"a": "b"})
	do("attach_disk", vm, disk)
	do("get_disks", vm)
	snapshot := do("snapshot_disk", disk, map[string]any{"deployment": "cf"}).Text()
	do("delete_snapshot", snapshot)
	do("detach_disk", vm, disk)
	do("resize_disk", disk, 2048)
	do("update_disk", disk, 3072, map[string]any{"type": "gp3", "iops": 4000})
	do("delete_disk", disk)
	do("reboot_vm", vm)
	do("delete_vm", vm)
	do("delete_stemcell", stemcell)
	var network []any
	Expect(do("create_network", map[string]any{"range": "10.0.64.0/24", "cloud_properties": map[string]any{
		"vpc": w.account.VPC, "availability_zone": w.account.Subnets[0].Zone}}).Decode(&network)).To(Succeed())
	do("delete_network", network[0])
	return called
}

var _ = Describe("the canaries of a registry", func() {
	BeforeEach(fresh)
	m := modes[1]

	// failRegistry makes the calls that need the registry, which is broken.
	failRegistry := func(ctx context.Context, c driver.CPI, vm, disk string) {
		GinkgoHelper()
		fail(ctx, c, "create_vm", createVM(30, nil)...)
		fail(ctx, c, "attach_disk", vm, disk)
		attempt(ctx, c, "detach_disk", vm, disk)
		fail(ctx, c, "delete_vm", someVM)
	}
	furnished := func(ctx context.Context) (vm, disk string) {
		GinkgoHelper()
		working := cpi(m, config(m))
		vm = succeed(ctx, working, "create_vm", createVM(20, nil)...).VM()
		disk = succeed(ctx, working, "create_disk", 1024, map[string]any{}, vm).Text()
		return vm, disk
	}

	for _, status := range []int{400, 401, 403, 302, 500, 503} {
		It("are not to be seen when it answers "+http.StatusText(status), func(ctx SpecContext) {
			vm, disk := furnished(ctx)
			w.registry.FailWith(func(fakeregistry.Request) int { return status })
			failRegistry(ctx, cpi(m, config(m)), vm, disk)
		})
	}

	It("are not to be seen when it cannot be reached", func(ctx SpecContext) {
		vm, disk := furnished(ctx)
		for _, host := range []string{"127.0.0.1:1", "registry.invalid", "127.0.0.1:99999"} {
			broken := config(m)
			broken.Registry.Endpoint = withUser("http://"+host, secret("registry.endpoint user"), secret("registry.endpoint password"))
			failRegistry(ctx, cpi(m, broken), vm, disk)
		}
	})

	It("are not to be seen when its endpoint is no URL", func(ctx SpecContext) {
		for _, endpoint := range []string{
			secret("registry.endpoint password"), "user:" + secret("registry.endpoint password") + "@host:25777",
			"http://user:" + secret("registry.endpoint password") + "@[::1", "http://user:" + secret("registry.endpoint password") + "@host:port",
			"http://user:" + secret("registry.endpoint password") + "%zz@host", "ftp://user:" + secret("registry.endpoint password") + "@host",
			"http://user:" + secret("registry.endpoint password") + " @host\x7f",
		} {
			broken := config(m)
			broken.Registry.Endpoint = endpoint
			for _, one := range everyMethod() {
				outcome := cpi(m, broken).Call(ctx, one.method, one.arguments...)
				expectNoLeak(one.method, outcome)
				if !slices.Contains(offline, one.method) {
					Expect(outcome.ErrorType()).To(Equal("Bosh::Clouds::CpiError"))
				}
			}
		}
	})

	It("are not to be seen when its credentials are in the endpoint alone", func(ctx SpecContext) {
		inEndpoint, err := fakeregistry.Start(secret("registry.endpoint user"), secret("registry.endpoint password"))
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(inEndpoint.Close)
		alone := config(m)
		alone.Registry = &driver.Registry{Endpoint: withUser(inEndpoint.URL, inEndpoint.User, inEndpoint.Password)}
		life(ctx, cpi(m, alone))
		vm, disk := furnished(ctx)
		inEndpoint.FailWith(func(fakeregistry.Request) int { return http.StatusUnauthorized })
		failRegistry(ctx, cpi(m, alone), vm, disk)
	})

	It("are not to be seen when its settings are broken", func(ctx SpecContext) {
		vm, disk := furnished(ctx)
		broken := http.NewServeMux()
		content := ""
		broken.HandleFunc("/", func(answer http.ResponseWriter, _ *http.Request) { _, _ = answer.Write([]byte(content)) })
		server := httptest.NewServer(broken)
		DeferCleanup(server.Close)
		c := config(m)
		c.Registry.Endpoint = withUser(server.URL, secret("registry.endpoint user"), secret("registry.endpoint password"))
		settings := func(text string) string {
			envelope, err := json.Marshal(map[string]string{"settings": text})
			Expect(err).NotTo(HaveOccurred())
			return string(envelope)
		}
		for _, content = range []string{
			secret("env.bosh.password"), `{"settings":` + secret("a key that YAML made a number") + `}`, `{"settings":["` + secret("env.bosh.password") + `"]}`,
			settings(`{"env":"` + secret("env.bosh.password")), settings(`{"disks":"` + secret("agent.mbus") + `"}`),
			settings(`{"disks":{"persistent":` + secret("a key that YAML made a fraction") + `}}`),
		} {
			fail(ctx, cpi(m, c), "attach_disk", vm, disk)
			attempt(ctx, cpi(m, c), "detach_disk", vm, disk)
		}
	})
})
