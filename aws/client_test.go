package aws

import (
	"context"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("The user agent", func() {
	DescribeTable("names the caller in characters that a header takes",
		func(version, director, request, expected string) {
			Expect(userAgent(Options{Version: version, Director: director, Request: request})).To(Equal(expected))
		},
		Entry("as they are", "1.2.3", "4f0c-11", "cpi-abc_1", "bosh-aws-cpi/1.2.3 director/4f0c-11 request/cpi-abc_1"),
		Entry("nobody", "dev", "", "", "bosh-aws-cpi/dev director/ request/"),
		Entry("line breaks", "1", "a\r\nX-Evil: 1", "r\n", "bosh-aws-cpi/1 director/a__X-Evil__1 request/r_"),
		Entry("spaces, slashes and letters beyond ASCII", "1 2/3", "é", "(r)", "bosh-aws-cpi/1_2_3 director/_ request/_r_"),
	)
})

var _ = Describe("The resources of a call", func() {
	DescribeTable("are logged by id, name or ARN",
		func(input any, expected string) { Expect(resourcesOf(input)).To(Equal(expected)) },
		Entry("one", &ec2.AttachVolumeInput{VolumeId: sdk.String("vol-1"), InstanceId: sdk.String("i-1"), Device: sdk.String("/dev/sdf")}, "i-1,vol-1"),
		Entry("several", &ec2.DescribeVolumesInput{VolumeIds: []string{"vol-1", "vol-2"}}, "vol-1,vol-2"),
		Entry("tagged", &ec2.CreateTagsInput{Resources: []string{"i-1"}, Tags: []types.Tag{{Key: sdk.String("k"), Value: sdk.String("canary")}}}, "i-1"),
		Entry("by ARN", &elbv2.RegisterTargetsInput{TargetGroupArn: sdk.String("arn:tg"), Targets: []elbv2types.TargetDescription{{Id: sdk.String("i-1")}}}, "arn:tg"),
		Entry("by name", &elb.RegisterInstancesWithLoadBalancerInput{LoadBalancerName: sdk.String("web")}, "web"),
		Entry("none", &ec2.DescribeAvailabilityZonesInput{}, ""),
		Entry("no input", nil, ""),
	)

	DescribeTable("are all that is logged",
		func(input any) { Expect(resourcesOf(input)).NotTo(ContainSubstring("canary")) },
		Entry("of a launch", &ec2.RunInstancesInput{
			ImageId: sdk.String("ami-1"), UserData: sdk.String("canary"), ClientToken: sdk.String("canary"), KeyName: sdk.String("canary"),
			TagSpecifications: []types.TagSpecification{{Tags: []types.Tag{{Key: sdk.String("canary"), Value: sdk.String("canary")}}}},
		}),
		Entry("of a volume", &ec2.CreateVolumeInput{KmsKeyId: sdk.String("canary"), ClientToken: sdk.String("canary"), AvailabilityZone: sdk.String("a")}),
		Entry("of a role", &sts.AssumeRoleInput{RoleArn: sdk.String("arn:role"), ExternalId: sdk.String("canary"), TokenCode: sdk.String("canary")}),
	)
})

var _ = Describe("The figures", func() {
	It("sum up calls, throttling and waiting", func() {
		var f figures
		f.call(false)
		f.call(true)
		f.wait(1500 * time.Millisecond)
		f.wait(time.Second)
		Expect(f.String()).To(Equal("2 AWS calls, 1 throttled, 2.5 s waited"))
		Expect(f.throttledSoFar()).To(Equal(1))
	})
})

var _ = Describe("The credentials", func() {
	It("that are static come from the settings alone, whatever the environment says", func() {
		GinkgoT().Setenv("AWS_ACCESS_KEY_ID", "other")
		GinkgoT().Setenv("AWS_SECRET_ACCESS_KEY", "other")
		GinkgoT().Setenv("AWS_REGION", "eu-north-1")
		base, err := baseConfig(context.Background(), Settings{CredentialsSource: StaticCredentials, AccessKeyID: "id", SecretAccessKey: "key", SessionToken: "token", Region: "us-east-1"}, nil)
		Expect(err).NotTo(HaveOccurred())
		credentials, err := base.Credentials.Retrieve(context.Background())
		Expect(err).NotTo(HaveOccurred())
		Expect(credentials).To(And(HaveField("AccessKeyID", "id"), HaveField("SecretAccessKey", "key"), HaveField("SessionToken", "token")))
		Expect(base.Region).To(Equal("us-east-1"))
	})

	It("may come from the environment; region and endpoints do not", func() {
		for key, value := range map[string]string{
			"AWS_ACCESS_KEY_ID": "env-id", "AWS_SECRET_ACCESS_KEY": "env-key", "AWS_SESSION_TOKEN": "env-token",
			"AWS_REGION": "eu-north-1", "AWS_ENDPOINT_URL": "http://elsewhere", "AWS_CONFIG_FILE": "/nowhere", "AWS_SHARED_CREDENTIALS_FILE": "/nowhere",
			CAFileVariable: "",
		} {
			GinkgoT().Setenv(key, value)
		}
		transport, err := NewHTTPClient(time.Second)
		Expect(err).NotTo(HaveOccurred())
		base, err := baseConfig(context.Background(), Settings{CredentialsSource: EnvOrProfile, Region: "us-east-1"}, transport)
		Expect(err).NotTo(HaveOccurred())
		credentials, err := base.Credentials.Retrieve(context.Background())
		Expect(err).NotTo(HaveOccurred())
		Expect(credentials).To(And(HaveField("AccessKeyID", "env-id"), HaveField("SessionToken", "env-token")))
		Expect(base.Region).To(Equal("us-east-1"))
		Expect(base.BaseEndpoint).To(BeNil())
	})
})

var _ = Describe("A client token", func() {
	It("is new each time and short enough for AWS", func() {
		first, second := *newToken(), *newToken()
		Expect(first).NotTo(Equal(second))
		Expect(len(first)).To(BeNumerically("<=", 64))
		Expect(strings.ToValidUTF8(first, "")).To(MatchRegexp(`^[!-~]+$`))
	})
})
