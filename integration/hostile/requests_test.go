package hostile_test

import (
	"bytes"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/life"
)

// large is a text of 10 MiB, which is as much as a request may hold and more
// than any has.
var large = strings.Repeat("large    ", 10<<20/9)

// nested is JSON of so many levels.
func nested(levels int) string {
	return strings.Repeat(`{"a":[`, levels/2) + "1" + strings.Repeat("]}", levels/2)
}

// request is one for a method with its arguments as JSON text.
func request(method, arguments, context string) []byte {
	return fmt.Appendf(nil, `{"method":%q,"arguments":[%s],"context":{"director_uuid":"d","vm":{"stemcell":{"api_version":3}}%s},"api_version":2}`, method, arguments, context)
}

var _ = Describe("A request of 10 MB", func() {
	It("is answered where its size does not matter", func(ctx SpecContext) {
		outcome := director().Send(ctx, request("has_disk", `"`+noDisk+`"`, fmt.Sprintf(`,"unknown":%q`, large)))
		succeeds("10 MB in an unknown key of the context", outcome)
		Expect(string(outcome.Response.Result)).To(Equal("false"))
	}, SpecTimeout(specLimit))

	It("is refused before anything is asked of AWS where it does", func(ctx SpecContext) {
		refuses("10 MB of env", director().Call(ctx, "create_vm", vmArguments(nil, map[string]any{"bosh": map[string]any{"text": large}})...),
			cloudError, "EC2 takes 16384", "create_vm")
		Expect(aws.Calls()).To(BeEmpty())
	}, SpecTimeout(specLimit))

	It("is cut where AWS takes only so much", func(ctx SpecContext) {
		vm := director().Call(ctx, "create_vm", vmArguments(nil, nil)...).VM()
		succeeds("10 MB of metadata", director().Call(ctx, "set_vm_metadata", vm, map[string]any{"name": "api/0", "large": large}))
	}, SpecTimeout(specLimit))

	It("may be for nothing but its method's name", func(ctx SpecContext) {
		refuses("a method's name of 10 MB", director().Send(ctx, request(large, "", "")), notImplemented, "Method is not known, got: 'large")
	}, SpecTimeout(specLimit))

	It("may be for nothing but the id of a disk", func(ctx SpecContext) {
		refuses("a disk cid of 10 MB", director().Call(ctx, "has_disk", large), invalidCall, "argument 1 (disk_cid)", "at most")
	}, SpecTimeout(specLimit))

	It("may be a million arguments", func(ctx SpecContext) {
		refuses("a million arguments", director().Send(ctx, request("has_disk", strings.Repeat("1,", 1_000_000)+"1", "")), invalidCall, "has_disk", "got 1000001")
	}, SpecTimeout(specLimit))

	It("may be half a million keys", func(ctx SpecContext) {
		var keys strings.Builder
		for n := range 500_000 {
			fmt.Fprintf(&keys, `,"k%d":{}`, n)
		}
		succeeds("half a million keys in the context", director().Send(ctx, request("has_disk", `"`+noDisk+`"`, keys.String())))
	}, SpecTimeout(specLimit))
})

var _ = Describe("Deep JSON", func() {
	DescribeTable("is refused for what it is",
		func(ctx SpecContext, what string, sent []byte) {
			refuses(what, director().Send(ctx, sent), invalidCall, "depth")
		},
		Entry("an argument", SpecTimeout(specLimit), "100 000 levels in an argument", request("has_disk", nested(100_000), "")),
		Entry("the context", SpecTimeout(specLimit), "100 000 levels in the context", request("has_disk", `"vol-1"`, `,"a":`+nested(100_000))),
		Entry("the request", SpecTimeout(specLimit), "1 000 000 levels of lists", []byte(strings.Repeat("[", 1_000_000)+strings.Repeat("]", 1_000_000))),
	)

	It("is as good as any other as far as JSON is read", func(ctx SpecContext) {
		succeeds("9 000 levels in an unknown key", director().Send(ctx, request("has_disk", `"`+noDisk+`"`, `,"a":`+nested(9_000))))
		refuses("9 000 levels for a cid", director().Send(ctx, request("has_disk", nested(9_000), "")), invalidCall, "argument 1", "expected a string, got an object")
	}, SpecTimeout(specLimit))
})

var _ = Describe("1000 networks", func() {
	networks := func(each func(n int) map[string]any) any {
		var pairs []any
		for n := range 1000 {
			pairs = append(pairs, fmt.Sprintf("network-%d", n), each(n))
		}
		return driver.Object(pairs...)
	}
	DescribeTable("are refused before anything is asked of AWS",
		func(ctx SpecContext, what string, each func(int) map[string]any, says ...string) {
			outcome := director().Call(ctx, "create_vm", vmArguments(networks(each), nil)...)
			answered(what, outcome)
			Expect(outcome.Response.Error).NotTo(BeNil())
			for _, text := range says {
				Expect(outcome.Response.Error.Message).To(ContainSubstring(text))
			}
			Expect(len(outcome.Response.Error.Message)).To(BeNumerically("<", 4<<10))
			Expect(aws.Calls()).To(BeEmpty())
		},
		Entry("each with its NIC", SpecTimeout(specLimit), "1000 manual networks, each with its NIC", func(n int) map[string]any { return life.Network(account, 10+n%200) }, "create_vm"),
		Entry("all on one NIC", SpecTimeout(specLimit), "1000 manual networks on one NIC", func(n int) map[string]any {
			network := life.Network(account, 10+n%200)
			network["nic_group"] = "1"
			return network
		}, "create_vm", "nic_group"),
		Entry("all dynamic", SpecTimeout(specLimit), "1000 dynamic networks", func(int) map[string]any {
			return map[string]any{"type": "dynamic", "cloud_properties": map[string]any{"subnet": account.Subnets[0].ID}}
		}, "create_vm"),
		Entry("all elastic IPs", SpecTimeout(specLimit), "999 vip networks and a manual one", func(n int) map[string]any {
			if n == 0 {
				return life.Network(account, 10)
			}
			return map[string]any{"type": "vip", "ip": account.ElasticIP.IP}
		}, "create_vm", "vip"),
	)
})

var _ = Describe("Invalid UTF-8", func() {
	const broken = "\xff\xfe\xc3("
	It("is answered in valid UTF-8 when it is in a method's name", func(ctx SpecContext) {
		refuses("invalid UTF-8 in the method's name", director().Send(ctx, bytes.ReplaceAll(request("x", "", ""), []byte(`"x"`), []byte(`"`+broken+`"`))), notImplemented, "Method is not known")
	}, SpecTimeout(specLimit))

	It("is answered in valid UTF-8 when it is in a cid", func(ctx SpecContext) {
		answered("invalid UTF-8 in a cid", director().Send(ctx, request("has_disk", `"vol-`+broken+`"`, "")))
	}, SpecTimeout(specLimit))

	It("is answered in valid UTF-8 when it is in the context", func(ctx SpecContext) {
		succeeds("invalid UTF-8 in the request id", director().Send(ctx, request("has_disk", `"`+noDisk+`"`, `,"request_id":"`+broken+`"`)))
	}, SpecTimeout(specLimit))

	It("is answered in valid UTF-8 when it is in a network that the result repeats", func(ctx SpecContext) {
		networks := fmt.Sprintf(`{"net":{"type":"manual","ip":%q,"netmask":%q,"gateway":%q,"cloud_properties":{"subnet":%q},"note":"%s","%s":1}}`,
			account.Subnets[0].IP(10), account.Subnets[0].Netmask(), account.Subnets[0].Gateway(), account.Subnets[0].ID, broken, broken)
		properties := fmt.Sprintf(`{"instance_type":"m5.large","availability_zone":%q,"security_groups":[%q],"tags":{"a":"%s"}}`, account.Subnets[0].Zone, account.Groups[0].ID, broken)
		arguments := fmt.Sprintf(`"agent","%s light",%s,%s,[],{"bosh":{"x":"%s"}}`, account.Image, properties, networks, broken)
		succeeds("invalid UTF-8 in networks, tags and env", director().Send(ctx, request("create_vm", arguments, "")))
	}, SpecTimeout(specLimit))

	It("is answered in valid UTF-8 when it stands for half a character", func(ctx SpecContext) {
		answered("half of a surrogate pair in a cid", director().Send(ctx, request("has_disk", `"vol-\ud800"`, "")))
	}, SpecTimeout(specLimit))
})
