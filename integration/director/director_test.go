package director_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/director"
	"bosh-aws-cpi/integration/emulator"
	"bosh-aws-cpi/integration/heavyimage"
	"bosh-aws-cpi/integration/life"
	"bosh-aws-cpi/integration/proxy"
)

func keys[V any](of map[string]V) iter.Seq[string] { return maps.Keys(of) }

// cpi is the CPI that a Director has without a CPI config.
func cpi() director.ExternalCPI {
	return director.ExternalCPI{Command: machine.Command, UUID: uuid, APIVersion: 2, Stemcell: 3}
}

// live leads a VM's life and expects every step to succeed and nothing to be left.
func live(ctx context.Context, cpi director.ExternalCPI, account emulator.Account) {
	GinkgoHelper()
	before, err := moto.Inventory(ctx, account.Region)
	Expect(err).NotTo(HaveOccurred())
	state := &life.State{Account: account}
	for _, step := range life.Full() {
		outcome := succeed(ctx, cpi, step.Method, step.Arguments(state)...)
		if step.Keep != nil {
			step.Keep(state, outcome)
		}
	}
	after, err := moto.Inventory(ctx, account.Region)
	Expect(err).NotTo(HaveOccurred())
	Expect(emulator.Diff(before, after)).To(BeEmpty())
}

var _ = Describe("a Director", Ordered, func() {
	for _, version := range []int{2, 3} {
		It(fmt.Sprintf("leads a VM's whole life with API version %d", version), func(ctx SpecContext) {
			asking := cpi()
			asking.APIVersion, asking.Stemcell = 0, 0
			info := succeed(ctx, asking, "info")
			Expect(info.Response.Result).To(MatchJSON(`{"stemcell_formats":["aws-raw","aws-light"],"api_version":3}`))
			calling := cpi()
			calling.APIVersion = version
			live(ctx, calling, account)
		})
	}

	It("calls what a life does not need", func(ctx SpecContext) {
		Expect(succeed(ctx, cpi(), "ping").Text()).To(Equal("pong"))
		Expect(succeed(ctx, cpi(), "current_vm_id").Text()).To(Equal(instanceID))

		disk := succeed(ctx, cpi(), "create_disk", 10240, map[string]any{}).Text()
		succeed(ctx, cpi(), "update_disk", disk, 20480, map[string]any{"type": "gp3", "iops": 4000})
		succeed(ctx, cpi(), "delete_disk", disk)

		var made []any
		network := map[string]any{"type": "manual", "range": "10.0.77.0/24", "cloud_properties": map[string]any{
			"vpc": account.VPC, "availability_zone": account.Subnets[0].Zone,
		}}
		Expect(succeed(ctx, cpi(), "create_network", network).Decode(&made)).To(Succeed())
		succeed(ctx, cpi(), "delete_network", made[0])

		dir := GinkgoT().TempDir()
		for _, folder := range []string{dir, filepath.Dir(dir)} { // for the user vcap
			Expect(os.Chmod(folder, 0o755)).To(Succeed())
		}
		image := filepath.Join(dir, "image")
		Expect(heavyimage.Spec{Bytes: 2 << 20}.Write(image)).To(Succeed())
		stemcell := succeed(ctx, cpi(), "create_stemcell", image, map[string]any{"name": "heavy", "version": "1"}).Text()
		Expect(stemcell).To(HavePrefix("ami-"))
		succeed(ctx, cpi(), "delete_stemcell", stemcell)

		_, err := invoke(ctx, cpi(), "configure_networks", "i-00000000000000000", map[string]any{})
		Expect(err).To(MatchError(ContainSubstring("NotSupported")))
		_, err = invoke(ctx, cpi(), "make_coffee")
		Expect(err).To(MatchError(ContainSubstring("Method is not known, got: 'make_coffee'")))
	})

	It("finds nothing left of a VM that failed at its last step", func(ctx SpecContext) {
		before, err := moto.Inventory(ctx, account.Region)
		Expect(err).NotTo(HaveOccurred())
		arguments := createVM(account.Image+" light", map[string]any{
			"iam_instance_profile": "arn:aws:iam::123456789012:instance-profile/" + account.InstanceProfile,
			"advertised_routes": []map[string]string{
				{"table_id": account.RouteTable, "destination": "10.88.1.0/24"}, {"table_id": account.RouteTable, "destination": "10.88.2.0/24"},
			},
		})
		rule := aws.Add(proxy.Rule{Action: "CreateRoute", Nth: 2, Do: proxy.Fail(400, "RouteLimitExceeded", "The maximum number of routes has been reached.")})
		defer rule.Remove()
		_, err = invoke(ctx, cpi(), "create_vm", arguments...)
		Expect(err).To(MatchError(ContainSubstring("RouteLimitExceeded")))
		after, err := moto.Inventory(ctx, account.Region)
		Expect(err).NotTo(HaveOccurred())
		Expect(emulator.Diff(before, after)).To(BeEmpty())
	})

	It("tells AWS who asks", func(ctx SpecContext) {
		mark := aws.Mark()
		succeed(ctx, cpi(), "has_vm", "i-00000000000000000")
		Expect(aws.Since(mark)[0].UserAgent).To(MatchRegexp(`bosh-aws-cpi/\S+ director/` + uuid + ` request/cpi-\d{6}$`))
	})

	It("has two CPI configs side by side", func(ctx SpecContext) {
		elsewhere := map[string]emulator.Account{}
		for _, region := range []string{"eu-central-1", "ap-southeast-2"} {
			var err error
			elsewhere[region], err = moto.NewAccount(ctx, region)
			Expect(err).NotTo(HaveOccurred())
		}
		mark := aws.Mark()
		ended := make(chan struct{})
		for region, account := range elsewhere {
			go func() {
				defer GinkgoRecover()
				defer func() { ended <- struct{}{} }()
				configured := cpi()
				configured.Properties = map[string]any{
					"region": region, "access_key_id": "AKIA" + region, "secret_access_key": "secret/" + region,
					"default_key_name": account.KeyName, "default_security_groups": []string{account.Groups[0].ID},
				}
				live(ctx, configured, account)
			}()
		}
		for range elsewhere {
			<-ended
		}
		regions := map[string]int{}
		for _, call := range aws.Since(mark) {
			Expect(call.AccessKey).To(Equal("AKIA"+call.Region), call.Action)
			regions[call.Region]++
		}
		Expect(regions).To(And(HaveLen(2), HaveKey("eu-central-1"), HaveKey("ap-southeast-2")))
	})

	It("knows every error: what is not there", func(ctx SpecContext) {
		for _, call := range everyMethod() {
			_, _ = invoke(ctx, cpi(), call.method, call.arguments...) // invoke holds it to what is known
		}
	})

	for name, effect := range map[string]proxy.Effect{
		"a permission missing": proxy.Fail(403, "UnauthorizedOperation", "You are not authorized to perform this operation."),
		"wrong credentials":    proxy.Fail(401, "AuthFailure", "AWS was not able to validate the provided access credentials"),
		"AWS failing":          proxy.Fail(500, "InternalError", "An internal error has occurred"),
		"a limit reached":      proxy.Fail(400, "VcpuLimitExceeded", "You have requested more vCPU capacity than your current limit"),
		"no answer":            proxy.DropReply(),
		"something else":       proxy.HTML(502),
	} {
		It("knows every error: "+name, func(ctx SpecContext) {
			rule := aws.Add(proxy.Rule{Do: effect})
			defer rule.Remove()
			failed := 0
			for _, call := range everyMethod() {
				if _, err := invoke(ctx, cpi(), call.method, call.arguments...); err != nil {
					failed++
				}
			}
			Expect(failed).To(BeNumerically(">=", 15))
		})
	}

	It("gets InvalidCall for what it would never send, and for nothing else", func(ctx SpecContext) {
		for _, call := range []call{
			{"has_vm", nil}, {"has_vm", []any{1}}, {"create_disk", []any{"much", map[string]any{}}}, {"create_vm", []any{"agent"}},
		} {
			_, err := cpi().Invoke(ctx, call.method, call.arguments...)
			var unknown director.UnknownError
			Expect(errors.As(err, &unknown)).To(BeTrue(), "%s: %v", call.method, err)
			Expect(unknown.Response.Type).To(Equal("InvalidCall"))
			Expect(unknown.Response.Message).To(ContainSubstring(call.method))
		}
	})

	It("has called every method by now", func() {
		var all []string
		for _, call := range everyMethod() {
			all = append(all, call.method)
		}
		for _, method := range all {
			Expect(seen).To(HaveKey(method))
		}
	})
})

// call is one that a Director could make.
type call struct {
	method    string
	arguments []any
}

// createVM are the arguments of create_vm for a stemcell, with more cloud properties.
func createVM(stemcell string, more map[string]any) []any {
	GinkgoHelper()
	for _, step := range life.OneVM() {
		if step.Method == "create_vm" {
			arguments := step.Arguments(&life.State{Account: account, Stemcell: stemcell})
			maps.Copy(arguments[2].(map[string]any), more)
			return arguments
		}
	}
	Fail("a life without create_vm")
	return nil
}

// everyMethod calls each method about something that is not there, where it can.
func everyMethod() []call {
	const vm, disk = "i-00000000000000000", "vol-00000000000000000"
	nothing := map[string]any{}
	return []call{
		{"info", nil}, {"ping", nil}, {"current_vm_id", nil}, {"configure_networks", []any{vm, nothing}},
		{"calculate_vm_cloud_properties", []any{map[string]any{"cpu": 1 << 20, "ram": 1, "ephemeral_disk_size": 1}}},
		{"create_stemcell", []any{"/nowhere", map[string]any{"ami": map[string]any{"mars-north-1": "ami-00000000000000000"}}}},
		{"delete_stemcell", []any{"ami-00000000000000000"}}, {"create_vm", createVM("ami-00000000000000000 light", nil)}, {"delete_vm", []any{vm}}, {"has_vm", []any{vm}},
		{"reboot_vm", []any{vm}}, {"set_vm_metadata", []any{vm, map[string]any{"job": "x", "index": 0}}}, {"get_disks", []any{vm}},
		{"create_disk", []any{1024, nothing, vm}}, {"delete_disk", []any{disk}}, {"has_disk", []any{disk}},
		{"attach_disk", []any{vm, disk}}, {"detach_disk", []any{vm, disk}}, {"resize_disk", []any{disk, 2048}},
		{"update_disk", []any{disk, 2048, nothing}}, {"set_disk_metadata", []any{disk, map[string]any{"a": "b"}}},
		{"snapshot_disk", []any{disk, nothing}}, {"delete_snapshot", []any{"snap-00000000000000000"}},
		{"create_network", []any{map[string]any{"type": "manual", "range": "10.0.78.0/24", "cloud_properties": map[string]any{"vpc": "vpc-00000000000000000", "availability_zone": "us-east-1a"}}}},
		{"delete_network", []any{"subnet-00000000000000000"}},
	}
}
