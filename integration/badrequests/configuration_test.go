package badrequests_test

import (
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/proxy"
)

// environment calls with more variables.
func environment(variables ...string) func(*driver.CPI) {
	return func(cpi *driver.CPI) { cpi.Env = variables }
}

var _ = Describe("a configuration that cannot be", func() {
	file := func(what, content string, says ...string) bad {
		return bad{what: "configuration " + what, method: "info", arguments: []any{}, file: &content, kind: cpiError, says: append(says, "broken.json")}
	}
	// Of the aws section, as a method finds it that needs AWS.
	set := func(what string, section object, says ...string) bad {
		return bad{what: what, method: "has_disk", arguments: []any{"{disk}"}, kind: cpiError, says: says,
			config: func(config *driver.Config) { config.AWS = section }}
	}
	with := func(what string, change func(*driver.Config), says ...string) bad {
		return bad{what: what, method: "has_disk", arguments: []any{"{disk}"}, kind: cpiError, says: says, config: change}
	}
	called := func(what string, caller func(*driver.CPI), says ...string) bad {
		return bad{what: what, method: "has_disk", arguments: []any{"{disk}"}, kind: cpiError, says: says, caller: caller}
	}
	chain := object{"credentials_source": "env_or_profile", "access_key_id": nil, "secret_access_key": nil}

	refusesUnasked(
		called("no configuration file named", func(cpi *driver.CPI) { cpi.ConfigPath = "" }, "configuration file is missing", "argument"),
		called("no such configuration file", func(cpi *driver.CPI) { cpi.ConfigPath += ".gone" }, "configuration file", ".json.gone"),
		called("configuration file a directory", func(cpi *driver.CPI) { cpi.ConfigPath = w.dir }, "configuration file", "directory"),
		file("empty", "", "not valid JSON"),
		file("no JSON", "cloud:\n  plugin: aws\n", "not valid JSON"),
		file("breaks off", `{"cloud":{"properties":{"aws":{`, "not valid JSON"),
		file("a list", `[]`, "expected an object"),
		file("cloud a string", `{"cloud":"aws"}`, "cloud", "expected an object, got a string"),
		file("aws a list", `{"cloud":{"properties":{"aws":[]}}}`, "cloud.properties.aws", "expected an object, got a list"),
		file("registry a string", `{"cloud":{"properties":{"registry":"http://x"}}}`, "cloud.properties.registry", "expected an object, got a string"),
		file("agent a list", `{"cloud":{"properties":{"agent":[]}}}`, "cloud.properties.agent", "expected an object, got a list"),
		file("time_scale a string", `{"cloud":{"properties":{"debug":{"cpi":{"time_scale":"1"}}}}}`, "debug.cpi.time_scale", "expected a number, got a string"),
		with("log_level unknown", func(config *driver.Config) { config.LogLevel = "loud" }, "debug.cpi.log_level", "debug, info, warn"),
		with("api_version unknown", func(config *driver.Config) { config.APIVersion = 9 }, "debug.cpi.api_version", "1 to 3", "9"),
		with("time_scale negative", func(config *driver.Config) { config.TimeScale = -1 }, "debug.cpi.time_scale"),
		with("http_timeout negative", func(config *driver.Config) { config.HTTPTimeout = -1 }, "debug.cpi.http_timeout"),
		with("registry.endpoint no URL", func(config *driver.Config) {
			config.Registry = &driver.Registry{Endpoint: "registry.example.com:25777"}
		}, "registry.endpoint", "http"),
		with("region missing", func(config *driver.Config) { config.Region = "" }, "aws.region is missing"),

		set("access_key_id missing", object{"access_key_id": nil}, "aws.access_key_id is missing", "aws.secret_access_key"),
		set("secret_access_key missing", object{"secret_access_key": nil}, "aws.secret_access_key is missing"),
		set("secret_access_key null", object{"secret_access_key": json.RawMessage("null")}, "aws.secret_access_key is missing"),
		set("secret_access_key a number", object{"secret_access_key": 17}, "aws.secret_access_key", "expected a string, got a number"),
		set("credentials_source unknown", object{"credentials_source": "guess"}, "aws.credentials_source", `"static" or "env_or_profile"`, `"guess"`),
		set("env_or_profile with an access key", object{"credentials_source": "env_or_profile", "access_key_id": "AKIA", "secret_access_key": nil}, "aws.access_key_id", "aws.credentials_source"),
		set("env_or_profile with a secret key", object{"credentials_source": "env_or_profile", "access_key_id": nil, "secret_access_key": "x"}, "aws.secret_access_key", "aws.credentials_source"),
		set("external_id without a role", object{"external_id": "x"}, "aws.external_id", "aws.role_arn"),
		set("ec2_endpoint with credentials", object{"ec2_endpoint": "https://a:b@ec2.example.com"}, "aws.ec2_endpoint", "without credentials"),
		set("elb_endpoint of another scheme", object{"elb_endpoint": "ftp://elb.example.com"}, "aws.elb_endpoint", "http(s)"),
		set("sts_endpoint no URL", object{"sts_endpoint": "https://"}, "aws.sts_endpoint", "host name"),
		set("ebs_endpoint no URL", object{"ebs_endpoint": "http://[::1"}, "aws.ebs_endpoint", "host name"),
		set("ec2_endpoint a number", object{"ec2_endpoint": 443}, "aws.ec2_endpoint", "expected a string, got a number"),
		set("max_retries negative", object{"max_retries": -1}, "aws.max_retries", "0 or more"),
		set("max_retries a string", object{"max_retries": "many"}, "aws.max_retries", "expected a whole number, got a string"),
		set("default_security_groups a string", object{"default_security_groups": "bosh"}, "aws.default_security_groups", "expected a list, got a string"),
		set("default_key_name a number", object{"default_key_name": 5}, "aws.default_key_name", "expected a string, got a number"),
		set("encrypted a string", object{"encrypted": "yes"}, "aws.encrypted", "expected true or false, got a string"),
		set("dualstack a string", object{"dualstack": "yes"}, "aws.dualstack", "expected true or false, got a string"),
		set("fast_path_delete a number", object{"fast_path_delete": 1}, "aws.fast_path_delete", "expected true or false, got a number"),
		set("enable_describe_instance_types a string", object{"enable_describe_instance_types": "no"}, "aws.enable_describe_instance_types", "expected true or false, got a string"),
		set("metadata_options a list", object{"metadata_options": []any{}}, "aws.metadata_options", "expected an object, got a list"),
		bad{what: "aws.metadata_options.http_tokens unknown", method: "create_vm", arguments: createVM{}.arguments(), kind: cpiError,
			config: func(config *driver.Config) { config.AWS = object{"metadata_options": object{"http_tokens": "always"}} },
			says:   []string{"aws.metadata_options.http_tokens", `"required" or "optional"`}},
		called("CA file missing", environment("BOSH_CA_CERT_FILE=/no/such/file"), "BOSH_CA_CERT_FILE", "/no/such/file"),
		called("CA file without certificates", func(cpi *driver.CPI) { cpi.Env = []string{"BOSH_CA_CERT_FILE=" + cpi.ConfigPath} }, "BOSH_CA_CERT_FILE", "PEM"),
		called("CPI config with a broken region", cpiConfig("region", 5), "aws.region", "expected a string, got a number"),
		called("CPI config with half the credentials", cpiConfig("access_key_id", "AKIA"), "aws.secret_access_key is missing"),
		called("CPI config with a broken endpoint", cpiConfig("ec2_endpoint", "http://"), "aws.ec2_endpoint"),
	)

	answered := func(what string, rules []proxy.Rule, section object, says ...string) bad {
		b := set(what, section, says...)
		b.kind, b.rules = cloudError, rules
		return b
	}
	all := func(status int, code, message string) []proxy.Rule { return refusing("", status, code, message) }
	none := set("credentials nowhere to be found", chain, "credentials", "aws.credentials_source")
	none.caller = environment("AWS_EC2_METADATA_DISABLED=true", "HOME=/nonexistent")
	none.kind = cloudError
	refuses(
		none,
		answered("wrong secret key", all(403, "SignatureDoesNotMatch", "The request signature we calculated does not match."), nil, "SignatureDoesNotMatch", "aws.secret_access_key"),
		answered("wrong access key", all(401, "AuthFailure", "AWS was not able to validate the provided access credentials"), nil, "AuthFailure", "aws.access_key_id"),
		answered("unknown access key", all(403, "InvalidClientTokenId", "The security token included in the request is invalid."), nil, "InvalidClientTokenId", "aws.access_key_id"),
		answered("session expired", all(400, "RequestExpired", "Request has expired."), nil, "RequestExpired", "credentials"),
		answered("role that may not be assumed", refusing("AssumeRole", 403, "AccessDenied", "User: arn:aws:iam::123456789012:user/x is not authorized to perform: sts:AssumeRole on resource: arn:aws:iam::123456789012:role/cpi"),
			object{"role_arn": "arn:aws:iam::123456789012:role/cpi"}, "AssumeRole", "AccessDenied", "aws.role_arn"),
		answered("something else than AWS answers", []proxy.Rule{{Do: proxy.HTML(404)}}, nil, "404", "text/html", "endpoint"),
	)
	unreachable := set("endpoint that nobody answers at", object{"ec2_endpoint": "http://127.0.0.1:1", "max_retries": 1}, "no answer: ", "127.0.0.1:1", "refused")
	unreachable.kind, unreachable.retry = cloudError, true
	refuses(unreachable)
})

// cpiConfig sends a key of a CPI config.
func cpiConfig(key string, value any) func(*driver.CPI) {
	return func(cpi *driver.CPI) { cpi.Context = object{key: value} }
}
