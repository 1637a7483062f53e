package action

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	boshlog "github.com/cloudfoundry/bosh-utils/logger"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/aws"
	"bosh-aws-cpi/cpi"
)

var _ = Describe("The configuration file", func() {
	read := func(content string) (ConfigFile, error) {
		GinkgoHelper()
		path := filepath.Join(GinkgoT().TempDir(), "cpi.json")
		Expect(os.WriteFile(path, []byte(content), 0o600)).To(Succeed())
		return ReadConfig(path)
	}
	// properties reads a file with these cloud.properties.
	properties := func(content string) ConfigFile {
		GinkgoHelper()
		file, err := read(`{"cloud":{"plugin":"aws","properties":` + content + `}}`)
		Expect(err).NotTo(HaveOccurred())
		return file
	}
	// section reads a file with this `aws` section.
	section := func(content string) ConfigFile {
		GinkgoHelper()
		return properties(`{"aws":` + content + `}`)
	}
	const keys = `"access_key_id":"id","secret_access_key":"canary","region":"us-east-1"`

	It("says all there is to say", func() {
		config, err := properties(`{
			"aws":{` + keys + `,"session_token":"t","role_arn":"r","external_id":"x","ec2_endpoint":"ec2.local","elb_endpoint":"http://elb.local","sts_endpoint":"sts.local",
				"ebs_endpoint":"ebs.local","dualstack":true,"max_retries":3,"default_key_name":"k","default_security_groups":["a","b"],
				"default_iam_instance_profile":"p","encrypted":true,"kms_key_arn":"arn:key","metadata_options":{"http_tokens":"required"},
				"enable_describe_instance_types":false,"fast_path_delete":true,"stemcell":{"kernel_id":"x"},"of_the_future":1},
			"registry":{"endpoint":"http://10.0.0.6:25777","user":"u","password":"p"},
			"agent":{"ntp":["n"],"mbus":"nats://n","blobstore":{"provider":"dav"}},
			"debug":{"cpi":{"api_version":2,"log_level":"debug","time_scale":0.5,"http_timeout":2.5}},"more":{}}`).For(cpi.Object{})
		Expect(err).NotTo(HaveOccurred())
		Expect(config.AWS).To(Equal(aws.Settings{
			CredentialsSource: "static", AccessKeyID: "id", SecretAccessKey: "canary", SessionToken: "t", RoleARN: "r", ExternalID: "x", Region: "us-east-1",
			EC2Endpoint: "https://ec2.local", ELBEndpoint: "http://elb.local", STSEndpoint: "https://sts.local", EBSEndpoint: "https://ebs.local",
			DualStack: true, MaxRetries: pointer(3),
		}))
		Expect(config.Defaults).To(Equal(Defaults{
			KeyName: "k", SecurityGroups: []string{"a", "b"}, IAMInstanceProfile: "p", Encrypted: true, KMSKeyARN: "arn:key",
			MetadataOptions: &aws.MetadataOptions{HTTPTokens: pointer("required")}, DescribeInstanceTypes: pointer(false), FastPathDelete: true,
		}))
		Expect(jsonOf(config.Agent)).To(Equal(`{"ntp":["n"],"mbus":"nats://n","blobstore":{"provider":"dav"}}`))
		Expect(config.Registry.Endpoint).To(Equal("http://10.0.0.6:25777"))
		Expect(config.Timing).To(Equal(aws.Timing{Scale: 0.5, HTTP: 2500 * time.Millisecond}))
	})

	It("may say little", func() {
		config, err := section(`{` + keys + `}`).For(cpi.Object{})
		Expect(err).NotTo(HaveOccurred())
		Expect(config.Registry.Configured()).To(BeFalse())
		Expect(config.Timing).To(Equal(aws.DefaultTiming()))
		Expect(config.Agent.Len()).To(BeZero())
		Expect(config.Defaults).To(BeZero())
	})

	DescribeTable("may leave the registry out",
		func(registry string) {
			config, err := properties(`{"aws":{` + keys + `}` + registry + `}`).For(cpi.Object{})
			Expect(err).NotTo(HaveOccurred())
			Expect(config.Registry.Configured()).To(BeFalse())
		},
		Entry("absent", ``), Entry("null", `,"registry":null`), Entry("empty", `,"registry":{}`), Entry("without an endpoint", `,"registry":{"endpoint":"","user":"u"}`),
	)

	It("that is not there is a CpiError", func() {
		_, err := ReadConfig(filepath.Join(GinkgoT().TempDir(), "none.json"))
		Expect(err).To(beTyped(cpi.CpiError, ContainSubstring("the configuration file cannot be read: ")))
		Expect(err).To(MatchError(ContainSubstring("none.json")))
	})

	const file = `configuration file .*/cpi\.json: `

	DescribeTable("that is malformed is a CpiError which names file and key but shows no value",
		func(content, fault string) {
			_, err := read(content)
			Expect(err).To(beTyped(cpi.CpiError, MatchRegexp("^"+file+fault+"$")))
			Expect(err).To(MatchError(Not(ContainSubstring("canary"))))
		},
		Entry("empty", ``, "it is not valid JSON: unexpected end of JSON input, at byte 0"),
		Entry("no JSON", `canary`, "it is not valid JSON: invalid character 'c' .*, at byte 1"),
		Entry("broken off", `{"cloud":{"canary"`, "it is not valid JSON: unexpected end of JSON input, at byte 18"),
		Entry("a list", `["canary"]`, "expected an object"),
		Entry("cloud a string", `{"cloud":"canary"}`, "cloud: expected an object, got a string"),
		Entry("properties a list", `{"cloud":{"properties":["canary"]}}`, `cloud\.properties: expected an object, got a list`),
		Entry("aws a string", `{"cloud":{"properties":{"aws":"canary"}}}`, `cloud\.properties\.aws: expected an object, got a string`),
		Entry("agent a list", `{"cloud":{"properties":{"agent":["canary"]}}}`, `cloud\.properties\.agent: expected an object, got a list`),
		Entry("registry a string", `{"cloud":{"properties":{"registry":"canary"}}}`, `cloud\.properties\.registry: expected an object, got a string`),
		Entry("registry.password a number", `{"cloud":{"properties":{"registry":{"password":12345}}}}`, `cloud\.properties\.registry\.password: expected a string, got a number`),
		Entry("debug.cpi.api_version a string", `{"cloud":{"properties":{"debug":{"cpi":{"api_version":"2"}}}}}`, `cloud\.properties\.debug\.cpi\.api_version: expected a whole number, got a string`),
		Entry("debug.cpi.api_version too new", `{"cloud":{"properties":{"debug":{"cpi":{"api_version":4}}}}}`, `debug\.cpi\.api_version: expected 1 to 3, got 4`),
		Entry("debug.cpi.api_version negative", `{"cloud":{"properties":{"debug":{"cpi":{"api_version":-1}}}}}`, `debug\.cpi\.api_version: expected 1 to 3, got -1`),
		Entry("debug.cpi.log_level unknown", `{"cloud":{"properties":{"debug":{"cpi":{"log_level":"loud"}}}}}`, `debug\.cpi\.log_level: expected debug, info, warn, error or none`),
		Entry("debug.cpi.time_scale negative", `{"cloud":{"properties":{"debug":{"cpi":{"time_scale":-1}}}}}`, `debug\.cpi\.time_scale .*expected numbers above 0`),
		Entry("debug.cpi.http_timeout negative", `{"cloud":{"properties":{"debug":{"cpi":{"http_timeout":-1}}}}}`, `.*debug\.cpi\.http_timeout: expected numbers above 0`),
	)

	DescribeTable("with a wrong type in its aws section is a CpiError which names the key",
		func(key, value, fault string) {
			_, err := section(fmt.Sprintf(`{%s,%q:%s}`, keys, key, value)).For(cpi.Object{})
			Expect(err).To(beTyped(cpi.CpiError, MatchRegexp("^"+file+`aws\.`+fault+"$")))
			Expect(err).To(MatchError(Not(ContainSubstring("canary"))))
		},
		Entry(nil, "credentials_source", `1`, "credentials_source: expected a string, got a number"),
		Entry(nil, "access_key_id", `1`, "access_key_id: expected a string, got a number"),
		Entry(nil, "secret_access_key", `["canary"]`, "secret_access_key: expected a string, got a list"),
		Entry(nil, "session_token", `{"canary":1}`, "session_token: expected a string, got an object"),
		Entry(nil, "role_arn", `true`, "role_arn: expected a string, got true or false"),
		Entry(nil, "external_id", `1`, "external_id: expected a string, got a number"),
		Entry(nil, "region", `1`, "region: expected a string, got a number"),
		Entry(nil, "ec2_endpoint", `1`, "ec2_endpoint: expected a string, got a number"),
		Entry(nil, "elb_endpoint", `1`, "elb_endpoint: expected a string, got a number"),
		Entry(nil, "sts_endpoint", `1`, "sts_endpoint: expected a string, got a number"),
		Entry(nil, "ebs_endpoint", `1`, "ebs_endpoint: expected a string, got a number"),
		Entry(nil, "dualstack", `"canary"`, "dualstack: expected true or false, got a string"),
		Entry(nil, "fips", `"canary"`, "fips: expected true or false, got a string"),
		Entry(nil, "max_retries", `"canary"`, "max_retries: expected a whole number, got a string"),
		Entry(nil, "max_retries", `1.5`, "max_retries: expected a whole number, got another number"),
		Entry(nil, "default_key_name", `1`, "default_key_name: expected a string, got a number"),
		Entry(nil, "default_security_groups", `"canary"`, "default_security_groups: expected a list, got a string"),
		Entry(nil, "default_security_groups", `[1]`, "default_security_groups: expected a string, got a number"),
		Entry(nil, "default_iam_instance_profile", `1`, "default_iam_instance_profile: expected a string, got a number"),
		Entry(nil, "encrypted", `"canary"`, "encrypted: expected true or false, got a string"),
		Entry(nil, "kms_key_arn", `1`, "kms_key_arn: expected a string, got a number"),
		Entry(nil, "metadata_options", `"canary"`, "metadata_options: expected an object, got a string"),
		Entry(nil, "metadata_options", `{"http_tokens":1}`, `metadata_options\.http_tokens: expected a string, got a number`),
		Entry(nil, "enable_describe_instance_types", `"canary"`, "enable_describe_instance_types: expected true or false, got a string"),
		Entry(nil, "fast_path_delete", `"canary"`, "fast_path_delete: expected true or false, got a string"),
	)

	DescribeTable("with a contradiction is a CpiError which names the key",
		func(content, fault string) {
			_, err := properties(content).For(cpi.Object{})
			Expect(err).To(beTyped(cpi.CpiError, MatchRegexp("^"+file+fault)))
		},
		Entry("no keys", `{"aws":{"region":"r"}}`, `aws\.access_key_id is missing`),
		Entry("keys for the environment", `{"aws":{`+keys+`,"credentials_source":"env_or_profile"}}`, `aws\.(access_key_id|secret_access_key) is set`),
		Entry("no region", `{"aws":{"access_key_id":"i","secret_access_key":"s"}}`, `aws\.region is missing`),
		Entry("no aws section at all", `{}`, `aws\.access_key_id is missing`),
		Entry("a registry that is no URL", `{"aws":{`+keys+`},"registry":{"endpoint":"10.0.0.6"}}`, `registry\.endpoint: expected an http\(s\) URL`),
	)

	Describe("and a CPI config in the call's context", func() {
		base := `{"credentials_source":"static","access_key_id":"id","secret_access_key":"secret","session_token":"token","role_arn":"role","region":"us-east-1",` +
			`"ec2_endpoint":"http://127.0.0.1:5000","max_retries":3,"default_key_name":"k","default_security_groups":["a"],"encrypted":true,"metadata_options":{"http_tokens":"required"}}`
		overridden := func(overrides string) Config {
			GinkgoHelper()
			config, err := section(base).For(jsonObject(overrides))
			Expect(err).NotTo(HaveOccurred())
			return config
		}

		It("agree when that is empty", func() {
			config := overridden(`{}`)
			Expect(config.AWS.SessionToken).To(Equal("token"))
			Expect(config.AWS.Region).To(Equal("us-east-1"))
		})

		It("are merged key by key, and the CPI config's win", func() {
			config := overridden(`{"region":"eu-west-1","default_security_groups":["b"],"encrypted":false,"max_retries":0,"something_else":{}}`)
			Expect(config.AWS.Region).To(Equal("eu-west-1"))
			Expect(config.AWS.MaxRetries).To(HaveValue(Equal(0)))
			Expect(config.AWS.EC2Endpoint).To(Equal("http://127.0.0.1:5000"))
			Expect(config.AWS.AccessKeyID).To(Equal("id"))
			Expect(config.AWS.SessionToken).To(Equal("token"))
			Expect(config.Defaults.SecurityGroups).To(Equal([]string{"b"}))
			Expect(config.Defaults.Encrypted).To(BeFalse())
			Expect(config.Defaults.KeyName).To(Equal("k"))
		})

		It("have one key's value whole from either", func() {
			Expect(overridden(`{"metadata_options":{"http_put_response_hop_limit":2}}`).Defaults.MetadataOptions).To(Equal(&aws.MetadataOptions{HTTPPutHopLimit: pointer(int32(2))}))
		})

		It("do not mix the credentials of two accounts", func() {
			config := overridden(`{"access_key_id":"other","secret_access_key":"other-secret"}`)
			Expect(config.AWS).To(And(HaveField("AccessKeyID", "other"), HaveField("SecretAccessKey", "other-secret"), HaveField("SessionToken", ""), HaveField("RoleARN", "")))
			config = overridden(`{"credentials_source":"env_or_profile"}`)
			Expect(config.AWS).To(And(HaveField("CredentialsSource", "env_or_profile"), HaveField("AccessKeyID", ""), HaveField("SecretAccessKey", ""), HaveField("SessionToken", "")))
		})

		DescribeTable("are in error together",
			func(overrides, fault string) {
				_, err := section(base).For(jsonObject(overrides))
				Expect(err).To(beTyped(cpi.CpiError, ContainSubstring(fault)))
			},
			Entry("half of an account's credentials", `{"access_key_id":"other"}`, "aws.secret_access_key is missing"),
			Entry("a wrong type", `{"region":7}`, "aws.region: expected a string, got a number"),
			Entry("keys for the environment", `{"credentials_source":"env_or_profile","access_key_id":"x"}`, "aws.access_key_id is set"),
		)

		It("leave the file as it is for the next call", func() {
			file := section(base)
			_, err := file.For(jsonObject(`{"region":"eu-west-1"}`))
			Expect(err).NotTo(HaveOccurred())
			config, err := file.For(cpi.Object{})
			Expect(err).NotTo(HaveOccurred())
			Expect(config.AWS.Region).To(Equal("us-east-1"))
		})
	})

	DescribeTable("or the CLI's environment says how much is logged",
		func(configured, environment string, expected boshlog.LogLevel) {
			GinkgoT().Setenv("BOSH_LOG_LEVEL", environment)
			Expect(properties(fmt.Sprintf(`{"debug":{"cpi":{"log_level":%q}}}`, configured)).LogLevel()).To(Equal(expected))
		},
		Entry("info unless they say", "", "", boshlog.LevelInfo),
		Entry("the file", "warn", "", boshlog.LevelWarn),
		Entry("the environment", "", "debug", boshlog.LevelDebug),
		Entry("the file before the environment", "error", "debug", boshlog.LevelError),
		Entry("the environment, in a word that it does not know", "", "loud", boshlog.LevelInfo),
		Entry("in capital letters", "NONE", "", boshlog.LevelNone),
	)

	DescribeTable("lowers the version that info answers",
		func(debug string, version int) {
			result, err := info{properties(`{"debug":` + debug + `}`)}.run(context.Background(), nil, struct{}{})
			Expect(err).NotTo(HaveOccurred())
			Expect(jsonOf(result)).To(MatchJSON(fmt.Sprintf(`{"stemcell_formats":["aws-raw","aws-light"],"api_version":%d}`, version)))
		},
		Entry("not", `{}`, 3), Entry("to 3", `{"cpi":{"api_version":3}}`, 3), Entry("to 2", `{"cpi":{"api_version":2}}`, 2), Entry("to 1", `{"cpi":{"api_version":1}}`, 1),
	)
})
