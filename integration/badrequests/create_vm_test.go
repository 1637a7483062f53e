package badrequests_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/proxy"
)

// createVM are the arguments of create_vm; what is nil is as it should be.
type createVM struct {
	stemcell   any
	properties object
	networks   any
	disks      any
	env        any
}

func (vm createVM) arguments() []any {
	if vm.stemcell == nil {
		vm.stemcell = "{image} light"
	}
	if vm.properties == nil {
		vm.properties = properties()
	}
	if vm.networks == nil {
		vm.networks = oneNetwork(manual())
	}
	if vm.disks == nil {
		vm.disks = []any{}
	}
	if vm.env == nil {
		vm.env = object{"bosh": object{"password": "x"}}
	}
	return []any{"agent-1", vm.stemcell, vm.properties, vm.networks, vm.disks, vm.env}
}

// properties are a VM's cloud properties, some of them replaced; nil takes one
// out.
func properties(changes ...any) object {
	return altered(object{
		"instance_type": "t3.micro", "availability_zone": "{zone}", "security_groups": []any{"{group}"},
	}, changes)
}

// manual is a manual network, some of its keys replaced.
func manual(changes ...any) object {
	return altered(object{
		"type": "manual", "ip": "{ip}", "netmask": "{netmask}", "gateway": "{gateway}",
		"dns": []any{"10.0.0.2"}, "default": []any{"dns", "gateway"}, "cloud_properties": object{"subnet": "{subnet}"},
	}, changes)
}

func oneNetwork(network any) any { return driver.Object("default", network) }

func altered(in object, changes []any) object {
	for i := 0; i+1 < len(changes); i += 2 {
		key := changes[i].(string)
		in[key] = changes[i+1]
		if changes[i+1] == nil {
			delete(in, key)
		}
	}
	return in
}

// withProperties is a create_vm that is wrong in its cloud properties.
func withProperties(what string, changed object, says ...string) bad {
	return bad{what: what, method: "create_vm", arguments: createVM{properties: changed}.arguments(), kind: cloudError, says: says}
}

func withNetworks(what string, networks any, says ...string) bad {
	return bad{what: what, method: "create_vm", arguments: createVM{networks: networks}.arguments(), kind: cloudError, says: says}
}

func withEnv(what string, env any, says ...string) bad {
	return bad{what: what, method: "create_vm", arguments: createVM{env: env}.arguments(), kind: cloudError, says: says}
}

var _ = Describe("cloud properties of a VM that cannot be", func() {
	refusesUnasked(
		withProperties("instance_type missing", properties("instance_type", nil), "cloud_properties.instance_type is missing"),
		withProperties("instance_type empty", properties("instance_type", ""), "cloud_properties.instance_type is missing"),
		withProperties("instance_type a number", properties("instance_type", 5), "cloud_properties.instance_type", "expected a string, got a number"),
		withProperties("availability_zone missing", properties("availability_zone", nil), "cloud_properties.availability_zone is missing", "az"),
		withProperties("no security group anywhere", properties("security_groups", nil), "security_groups", "aws.default_security_groups"),
		withProperties("security_groups empty", properties("security_groups", []any{}), "security_groups", "aws.default_security_groups"),
		withProperties("security_groups a string", properties("security_groups", "sg-1"), "cloud_properties.security_groups", "expected a list, got a string"),
		withProperties("a security group without a name", properties("security_groups", []any{"{group}", ""}), "cloud_properties.security_groups", "empty"),
		withProperties("key_name a list", properties("key_name", []any{"x"}), "cloud_properties.key_name", "expected a string, got a list"),
		withProperties("tenancy unknown", properties("tenancy", "sometimes"), "cloud_properties.tenancy", "default, dedicated or host", `"sometimes"`),
		withProperties("spot_bid_price a word", properties("spot_bid_price", "cheap"), "cloud_properties.spot_bid_price", "USD above 0"),
		withProperties("spot_bid_price negative", properties("spot_bid_price", -0.1), "cloud_properties.spot_bid_price", "USD above 0"),
		withProperties("spot_bid_price 0", properties("spot_bid_price", 0), "cloud_properties.spot_bid_price", "USD above 0"),
		withProperties("spot_bid_price true", properties("spot_bid_price", true), "cloud_properties.spot_bid_price", "USD above 0"),
		withProperties("spot_bid_price not a number", properties("spot_bid_price", "NaN"), "cloud_properties.spot_bid_price", "USD above 0"),
		withProperties("spot_bid_price without end", properties("spot_bid_price", "Infinity"), "cloud_properties.spot_bid_price", "USD above 0"),
		withProperties("elbs a string", properties("elbs", "front"), "cloud_properties.elbs", "expected a list, got a string"),
		withProperties("an ELB without a name", properties("elbs", []any{""}), "cloud_properties.elbs", "empty"),
		withProperties("lb_target_groups an object", properties("lb_target_groups", object{"a": 1}), "cloud_properties.lb_target_groups", "expected a list, got an object"),
		withProperties("a target group without a name", properties("lb_target_groups", []any{""}), "cloud_properties.lb_target_groups", "empty"),
		withProperties("auto_assign_public_ip a string", properties("auto_assign_public_ip", "yes"), "cloud_properties.auto_assign_public_ip", "expected true or false, got a string"),
		withProperties("source_dest_check a number", properties("source_dest_check", 0), "cloud_properties.source_dest_check", "expected true or false, got a number"),
		withProperties("tags a list", properties("tags", []any{"a"}), "cloud_properties.tags", "expected an object, got a list"),

		withProperties("advertised_routes an object", properties("advertised_routes", object{"table_id": "rtb-1"}), "cloud_properties.advertised_routes", "expected a list, got an object"),
		withProperties("a route without a table", properties("advertised_routes", []any{object{"destination": "10.9.0.0/16"}}), "cloud_properties.advertised_routes[0].table_id is missing"),
		withProperties("a route without a destination", properties("advertised_routes", []any{object{"table_id": "{route table}"}}), "cloud_properties.advertised_routes[0].destination", "10.2.0.0/16"),
		withProperties("a route to a name", properties("advertised_routes", []any{object{"table_id": "{route table}", "destination": "there"}}), "cloud_properties.advertised_routes[0].destination", `"there"`),
		withProperties("a route to an address", properties("advertised_routes", []any{object{"table_id": "{route table}", "destination": "10.9.0.1"}}), "cloud_properties.advertised_routes[0].destination", `"10.9.0.1"`),
		withProperties("a route to a range with host bits", properties("advertised_routes", []any{
			object{"table_id": "{route table}", "destination": "10.9.0.0/16"}, object{"table_id": "{route table}", "destination": "10.9.0.1/16"},
		}), "cloud_properties.advertised_routes[1].destination", `"10.9.0.1/16"`),

		withProperties("ephemeral_disk a number", properties("ephemeral_disk", 1024), "cloud_properties.ephemeral_disk", "expected an object, got a number"),
		withProperties("ephemeral_disk.size a string", properties("ephemeral_disk", object{"size": "1 GB"}), "cloud_properties.ephemeral_disk.size", "expected a whole number, got a string"),
		withProperties("ephemeral_disk.size 0", properties("ephemeral_disk", object{"size": 0}), "cloud_properties.ephemeral_disk.size", "MiB above 0"),
		withProperties("ephemeral_disk.size above 64 TiB", properties("ephemeral_disk", object{"size": 64<<20 + 1}), "cloud_properties.ephemeral_disk.size", "64 TiB"),
		withProperties("ephemeral_disk.type unknown", properties("ephemeral_disk", object{"type": "floppy"}), "cloud_properties.ephemeral_disk.type", "gp3", `"floppy"`),
		withProperties("ephemeral_disk io1 without iops", properties("ephemeral_disk", object{"type": "io1"}), "cloud_properties.ephemeral_disk.iops", "io1"),
		withProperties("ephemeral_disk.iops negative", properties("ephemeral_disk", object{"iops": -1}), "cloud_properties.ephemeral_disk.iops", "above 0"),
		withProperties("ephemeral_disk.throughput a string", properties("ephemeral_disk", object{"throughput": "fast"}), "cloud_properties.ephemeral_disk.throughput", "expected a whole number, got a string"),
		withProperties("ephemeral_disk key without encryption", properties("ephemeral_disk", object{"encrypted": false, "kms_key_arn": "arn:aws:kms:x"}), "cloud_properties.ephemeral_disk.kms_key_arn", "encrypted"),
		withProperties("ephemeral_disk.encrypted a string", properties("ephemeral_disk", object{"encrypted": "yes"}), "cloud_properties.ephemeral_disk.encrypted", "expected true or false, got a string"),
		withProperties("use_instance_storage with size", local(object{"use_instance_storage": true, "size": 1024}), "cloud_properties.ephemeral_disk.use_instance_storage", "size"),
		withProperties("use_instance_storage with type", local(object{"use_instance_storage": true, "type": "gp3"}), "cloud_properties.ephemeral_disk.use_instance_storage", "type"),
		withProperties("use_instance_storage with encrypted", local(object{"use_instance_storage": true, "encrypted": true}), "cloud_properties.ephemeral_disk.use_instance_storage", "encrypted"),
		withProperties("use_instance_storage and use_root_disk", local(object{"use_instance_storage": true, "use_root_disk": true}), "cloud_properties.ephemeral_disk.use_instance_storage", "use_root_disk"),
		withProperties("use_instance_storage and raw_instance_storage", local(object{"use_instance_storage": true}, "raw_instance_storage", true), "cloud_properties.ephemeral_disk.use_instance_storage", "raw_instance_storage"),
		withProperties("raw_instance_storage a string", properties("raw_instance_storage", "all"), "cloud_properties.raw_instance_storage", "expected true or false, got a string"),

		withProperties("root_disk.size negative", properties("root_disk", object{"size": -1}), "cloud_properties.root_disk.size", "MiB above 0"),
		withProperties("root_disk.type unknown", properties("root_disk", object{"type": "ssd"}), "cloud_properties.root_disk.type", "gp3", `"ssd"`),
		withProperties("root_disk io2 without iops", properties("root_disk", object{"type": "io2"}), "cloud_properties.root_disk.iops", "io2"),

		withProperties("metadata_options a string", properties("metadata_options", "v2"), "cloud_properties.metadata_options", "expected an object, got a string"),
		withProperties("metadata_options.http_tokens unknown", properties("metadata_options", object{"http_tokens": "always"}), "cloud_properties.metadata_options.http_tokens", `"required" or "optional"`, `"always"`),
		withProperties("metadata_options.http_endpoint a bool", properties("metadata_options", object{"http_endpoint": true}), "cloud_properties.metadata_options.http_endpoint", "expected a string"),
		withProperties("metadata_options hop limit 0", properties("metadata_options", object{"http_put_response_hop_limit": 0}), "cloud_properties.metadata_options.http_put_response_hop_limit", "1 to 64"),
		withProperties("metadata_options hop limit 65", properties("metadata_options", object{"http_put_response_hop_limit": 65}), "cloud_properties.metadata_options.http_put_response_hop_limit", "1 to 64"),
		withProperties("metadata_options.instance_metadata_tags on", properties("metadata_options", object{"instance_metadata_tags": "on"}), "cloud_properties.metadata_options.instance_metadata_tags", `"enabled" or "disabled"`),
	)

	withoutLocalDisks := func(what string, changed object, says ...string) bad {
		says = append(says, "t3.micro", "local disks")
		return withProperties(what, changed, says...)
	}
	refuses(
		withoutLocalDisks("use_instance_storage of a type without disks", properties("ephemeral_disk", object{"use_instance_storage": true}), "cloud_properties.ephemeral_disk.use_instance_storage"),
		withoutLocalDisks("raw_instance_storage of a type without disks", properties("raw_instance_storage", true), "cloud_properties.raw_instance_storage"),
	)
})

// local are the properties of a VM whose instance type has local disks.
func local(ephemeral object, more ...any) object {
	return properties(append([]any{"instance_type", "m5d.large", "ephemeral_disk", ephemeral}, more...)...)
}

var _ = Describe("networks of a VM that cannot be", func() {
	two := func(first, second object) any { return driver.Object("one", first, "two", second) }
	vip := func(changes ...any) object {
		return altered(object{"type": "vip", "ip": "{elastic ip}"}, changes)
	}
	elsewhere := object{"subnet": "{other subnet}"}
	refusesUnasked(
		withNetworks("no network", driver.Object(), "networks", "manual or dynamic"),
		withNetworks("only a vip network", driver.Object("vip", vip()), "networks", "manual or dynamic"),
		withNetworks("a network is a string", driver.Object("default", "10.0.0.0/16"), "networks.default", "expected an object"),
		withNetworks("a network is null", driver.Object("default", nil), "networks.default"),
		withNetworks("type unknown", oneNetwork(manual("type", "odd")), "networks.default.type", "manual, dynamic or vip", `"odd"`),
		withNetworks("type a number", oneNetwork(manual("type", 4)), "networks.default", "type", "expected a string, got a number"),
		withNetworks("subnet missing", oneNetwork(manual("cloud_properties", object{})), "networks.default.cloud_properties.subnet is missing"),
		withNetworks("cloud_properties missing", oneNetwork(manual("cloud_properties", nil)), "networks.default.cloud_properties.subnet is missing"),
		withNetworks("cloud_properties a string", oneNetwork(manual("cloud_properties", "{subnet}")), "networks.default", "cloud_properties", "expected an object, got a string"),
		withNetworks("subnet a list", oneNetwork(manual("cloud_properties", object{"subnet": []any{}})), "networks.default.cloud_properties.subnet", "expected a string, got a list"),
		withNetworks("subnet of a dynamic network missing", oneNetwork(object{"type": "dynamic"}), "networks.default.cloud_properties.subnet is missing"),
		withNetworks("security_groups of a network a string", oneNetwork(manual("cloud_properties", object{"subnet": "{subnet}", "security_groups": "{group}"})), "networks.default.cloud_properties.security_groups", "expected a list, got a string"),
		withNetworks("ip missing", oneNetwork(manual("ip", nil)), "networks.default.ip", "IP address"),
		withNetworks("ip a host name", oneNetwork(manual("ip", "vm.example.com")), "networks.default.ip", `"vm.example.com"`),
		withNetworks("ip a number", oneNetwork(manual("ip", 10)), "networks.default", "ip", "expected a string, got a number"),
		withNetworks("ip with a zone", oneNetwork(manual("ip", "fe80::1%eth0")), "networks.default.ip", "IP address"),
		withNetworks("dns a string", oneNetwork(manual("dns", "10.0.0.2")), "networks.default", "dns", "expected a list, got a string"),
		withNetworks("prefix that AWS does not delegate", oneNetwork(manual("ip", "10.0.1.0", "prefix", "24")), "networks.default.prefix", "32", "28", `"24"`),
		withNetworks("IPv6 prefix that AWS does not delegate", oneNetwork(manual("ip", "2600::", "prefix", 64)), "networks.default.prefix", "128", "80", `"64"`),
		withNetworks("prefix a word", oneNetwork(manual("prefix", "long")), "networks.default.prefix", `"long"`),
		withNetworks("prefix that begins in its midst", two(manual(), manual("ip", "10.0.1.1", "prefix", "28", "nic_group", "one")), "networks.two.ip", "10.0.1.1", "/28"),
		withNetworks("a NIC with nothing but a prefix", oneNetwork(manual("ip", "10.0.1.16", "prefix", "28")), "networks", "default", "prefixes", "address"),
		withNetworks("nic_group with two subnets", two(manual("nic_group", "a"), manual("nic_group", "a", "cloud_properties", elsewhere)), "networks.two.cloud_properties.subnet", `nic_group "a"`, "{subnet}", "{other subnet}"),
		withNetworks("nic_group with two IPv4 addresses", two(manual("nic_group", 0), manual("nic_group", 0, "ip", "10.0.0.77")), "networks.two.ip", `nic_group "0"`, "{ip}"),
		withNetworks("nic_group with two IPv6 addresses", two(manual("nic_group", "a", "ip", "{ipv6}"), manual("nic_group", "a", "ip", "2600::9")), "networks.two.ip", `nic_group "a"`),
		withNetworks("nic_group a list", oneNetwork(manual("nic_group", []any{})), "networks.default", "nic_group", "expected a string, got a list"),
		withNetworks("two vips", driver.Object("default", manual(), "v1", vip(), "v2", vip()), "v1", "v2", "vip"),
		withNetworks("vip without ip", driver.Object("default", manual(), "vip", vip("ip", nil)), "networks.vip.ip", "elastic IP"),
		withNetworks("vip with a host name", driver.Object("default", manual(), "vip", vip("ip", "www.example.com")), "networks.vip.ip", "elastic IP", `"www.example.com"`),
		withNetworks("vip with an IPv6 address", driver.Object("default", manual(), "vip", vip("ip", "2600::1")), "networks.vip.ip", "elastic IP"),
	)
})

var _ = Describe("an env or a size that cannot be", func() {
	large := object{"bosh": object{"mbus": object{"cert": strings.Repeat("c", 20<<10)}}}
	refusesUnasked(
		withEnv("env.bosh a string", object{"bosh": "x"}, "env.bosh", "expected an object, got a string"),
		withEnv("env.bosh.tags a list", object{"bosh": object{"tags": []any{"a"}}}, "env.bosh.tags", "expected an object, got a list"),
		withEnv("user data above 16 KiB", large, "user data", "16384", "env"),
		bad{what: "user data above 16 KiB by the agent section", method: "create_vm", arguments: createVM{}.arguments(), kind: cloudError,
			config: func(config *driver.Config) { config.Agent = object{"blobstore": strings.Repeat("b", 17<<10)} },
			says:   []string{"user data", "16384", "agent section"}},
	)
})

var _ = Describe("a VM without the registry that it needs", func() {
	lacking := func(what, method string, arguments []any, api, stemcell int) bad {
		return bad{what: what, method: method, arguments: arguments, caller: as(api, stemcell), kind: cpiError,
			says: []string{method, "registry.endpoint", "stemcell"}}
	}
	refusesUnasked(
		lacking("API version 1 and no registry", "create_vm", createVM{}.arguments(), 1, 3),
		lacking("no API version and no registry", "create_vm", createVM{}.arguments(), -1, -1),
		lacking("stemcell version 1 and no registry", "create_vm", createVM{}.arguments(), 2, 1),
		lacking("no stemcell version and no registry", "create_vm", createVM{}.arguments(), 3, -1),
		lacking("stemcell version 1 and no registry", "attach_disk", []any{"{vm}", "{disk}"}, 2, 1),
		lacking("API version 1 and no registry", "attach_disk", []any{"{vm}", "{disk}"}, 1, 1),
		lacking("stemcell version 1 and no registry", "detach_disk", []any{"{vm}", "{attached disk}"}, 2, 1),
		lacking("API version 1 and no registry", "detach_disk", []any{"{vm}", "{attached disk}"}, 1, 2),
	)
	configured := func(password string) func(*driver.Config) {
		return func(config *driver.Config) {
			config.Registry = &driver.Registry{Endpoint: w.registry.URL, User: w.registry.User, Password: password}
		}
	}
	refuses(
		bad{what: "the registry refuses the password", method: "create_vm", arguments: createVM{}.arguments(), caller: as(1, 1), config: configured("wrong"),
			kind: cloudError, says: []string{"registry", "401", "registry.password"}, undone: true},
		bad{what: "the registry refuses the password", method: "attach_disk", arguments: []any{"{vm}", "{disk}"}, caller: as(2, 1), config: configured("wrong"),
			kind: cloudError, says: []string{"registry", "401", "registry.password"}, undone: true},
	)
})

// late is a create_vm that AWS refuses when it comes to the launch.
func late(what, action string, status int, code, message, kind string, says ...string) bad {
	b := withProperties(what, properties(), append(says, code)...)
	b.kind, b.rules = kind, refusing(action, status, code, message)
	return b
}

var _ = Describe("a VM that AWS refuses", func() {
	unknown := func(what string, changed object, says ...string) bad {
		b := withProperties(what, changed, says...)
		b.kind = vmCreationFailed
		return b
	}
	scripted := func(b bad, action, code, message string) bad {
		b.rules = refusing(action, 400, code, message)
		b.says = append(b.says, code)
		return b
	}
	of := func(b bad, kind string) bad {
		b.kind = kind
		return b
	}
	refuses(
		bad{what: "unknown image", method: "create_vm", arguments: createVM{stemcell: "ami-0123456789abcdef0 light"}.arguments(), kind: vmCreationFailed,
			says: []string{"ami-0123456789abcdef0", "{region}", "stemcell"}},
		bad{what: "image id malformed", method: "create_vm", arguments: createVM{stemcell: "stemcell-1"}.arguments(), kind: vmCreationFailed,
			says: []string{"stemcell-1", "stemcell"}},
		bad{what: "image not available yet", method: "create_vm", arguments: createVM{}.arguments(), kind: vmCreationFailed,
			rules: []proxy.Rule{{Action: "DescribeImages", Do: proxy.ShowImage("pending", "", "")}}, says: []string{"{image}", "pending"}},

		of(withNetworks("unknown subnet", oneNetwork(manual("cloud_properties", object{"subnet": "subnet-0123456789abcdef0"})), "subnet-0123456789abcdef0", "subnet", "aws.region"), networkNotFound),
		of(bad{what: "unknown subnet, groups by name", method: "create_vm", arguments: createVM{
			properties: properties("security_groups", []any{"{group name}"}),
			networks:   oneNetwork(manual("cloud_properties", object{"subnet": "subnet-0123456789abcdef0"}))}.arguments(),
			says: []string{"subnet-0123456789abcdef0", "subnet", "aws.region"}}, networkNotFound),
		bad{what: "unknown subnet for the second NIC", method: "create_vm", arguments: createVM{networks: driver.Object(
			"one", manual(), "two", manual("cloud_properties", object{"subnet": "subnet-0123456789abcdef0"}))}.arguments(),
			kind: networkNotFound, says: []string{"subnet-0123456789abcdef0", "aws.region"}, undone: true},
		unknown("unknown security group id", properties("security_groups", []any{"sg-0123456789abcdef0"}), "sg-0123456789abcdef0", "security_groups"),
		unknown("unknown security group name", properties("security_groups", []any{"{group name}", "strangers"}), "strangers", "{vpc}", "security_groups"),
		unknown("unknown key pair", properties("key_name", "stranger"), "stranger", "InvalidKeyPair.NotFound", "key_name"),
		unknown("unknown instance profile", properties("iam_instance_profile", "stranger"), "stranger", "iam_instance_profile"),
		of(unknown("unknown target group", properties("lb_target_groups", []any{"strangers"}), "strangers", "lb_target_groups"), cloudError),
		bad{what: "unknown target group by ARN", method: "create_vm", arguments: createVM{properties: properties("lb_target_groups", []any{"{unknown target group}"})}.arguments(),
			kind: vmCreationFailed, says: []string{"{unknown target group}", "TargetGroupNotFound", "lb_target_groups"}, undone: true},
		bad{what: "unknown ELB", method: "create_vm", arguments: createVM{properties: properties("elbs", []any{"strangers"})}.arguments(),
			rules: refusing("RegisterInstancesWithLoadBalancer", 400, "LoadBalancerNotFound", "There is no ACTIVE Load Balancer named 'strangers'"),
			kind:  vmCreationFailed, says: []string{"strangers", "LoadBalancerNotFound", "elbs"}, undone: true},
		unknown("unknown route table", properties("advertised_routes", []any{object{"table_id": "rtb-0123456789abcdef0", "destination": "10.9.0.0/16"}}), "rtb-0123456789abcdef0", "advertised_routes"),
		unknown("unknown instance type", properties("instance_type", "t99.micro"), "t99.micro", "instance_type"),
		scripted(unknown("unknown placement group", properties("placement_group", "strangers"), "placement_group"),
			"RunInstances", "InvalidPlacementGroup.Unknown", "The Placement Group 'strangers' is unknown."),
		unknown("unknown zone", properties("availability_zone", "{region}z"), "{region}z", "availability_zone"),
		of(withNetworks("unknown elastic IP", driver.Object("default", manual(), "vip", object{"type": "vip", "ip": "203.0.113.9"}), "203.0.113.9", "InvalidAddress.NotFound", "vip"), vmCreationFailed),
		of(withNetworks("address in use by another VM", oneNetwork(manual("ip", "{taken ip}")), "{taken ip}", "{subnet}", "{vm}"), vmCreationFailed),
		bad{what: "address of the second NIC in use", method: "create_vm", arguments: createVM{networks: driver.Object("one", manual(), "two", manual("ip", "{taken ip}"))}.arguments(),
			kind: vmCreationFailed, says: []string{"{taken ip}", "{subnet}", "{vm}"}, undone: true},
		of(withNetworks("address outside of the subnet", oneNetwork(manual("ip", "192.0.2.1")), "192.0.2.1"), vmCreationFailed),

		bad{what: "unknown disk", method: "create_vm", arguments: createVM{disks: []any{"{disk}", "vol-0123456789abcdef0"}}.arguments(), kind: diskNotFound,
			says: []string{"vol-0123456789abcdef0", "disk_cids"}},
		bad{what: "disk id malformed", method: "create_vm", arguments: createVM{disks: []any{"vol-1"}}.arguments(), kind: diskNotFound, says: []string{"vol-1", "disk_cids"}},
		bad{what: "disk of another zone", method: "create_vm", arguments: createVM{disks: []any{"{far disk}"}}.arguments(), kind: cloudError,
			says: []string{"{far disk}", "{other zone}", "{zone}", "availability_zone"}},
		bad{what: "subnet of another zone, groups by name", method: "create_vm", arguments: createVM{
			properties: properties("availability_zone", "{other zone}", "security_groups", []any{"{group name}"})}.arguments(), kind: cloudError,
			says: []string{"{subnet}", "{zone}", "{other zone}", "availability_zone"}},
		of(withProperties("subnet of another zone", properties("availability_zone", "{other zone}"), "{other zone}", "{subnet}", "availability_zone"), vmCreationFailed),
		bad{what: "subnet of another zone, two NICs", method: "create_vm", arguments: createVM{networks: driver.Object("one", manual(),
			"two", manual("ip", "{other ip}", "cloud_properties", object{"subnet": "{other subnet}"}))}.arguments(), kind: cloudError,
			says: []string{"{other subnet}", "{zone}", "{other zone}", "availability_zone"}, undone: true},

		late("no capacity", "RunInstances", 500, "InsufficientInstanceCapacity", "We currently do not have sufficient t3.micro capacity.", vmCreationFailed, "another availability zone"),
		late("no host capacity", "RunInstances", 500, "InsufficientHostCapacity", "There is insufficient capacity available.", vmCreationFailed, "another availability zone"),
		late("vCPU limit", "RunInstances", 400, "VcpuLimitExceeded", "You have requested more vCPU capacity than your current vCPU limit of 5 allows.", vmCreationFailed, "higher vCPU limit"),
		late("instance limit", "RunInstances", 400, "InstanceLimitExceeded", "Your quota allows for 0 more running instance(s).", vmCreationFailed, "higher limit"),
		late("subnet without free addresses", "RunInstances", 400, "InsufficientFreeAddressesInSubnet", "There are not enough free addresses in subnet.", vmCreationFailed, "larger subnet"),
		late("type not offered in the zone", "RunInstances", 400, "Unsupported", "Your requested instance type (t3.micro) is not supported in your requested Availability Zone.", vmCreationFailed, "another availability zone or instance type"),
		late("no permission", "RunInstances", 403, "UnauthorizedOperation", "You are not authorized to perform this operation.", vmCreationFailed, "RunInstances", "IAM policy"),
		late("AMI not subscribed to", "RunInstances", 401, "OptInRequired", "In order to use this AWS Marketplace product you need to accept terms and subscribe.", vmCreationFailed, "subscribe"),
		late("volume limit", "RunInstances", 400, "VolumeLimitExceeded", "You have exceeded your maximum gp3 storage limit.", noDiskSpace, "higher limit"),
		scripted(unknown("spot price too low", properties("spot_bid_price", 0.0001), "spot_bid_price", "spot_ondemand_fallback"),
			"RunInstances", "SpotMaxPriceTooLow", "Your Spot request price of 0.0001 is lower than the minimum required Spot request fulfillment price of 0.0031."),
		scripted(unknown("too many spot instances", properties("spot_bid_price", "0.1"), "spot_ondemand_fallback"),
			"RunInstances", "MaxSpotInstanceCountExceeded", "Max spot instance count exceeded"),
		bad{what: "an instance that ends at once", method: "create_vm", arguments: createVM{}.arguments(), kind: vmCreationFailed, undone: true,
			rules: []proxy.Rule{{Action: "DescribeInstances", Times: 1, Do: proxy.ShowInstance("terminated", "Client.InvalidKMSKey.InvalidState", "The KMS key provided is in an incorrect state")}},
			says:  []string{"terminated", "KMS key"}},
	)
})
