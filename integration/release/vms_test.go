package release_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/proxy"
)

// launched is the RunInstances of the VM that inVM made.
func launched() proxy.Call {
	GinkgoHelper()
	launches := aws.Calls().Of("RunInstances")
	Expect(launches).To(HaveLen(1))
	return launches[0]
}

func describeDefaults() {
	It("tells what VMs get that ask for nothing", func(ctx SpecContext) {
		i := install(ctx, with(map[string]any{
			"aws.default_key_name":             account.KeyName,
			"aws.default_security_groups":      []string{account.Groups[0].ID, account.Groups[1].ID},
			"aws.default_iam_instance_profile": account.InstanceProfile,
			"aws.encrypted":                    true,
			"aws.kms_key_arn":                  "arn:aws:kms:us-east-1:123456789012:key/distinct",
			"aws.metadata_options":             map[string]any{"http_put_response_hop_limit": 7, "http_tokens": "required"},
		}))
		i.inVM(ctx, nil, func(string) {
			launch := launched()
			i.shows("aws.default_key_name", "RunInstances KeyName", launch.Param("KeyName"))
			Expect(launch.List("NetworkInterface.1.SecurityGroupId")).To(ConsistOf(account.Groups[0].ID, account.Groups[1].ID))
			i.proves("aws.default_security_groups", "RunInstances NetworkInterface.1.SecurityGroupId")
			i.shows("aws.default_iam_instance_profile", "RunInstances IamInstanceProfile.Name", launch.Param("IamInstanceProfile.Name"))
			i.shows("aws.encrypted", "RunInstances BlockDeviceMapping.1.Ebs.Encrypted", launch.Param("BlockDeviceMapping.1.Ebs.Encrypted"))
			i.shows("aws.kms_key_arn", "RunInstances BlockDeviceMapping.1.Ebs.KmsKeyId", launch.Param("BlockDeviceMapping.1.Ebs.KmsKeyId"))
			Expect(launch.Param("MetadataOptions.HttpPutResponseHopLimit")).To(Equal("7"))
			Expect(launch.Param("MetadataOptions.HttpTokens")).To(Equal("required"))
			i.proves("aws.metadata_options", "RunInstances MetadataOptions.HttpPutResponseHopLimit 7, HttpTokens required")
		})
	})
}

func describeBehaviour() {
	It("tells how VMs are deleted", func(ctx SpecContext) {
		i := install(ctx, with(map[string]any{"aws.fast_path_delete": true}))
		i.inVM(ctx, nil, func(string) {})
		Expect(aws.Calls().Of("CreateTags").Where(func(c proxy.Call) bool {
			return c.Param("Tag.1.Value") == "to be deleted"
		})).To(HaveLen(1))
		i.proves("aws.fast_path_delete", "CreateTags Name: to be deleted")
	})

	It("tells whether to ask about instance types", func(ctx SpecContext) {
		curious := install(ctx, with(nil))
		aws.Clear()
		curious.fail(ctx, "create_vm", newVM(map[string]any{"instance_type": "z99.large"})...)
		Expect(aws.Calls().Of("DescribeInstanceTypes")).NotTo(BeEmpty())

		i := install(ctx, with(map[string]any{"aws.enable_describe_instance_types": false}))
		aws.Clear()
		i.fail(ctx, "create_vm", newVM(map[string]any{"instance_type": "z99.large"})...)
		Expect(aws.Calls().Of("RunInstances")).NotTo(BeEmpty())
		Expect(aws.Calls().Of("DescribeInstanceTypes")).To(BeEmpty())
		i.proves("aws.enable_describe_instance_types", "no DescribeInstanceTypes for z99.large")
	})

	It("may name a kernel, which nothing needs any more", func(ctx SpecContext) {
		i := install(ctx, with(map[string]any{"aws.stemcell.kernel_id": "aki-0distinct"}))
		i.inVM(ctx, nil, func(string) {
			Expect(launched().Params).NotTo(HaveKey("KernelId"))
		})
		Expect(i.files["config/cpi.json"]).To(ContainSubstring("aki-0distinct"))
		i.proves("aws.stemcell.kernel_id", "accepted and not used: a VM was made without it")
	})

	It("tells which API version to offer, and how much to log", func(ctx SpecContext) {
		i := install(ctx, with(map[string]any{"debug.cpi.api_version": 2, "debug.cpi.log_level": "debug"}))
		outcome := i.succeed(ctx, "info")
		Expect(outcome.Response.Result).To(MatchJSON(`{"stemcell_formats":["aws-raw","aws-light"],"api_version":2}`))
		i.proves("debug.cpi.api_version", "info: api_version 2")
		Expect(string(outcome.Stderr)).To(ContainSubstring("DEBUG"))
		i.proves("debug.cpi.log_level", "DEBUG lines on stderr")
	})
}
