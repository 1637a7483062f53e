package badrequests_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"

	"bosh-aws-cpi/integration/driver"
)

var _ = Describe("a request that is no request", func() {
	invalid := func(what, request string, says ...string) bad {
		return bad{what: what, request: request, kind: invalidCall, says: says}
	}
	refusesUnasked(
		invalid("empty stdin", "", "empty", "method, arguments and context"),
		invalid("only blanks", " \r\n\t ", "empty"),
		invalid("no JSON", "make me a VM", "not valid JSON", "byte 1"),
		invalid("breaks off", `{"method":"info","argum`, "not valid JSON"),
		invalid("a comma too many", `{"method":"info","arguments":[],}`, "not valid JSON", "byte 33"),
		invalid("single quotes", `{'method':'info'}`, "not valid JSON"),
		invalid("NaN for a number", `{"method":"resize_disk","arguments":["vol-1",NaN]}`, "not valid JSON"),
		invalid("a raw line break in a string", "{\"method\":\"in\nfo\",\"arguments\":[]}", "not valid JSON"),
		invalid("a byte order mark", "\xef\xbb\xbf{\"method\":\"info\",\"arguments\":[]}", "not valid JSON"),
		invalid("two requests", `{"method":"info","arguments":[]}{"method":"info","arguments":[]}`, "not valid JSON"),
		invalid("nested without end", strings.Repeat("[", 20_000), "not valid JSON"),
		invalid("larger than 16 MiB", `{"method":"info","arguments":["`+strings.Repeat("x", 17<<20)+`"]}`, "16 MiB"),
		invalid("a list", `[]`, "a list", "expected an object"),
		invalid("a string", `"info"`, "a string", "expected an object"),
		invalid("null", `null`, "null", "expected an object"),
		invalid("a number", `1`, "a number", "expected an object"),
		invalid("an empty object", `{}`, "no method"),
		invalid("method missing", `{"arguments":[],"context":{}}`, "no method"),
		invalid("method null", `{"method":null,"arguments":[]}`, "no method"),
		invalid("method a number", `{"method":17,"arguments":[]}`, "method", "expected a string, got a number"),
		invalid("method a list", `{"method":["info"],"arguments":[]}`, "method", "expected a string, got a list"),
		invalid("arguments missing", `{"method":"info","context":{}}`, "no arguments"),
		invalid("arguments null", `{"method":"info","arguments":null}`, "no arguments"),
		invalid("arguments an object", `{"method":"has_vm","arguments":{"vm_cid":"i-1"}}`, "arguments", "expected a list, got an object"),
		invalid("arguments a string", `{"method":"has_vm","arguments":"i-1"}`, "arguments", "expected a list, got a string"),
		invalid("context a list", `{"method":"info","arguments":[],"context":[]}`, "context", "expected an object, got a list"),
		invalid("context a string", `{"method":"info","arguments":[],"context":"x"}`, "context", "expected an object, got a string"),
		invalid("director_uuid a number", `{"method":"info","arguments":[],"context":{"director_uuid":5}}`, "director_uuid", "expected a string, got a number"),
		invalid("request_id a list", `{"method":"info","arguments":[],"context":{"request_id":[]}}`, "request_id", "expected a string, got a list"),
		invalid("context.vm a string", `{"method":"info","arguments":[],"context":{"vm":"i-1"}}`, "context", "vm", "expected an object, got a string"),
		invalid("stemcell.api_version a string", `{"method":"info","arguments":[],"context":{"vm":{"stemcell":{"api_version":"3"}}}}`,
			"vm.stemcell.api_version", "expected a whole number, got a string"),
		invalid("api_version a string", `{"method":"info","arguments":[],"api_version":"2"}`, "api_version", "expected a whole number, got a string"),
		invalid("api_version 1.5", `{"method":"info","arguments":[],"api_version":1.5}`, "api_version", "expected a whole number"),
		invalid("api_version 0", `{"method":"info","arguments":[],"api_version":0}`, "api_version", "1 or more"),
		invalid("api_version -1", `{"method":"info","arguments":[],"api_version":-1}`, "api_version", "1 or more"),
		bad{what: "unknown method", method: "fly_away", kind: notImplemented, says: []string{"Method is not known, got: 'fly_away'"}},
		bad{what: "method in capitals", method: "INFO", kind: notImplemented, says: []string{"Method is not known, got: 'INFO'"}},
		bad{what: "a method of very many letters", method: strings.Repeat("a", 5000), kind: notImplemented, says: []string{"Method is not known, got: 'aaa"}},
		bad{what: "method empty", request: `{"method":"","arguments":[]}`, kind: notImplemented, says: []string{"Method is not known, got: ''"}},
		bad{what: "not supported by its nature", method: "configure_networks", arguments: []any{"{vm}", object{}}, kind: notSupported, says: []string{"new VM"}},
	)
})

// argument is one of a method's, with a value that is right.
type argument struct {
	name     string
	good     any
	optional bool
}

// signature is what a method takes.
type signature struct {
	method    string
	arguments []argument
	caller    func(*driver.CPI)
}

var (
	vmCID           = argument{name: "vm_cid", good: "{vm}"}
	diskCID         = argument{name: "disk_cid", good: "{disk}"}
	cloudProperties = argument{name: "cloud_properties", good: object{}}
	metadata        = argument{name: "metadata", good: object{}}
)

// signatures are those of the contract's table.
var signatures = []signature{
	{method: "info"},
	{method: "ping"},
	{method: "create_stemcell", arguments: []argument{{name: "image_path", good: "/image"}, cloudProperties}},
	{method: "create_stemcell", caller: as(3, 3), arguments: []argument{{name: "image_path", good: "/image"}, cloudProperties, {"env", object{}, true}}},
	{method: "delete_stemcell", arguments: []argument{{name: "stemcell_cid", good: "{image} light"}}},
	{method: "create_vm", arguments: []argument{
		{name: "agent_id", good: "agent"}, {name: "stemcell_cid", good: "{image} light"}, cloudProperties,
		{name: "networks", good: object{}}, {"disk_cids", []any{}, true}, {"env", object{}, true},
	}},
	{method: "delete_vm", arguments: []argument{vmCID}},
	{method: "reboot_vm", arguments: []argument{vmCID}},
	{method: "has_vm", arguments: []argument{vmCID}},
	{method: "has_disk", arguments: []argument{diskCID}},
	{method: "set_vm_metadata", arguments: []argument{vmCID, metadata}},
	{method: "calculate_vm_cloud_properties", arguments: []argument{{name: "desired_instance_size", good: object{}}}},
	{method: "create_disk", arguments: []argument{{name: "size", good: 1024}, cloudProperties, {"vm_cid", "{vm}", true}}},
	{method: "delete_disk", arguments: []argument{diskCID}},
	{method: "attach_disk", arguments: []argument{vmCID, diskCID}},
	{method: "detach_disk", arguments: []argument{vmCID, diskCID}},
	{method: "get_disks", arguments: []argument{vmCID}},
	{method: "resize_disk", arguments: []argument{diskCID, {name: "new_size", good: 4096}}},
	{method: "update_disk", arguments: []argument{diskCID, {name: "new_size", good: 4096}, cloudProperties}},
	{method: "set_disk_metadata", arguments: []argument{diskCID, metadata}},
	{method: "snapshot_disk", arguments: []argument{diskCID, metadata}},
	{method: "delete_snapshot", arguments: []argument{{name: "snapshot_cid", good: "snap-0123456789abcdef0"}}},
	{method: "create_network", arguments: []argument{{name: "subnet_definition", good: object{}}}},
	{method: "delete_network", arguments: []argument{{name: "network_cid", good: "{subnet}"}}},
	{method: "current_vm_id"},
	{method: "configure_networks", arguments: []argument{vmCID, {name: "networks", good: object{}}}},
}

// wrong is a value of another kind, and how expectation and value are called.
func wrong(good any) (value any, expected, got string) {
	switch good.(type) {
	case string:
		return 17, "a string", "a number"
	case int:
		return "much", "a whole number", "a string"
	case []any:
		return "vol-1", "a list", "a string"
	default:
		return []any{"x"}, "an object", "a list"
	}
}

var _ = Describe("a number of arguments that a method does not take", func() {
	for _, s := range signatures {
		good := s.good()
		refusesUnasked(s.invalid("one argument too many", append(s.good(), "more"), append(s.names(), fmt.Sprintf("got %d", len(good)+1))...))
		if required := s.required(); required > 0 {
			refusesUnasked(
				s.invalid("the last argument that is needed is missing", good[:required-1], append(s.names(), fmt.Sprintf("got %d", required-1))...),
			)
		}
		if s.required() > 1 {
			refusesUnasked(s.invalid("no arguments", []any{}, append(s.names(), "got 0")...))
		}
	}
})

var _ = Describe("an argument of another kind", func() {
	for _, s := range signatures {
		for i, a := range s.arguments {
			value, expected, got := wrong(a.good)
			where := fmt.Sprintf("argument %d (%s)", i+1, a.name)
			refusesUnasked(s.invalid(a.name+" is "+got, s.with(i, value), where, "expected "+expected+", got "+got))
			if !a.optional {
				refusesUnasked(s.invalid(a.name+" is null", s.with(i, nil), where, "expected "+expected+", got null"))
			}
			if _, text := a.good.(string); text && !a.optional {
				refusesUnasked(s.invalid(a.name+" is empty", s.with(i, ""), where, "not empty"))
			}
		}
	}
	refusesUnasked(
		bad{what: "disk_cids holds null", method: "create_vm", arguments: createVM{disks: []any{nil}}.arguments(), kind: invalidCall, says: []string{"argument 5 (disk_cids)", "null or an empty string"}},
		bad{what: "disk_cids holds an empty string", method: "create_vm", arguments: createVM{disks: []any{"{disk}", ""}}.arguments(), kind: invalidCall, says: []string{"argument 5 (disk_cids)", "empty"}},
		bad{what: "disk_cids holds a number", method: "create_vm", arguments: createVM{disks: []any{5}}.arguments(), kind: invalidCall, says: []string{"argument 5 (disk_cids)", "expected a string, got a number"}},
		bad{what: "size 0", method: "create_disk", arguments: []any{0, object{}}, kind: invalidCall, says: []string{"argument 1 (size)", "above 0"}},
		bad{what: "size negative", method: "create_disk", arguments: []any{-1024, object{}}, kind: invalidCall, says: []string{"argument 1 (size)", "above 0"}},
		bad{what: "size 1.5", method: "create_disk", arguments: []any{1.5, object{}}, kind: invalidCall, says: []string{"argument 1 (size)", "expected a whole number"}},
		bad{what: "size beyond all numbers", request: `{"method":"create_disk","arguments":[1e40,{}]}`, kind: invalidCall, says: []string{"create_disk", "argument 1 (size)", "expected a whole number"}},
		bad{what: "new_size 0", method: "resize_disk", arguments: []any{"{disk}", 0}, kind: invalidCall, says: []string{"argument 2 (new_size)", "above 0"}},
		bad{what: "new_size negative", method: "update_disk", arguments: []any{"{disk}", -1, object{}}, kind: invalidCall, says: []string{"argument 2 (new_size)", "above 0"}},
	)
})

func (s signature) invalid(what string, arguments []any, says ...string) bad {
	return bad{what: what, method: s.method, arguments: arguments, caller: s.caller, kind: invalidCall, says: says, sample: true}
}

func (s signature) good() []any {
	all := []any{}
	for _, a := range s.arguments {
		all = append(all, a.good)
	}
	return all
}

// with are the right arguments but for one.
func (s signature) with(i int, value any) []any {
	all := s.good()
	all[i] = value
	return all
}

func (s signature) required() int {
	count := 0
	for i, a := range s.arguments {
		if !a.optional {
			count = i + 1
		}
	}
	return count
}

func (s signature) names() []string {
	var all []string
	for _, a := range s.arguments {
		all = append(all, a.name)
	}
	return all
}
