package aws

import (
	sdk "github.com/aws/aws-sdk-go-v2/aws"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("The settings", func() {
	// valid are settings that are, changed.
	valid := func(change func(*Settings)) *Settings {
		settings := &Settings{AccessKeyID: "id", SecretAccessKey: "canary", Region: "us-east-1"}
		if change != nil {
			change(settings)
		}
		return settings
	}
	negative := -1

	It("take static credentials and eight retries unless they say otherwise", func() {
		settings := valid(nil)
		Expect(settings.Validate()).To(Succeed())
		Expect(settings.CredentialsSource).To(Equal(StaticCredentials))
		Expect(settings.maxRetries()).To(Equal(8))
	})

	DescribeTable("are valid",
		func(change func(*Settings)) { Expect(valid(change).Validate()).To(Succeed()) },
		Entry("static, with a session token and a role", func(s *Settings) {
			s.CredentialsSource, s.SessionToken, s.RoleARN, s.ExternalID = "static", "token", "arn:aws:iam::1:role/r", "x"
		}),
		Entry("env_or_profile, without keys", func(s *Settings) { *s = Settings{CredentialsSource: "env_or_profile", Region: "eu-west-1"} }),
		Entry("env_or_profile, with a role", func(s *Settings) {
			*s = Settings{CredentialsSource: "env_or_profile", Region: "eu-west-1", RoleARN: "arn:aws:iam::1:role/r"}
		}),
		Entry("no retries", func(s *Settings) { s.MaxRetries = new(int) }),
	)

	It("may forbid retries", func() {
		settings := valid(func(s *Settings) { s.MaxRetries = new(int) })
		Expect(settings.maxRetries()).To(BeZero())
	})

	DescribeTable("are invalid, and the error names the key but shows no secret",
		func(key, fault string, change func(*Settings)) {
			Expect(valid(change).Validate()).To(MatchError(And(HavePrefix("aws."+key), ContainSubstring(fault), Not(ContainSubstring("canary")))))
		},
		Entry("no access key", "access_key_id", "missing", func(s *Settings) { s.AccessKeyID = "" }),
		Entry("no secret key", "secret_access_key", "missing", func(s *Settings) { s.SecretAccessKey = "" }),
		Entry("no access key, static by name", "access_key_id", `"static" needs`, func(s *Settings) { s.CredentialsSource, s.AccessKeyID = "static", "" }),
		Entry("env_or_profile with an access key", "access_key_id", "must not be given keys", func(s *Settings) {
			*s = Settings{CredentialsSource: "env_or_profile", Region: "r", AccessKeyID: "canary"}
		}),
		Entry("env_or_profile with a secret key", "secret_access_key", "must not be given keys", func(s *Settings) {
			*s = Settings{CredentialsSource: "env_or_profile", Region: "r", SecretAccessKey: "canary"}
		}),
		Entry("another source", "credentials_source", `expected "static" or "env_or_profile", got "magic"`, func(s *Settings) { s.CredentialsSource = "magic" }),
		Entry("an external id without a role", "external_id", "without aws.role_arn", func(s *Settings) { s.ExternalID = "canary" }),
		Entry("negative retries", "max_retries", "expected 0 or more, got -1", func(s *Settings) { s.MaxRetries = &negative }),
		Entry("no region", "region", "is missing, and no endpoint's host name tells it", func(s *Settings) { s.Region = "" }),
		Entry("no region, and an endpoint that tells none", "region", "is missing", func(s *Settings) { s.Region, s.EC2Endpoint = "", "http://127.0.0.1:5000" }),
		Entry("FIPS beside an endpoint", "fips", "aws.ec2_endpoint", func(s *Settings) { s.FIPS, s.EC2Endpoint = true, "ec2.local" }),
		Entry("EC2 endpoint with credentials", "ec2_endpoint", "without credentials", func(s *Settings) { s.EC2Endpoint = "https://user:canary@ec2" }),
		Entry("EC2 endpoint with another scheme", "ec2_endpoint", "http(s)", func(s *Settings) { s.EC2Endpoint = "ftp://ec2" }),
		Entry("ELB endpoint without a host", "elb_endpoint", "host name", func(s *Settings) { s.ELBEndpoint = "https://" }),
		Entry("STS endpoint with a space", "sts_endpoint", "host name", func(s *Settings) { s.STSEndpoint = "sts amazonaws.com" }),
		Entry("EBS endpoint with a bad escape", "ebs_endpoint", "host name", func(s *Settings) { s.EBSEndpoint = "https://ebs%zz" }),
	)

	DescribeTable("give an endpoint without a scheme https",
		func(sent, used string) {
			settings := valid(func(s *Settings) { s.EC2Endpoint, s.ELBEndpoint, s.STSEndpoint, s.EBSEndpoint = sent, sent, sent, sent })
			Expect(settings.Validate()).To(Succeed())
			Expect([]string{settings.EC2Endpoint, settings.ELBEndpoint, settings.STSEndpoint, settings.EBSEndpoint}).To(HaveEach(used))
		},
		Entry("none", "", ""),
		Entry("host name", "ec2.us-east-1.amazonaws.com", "https://ec2.us-east-1.amazonaws.com"),
		Entry("host and port", "localhost:5000", "https://localhost:5000"),
		Entry("http stays", "http://127.0.0.1:5000", "http://127.0.0.1:5000"),
		Entry("https stays", "https://ec2.internal/path", "https://ec2.internal/path"),
	)

	DescribeTable("take a missing region from an endpoint's host name",
		func(ec2, elb, region string) {
			settings := valid(func(s *Settings) { s.Region, s.EC2Endpoint, s.ELBEndpoint = "", ec2, elb })
			Expect(settings.Validate()).To(Succeed())
			Expect(settings.Region).To(Equal(region))
		},
		Entry("EC2", "ec2.eu-central-1.amazonaws.com", "", "eu-central-1"),
		Entry("with scheme and port", "https://ec2.ap-southeast-2.amazonaws.com:443", "", "ap-southeast-2"),
		Entry("ELB", "", "elasticloadbalancing.us-west-2.amazonaws.com", "us-west-2"),
		Entry("EC2 before ELB", "ec2.eu-west-1.amazonaws.com", "elasticloadbalancing.us-west-2.amazonaws.com", "eu-west-1"),
		Entry("ELB when EC2's tells none", "http://127.0.0.1:5000", "elasticloadbalancing.us-west-2.amazonaws.com", "us-west-2"),
		Entry("GovCloud", "ec2.us-gov-west-1.amazonaws.com", "", "us-gov-west-1"),
		Entry("China", "ec2.cn-north-1.amazonaws.com.cn", "", "cn-north-1"),
		Entry("dual-stack", "ec2.us-east-2.api.aws", "", "us-east-2"),
		Entry("FIPS", "ec2-fips.ca-central-1.amazonaws.com", "", "ca-central-1"),
		Entry("isolated", "ec2.us-iso-east-1.c2s.ic.gov", "", "us-iso-east-1"),
		Entry("a VPC endpoint", "vpce-0a1b2c3d4e5f6a7b8-abcd1234.ec2.us-east-1.vpce.amazonaws.com", "", "us-east-1"),
		Entry("a VPC endpoint of one zone", "vpce-0a1b2c3d4e5f6a7b8-abcd1234-us-east-1a.ec2.us-east-1.vpce.amazonaws.com", "", "us-east-1"),
	)

	DescribeTable("ask for a variant of AWS's own endpoints",
		func(dualStack, fips bool, wantDualStack sdk.DualStackEndpointState, wantFIPS sdk.FIPSEndpointState) {
			url, gotDualStack, gotFIPS := Settings{DualStack: dualStack, FIPS: fips}.endpoint("")
			Expect(url).To(BeNil())
			Expect(gotDualStack).To(Equal(wantDualStack))
			Expect(gotFIPS).To(Equal(wantFIPS))
		},
		Entry("the usual one", false, false, sdk.DualStackEndpointStateUnset, sdk.FIPSEndpointStateUnset),
		Entry("dual-stack", true, false, sdk.DualStackEndpointStateEnabled, sdk.FIPSEndpointStateUnset),
		Entry("FIPS", false, true, sdk.DualStackEndpointStateUnset, sdk.FIPSEndpointStateEnabled),
		Entry("both", true, true, sdk.DualStackEndpointStateEnabled, sdk.FIPSEndpointStateEnabled),
	)

	It("take an endpoint of their own as it is", func() {
		url, dualStack, fips := Settings{DualStack: true}.endpoint("https://ec2.local")
		Expect(url).To(HaveValue(Equal("https://ec2.local")))
		Expect(dualStack).To(Equal(sdk.DualStackEndpointStateUnset))
		Expect(fips).To(Equal(sdk.FIPSEndpointStateUnset))
	})

	It("do not let an endpoint override the region", func() {
		settings := valid(func(s *Settings) { s.EC2Endpoint = "ec2.eu-central-1.amazonaws.com" })
		Expect(settings.Validate()).To(Succeed())
		Expect(settings.Region).To(Equal("us-east-1"))
	})
})
