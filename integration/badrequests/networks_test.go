package badrequests_test

import (
	. "github.com/onsi/ginkgo/v2"
)

var _ = Describe("a network that cannot be made", func() {
	definition := func(what string, changes []any, says ...string) bad {
		return bad{what: what, method: "create_network", kind: cloudError, says: says, arguments: []any{altered(object{
			"type": "manual", "range": "10.0.64.0/24", "cloud_properties": object{"vpc": "{vpc}", "availability_zone": "{zone}"},
		}, changes)}}
	}
	properties := func(changes ...any) []any {
		return []any{"cloud_properties", altered(object{"vpc": "{vpc}", "availability_zone": "{zone}"}, changes)}
	}
	set := func(changes ...any) []any { return changes }
	refusesUnasked(
		definition("type dynamic", set("type", "dynamic"), "type", "manual", `"dynamic"`),
		definition("cloud_properties missing", set("cloud_properties", nil), "cloud_properties.vpc is missing"),
		definition("cloud_properties a string", set("cloud_properties", "{vpc}"), "cloud_properties", "expected an object, got a string"),
		definition("vpc missing", properties("vpc", nil), "cloud_properties.vpc is missing"),
		definition("vpc a list", properties("vpc", []any{}), "cloud_properties.vpc", "expected a string, got a list"),
		definition("availability_zone missing", properties("availability_zone", nil), "cloud_properties.availability_zone is missing"),
		definition("tags a list", properties("tags", []any{}), "cloud_properties.tags", "expected an object, got a list"),
		definition("neither range nor netmask_bits", set("range", nil), "range", "netmask_bits"),
		definition("range a number", set("range", 24), "range", "expected a string, got a number"),
		definition("range an address", set("range", "10.0.64.0"), "range", "10.0.16.0/24", `"10.0.64.0"`),
		definition("range with host bits", set("range", "10.0.64.1/24"), "range", `"10.0.64.1/24"`),
		definition("range of IPv6", set("range", "2600::/64"), "range", "IPv4"),
		definition("range too small", set("range", "10.0.64.0/29"), "range", "/16", "/28", "/29"),
		definition("range too large", set("range", "10.0.0.0/8"), "range", "/16", "/28", "/8"),
		definition("netmask_bits too many", set("range", nil, "netmask_bits", 30), "netmask_bits", "/16", "/28", "/30"),
		definition("netmask_bits negative", set("range", nil, "netmask_bits", -1), "netmask_bits", "/16", "/28"),
		definition("netmask_bits a string", set("range", nil, "netmask_bits", "24"), "netmask_bits", "expected a whole number, got a string"),
		definition("gateway that is not AWS's", set("gateway", "10.0.64.254"), "gateway", "10.0.64.1", `"10.0.64.254"`),
		definition("gateway a word", set("gateway", "here"), "gateway", "10.0.64.1", `"here"`),
	)
	late := func(b bad) bad {
		b.undone = true
		return b
	}
	refuses(
		definition("unknown VPC", properties("vpc", "vpc-0123456789abcdef0"), "vpc-0123456789abcdef0"),
		definition("unknown VPC, size wanted", append(properties("vpc", "vpc-0123456789abcdef0"), "range", nil, "netmask_bits", 24), "vpc-0123456789abcdef0"),
		definition("unknown zone", properties("availability_zone", "{region}z"), "{region}z"),
		definition("range that is taken", set("range", "{subnet range}"), "{subnet range}", "InvalidSubnet.Conflict"),
		definition("range outside of the VPC", set("range", "192.168.7.0/24"), "192.168.7.0/24", "InvalidSubnet.Range"),
		definition("VPC without room", set("range", nil, "netmask_bits", 16), "{vpc}", "/16", "CIDR block"),
		late(definition("unknown route table", properties("route_table", "rtb-0123456789abcdef0"), "rtb-0123456789abcdef0")),
		bad{what: "unknown subnet", method: "delete_network", arguments: []any{"subnet-0123456789abcdef0"}, kind: networkNotFound, says: []string{"subnet-0123456789abcdef0"}},
		bad{what: "subnet in use", method: "delete_network", arguments: []any{"{subnet}"}, kind: cloudError, says: []string{"{subnet}", "DependencyViolation", "still uses it"}},
	)
})

var _ = Describe("a stemcell that cannot be", func() {
	stemcell := func(what string, properties object, says ...string) bad {
		return bad{what: what, method: "create_stemcell", arguments: []any{"/image", properties}, kind: cloudError, says: says}
	}
	refusesUnasked(
		stemcell("no such image file", object{"name": "bosh-aws", "version": "1", "disk": 3072}, "image_path", "/image", "no such file"),
		stemcell("ami a string", object{"ami": "{image}"}, "cloud_properties.ami", "expected an object, got a string"),
		stemcell("ami of a region empty", object{"ami": object{"{region}": ""}}, "cloud_properties.ami", "{region}"),
		stemcell("ami of a region a number", object{"ami": object{"{region}": 1}}, "cloud_properties.ami", "expected a string, got a number"),
		stemcell("encrypted a string", object{"ami": object{"{region}": "{image}"}, "encrypted": "yes"}, "cloud_properties.encrypted", "expected true or false, got a string"),
		stemcell("key without encryption", object{"ami": object{"{region}": "{image}"}, "kms_key_arn": "arn:aws:kms:x"}, "cloud_properties.kms_key_arn", "encrypted"),
		stemcell("tags a list", object{"ami": object{"{region}": "{image}"}, "tags": []any{"a"}}, "cloud_properties.tags", "expected an object, got a list"),
		bad{what: "env.tags a string", method: "create_stemcell", caller: as(3, 3), arguments: []any{"/image", object{"ami": object{"{region}": "{image}"}}, object{"tags": "a"}},
			kind: cloudError, says: []string{"env.tags", "expected an object, got a string"}},
	)
	refuses(
		stemcell("unknown image", object{"ami": object{"{region}": "ami-0123456789abcdef0"}}, "{region}"),
		stemcell("no image for the region", object{"ami": object{"eu-west-1": "ami-0123456789abcdef0", "sa-east-1": "ami-0123456789abcdef1"}}, "{region}", "eu-west-1, sa-east-1"),
		bad{what: "image in use", method: "delete_stemcell", arguments: []any{"{image}"}, kind: cloudError,
			rules: refusing("DeregisterImage", 403, "AuthFailure", "Not authorized for the image"), says: []string{"{image}", "AuthFailure"}},
	)
})

var _ = Describe("a VM size that cannot be", func() {
	size := func(what string, changes []any, kind string, says ...string) bad {
		return bad{what: what, method: "calculate_vm_cloud_properties", kind: kind, says: says,
			arguments: []any{altered(object{"cpu": 1, "ram": 1024, "ephemeral_disk_size": 10240}, changes)}}
	}
	set := func(changes ...any) []any { return changes }
	refusesUnasked(
		size("cpu missing", set("cpu", nil), cloudError, "cpu is missing"),
		size("ram missing", set("ram", nil), cloudError, "ram is missing"),
		size("ephemeral_disk_size missing", set("ephemeral_disk_size", nil), cloudError, "ephemeral_disk_size is missing"),
		size("cpu 0", set("cpu", 0), cloudError, "cpu", "above 0"),
		size("ram negative", set("ram", -1), cloudError, "ram", "above 0"),
		size("cpu a string", set("cpu", "two"), invalidCall, "argument 1 (desired_instance_size)", "cpu", "expected a whole number, got a string"),
		size("ram 1.5", set("ram", 1.5), invalidCall, "argument 1 (desired_instance_size)", "ram", "expected a whole number"),
		size("more CPUs than any type has", set("cpu", 100_000), cloudError, "100000", "largest", "instance_type"),
		size("more RAM than any type has", set("ram", 1<<40), cloudError, "largest", "instance_type"),
		size("ephemeral disk above 64 TiB", set("ephemeral_disk_size", 64<<20+1), cloudError, "ephemeral_disk_size", "64 TiB"),
	)
})
