package release_test

import (
	"context"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/heavyimage"
)

func describeAccess() {
	It("tells whose credentials are used", func(ctx SpecContext) {
		seen := plainWitness()
		i := install(ctx, without(map[string]any{
			"aws.access_key_id": "AKIADISTINCT", "aws.secret_access_key": "distinct/secret", "aws.session_token": "distinct-token",
			"aws.region": "eu-distinct-7", "aws.ec2_endpoint": seen.URL, "aws.max_retries": 0,
		}))
		Expect(i.fail(ctx, "has_vm", hasVM...).Message).To(ContainSubstring("Witnessed"))
		request := seen.first()
		i.shows("aws.access_key_id", "Authorization:", request.Header.Get("Authorization"))
		i.shows("aws.region", "Authorization:", request.Header.Get("Authorization"))
		i.shows("aws.session_token", "X-Amz-Security-Token:", request.Header.Get("X-Amz-Security-Token"))
		Expect(request.signedWith(ctx, "AKIADISTINCT", "distinct/secret", "distinct-token", "eu-distinct-7")).To(BeTrue())
		Expect(request.signedWith(ctx, "AKIADISTINCT", "other/secret", "distinct-token", "eu-distinct-7")).To(BeFalse())
		i.proves("aws.secret_access_key", "the request's signature, made again with it")
		i.shows("aws.ec2_endpoint", "DescribeInstances went to", "http://"+request.Host)
	})

	It("tells which role is assumed", func(ctx SpecContext) {
		seen := plainWitness()
		i := install(ctx, without(map[string]any{
			"aws.role_arn": "arn:aws:iam::123456789012:role/distinct", "aws.external_id": "distinct-external", "aws.sts_endpoint": seen.URL,
		}))
		i.fail(ctx, "has_vm", hasVM...)
		form := seen.first().Form
		Expect(form.Get("Action")).To(Equal("AssumeRole"))
		i.shows("aws.role_arn", "AssumeRole RoleArn", form.Get("RoleArn"))
		i.shows("aws.external_id", "AssumeRole ExternalId", form.Get("ExternalId"))
		i.shows("aws.sts_endpoint", "AssumeRole went to", "http://"+seen.first().Host)
	})

	It("tells where credentials come from", func(ctx SpecContext) {
		seen := plainWitness()
		i := install(ctx, without(map[string]any{
			"aws.credentials_source": "env_or_profile", "aws.ec2_endpoint": seen.URL, "aws.access_key_id": nil, "aws.secret_access_key": nil,
		}))
		i.env = append(i.env, "AWS_ACCESS_KEY_ID=AKIAENVIRONMENT", "AWS_SECRET_ACCESS_KEY=x")
		i.fail(ctx, "has_vm", hasVM...)
		Expect(seen.first().Header.Get("Authorization")).To(ContainSubstring("AKIAENVIRONMENT"))
		i.proves("aws.credentials_source", "signed with the environment's key")
	})

	It("tells where load balancers are", func(ctx SpecContext) {
		seen := plainWitness()
		i := install(ctx, with(map[string]any{"aws.elb_endpoint": seen.URL}))
		i.fail(ctx, "create_vm", newVM(map[string]any{"lb_target_groups": []string{"web"}})...)
		Expect(seen.first().Form.Get("Action")).To(Equal("DescribeTargetGroups"))
		i.shows("aws.elb_endpoint", "DescribeTargetGroups went to", "http://"+seen.first().Host)
	})

	It("tells where blocks of heavy stemcells go", func(ctx SpecContext) {
		image := filepath.Join(GinkgoT().TempDir(), "image")
		Expect(heavyimage.Spec{Bytes: 1 << 20}.Write(image)).To(Succeed())
		seen := plainWitness()
		i := install(ctx, with(map[string]any{"aws.ebs_endpoint": seen.URL}))
		i.fail(ctx, "create_stemcell", image, map[string]any{"name": "heavy", "version": "1"})
		Expect(seen.first().URL).To(Equal("/snapshots"))
		i.shows("aws.ebs_endpoint", "StartSnapshot went to", "http://"+seen.first().Host)
	})
}

func describeConnections() {
	It("tells whom to trust", func(ctx SpecContext) {
		seen := newWitness((*httptest.Server).StartTLS)
		ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: seen.Certificate().Raw}))
		i := install(ctx, without(map[string]any{"aws.ec2_endpoint": seen.URL, "aws.connection_options.ca_cert": ca}))
		Expect(i.fail(ctx, "has_vm", hasVM...).Message).To(ContainSubstring("Witnessed"))
		i.proves("aws.connection_options.ca_cert", "a TLS connection to the endpoint that it signed")

		doubtful := install(ctx, without(map[string]any{"aws.ec2_endpoint": seen.URL}))
		Expect(doubtful.fail(ctx, "has_vm", hasVM...).Message).To(ContainSubstring("certificate"))
	})

	for property, host := range map[string]string{
		"aws.dualstack": "ec2.eu-central-1.api.aws:443",
		"aws.fips":      "ec2-fips.us-east-2.amazonaws.com:443",
	} {
		It("tells which of AWS's endpoints to use: "+property, func(ctx SpecContext) {
			seen := plainWitness()
			region := strings.Split(strings.TrimPrefix(host, "ec2-fips."), ".")
			i := install(ctx, without(map[string]any{
				property: true, "env.https_proxy": seen.URL,
				"aws.region": map[bool]string{true: region[0], false: "eu-central-1"}[property == "aws.fips"],
			}))
			i.fail(ctx, "has_vm", hasVM...)
			Expect(seen.first().Method + " " + seen.first().Host).To(Equal("CONNECT " + host))
			i.proves(property, "CONNECT "+host)
			i.proves("env.https_proxy", "CONNECT "+host+" came to the proxy")
		})
	}

	It("tells which proxy to use, and for what not", func(ctx SpecContext) {
		endpoint, seen := plainWitness(), plainWitness()
		// 0.0.0.0 is this machine, and no loopback address, which no proxy is asked for.
		unspecified := strings.Replace(endpoint.URL, "127.0.0.1", "0.0.0.0", 1)
		properties := without(map[string]any{"aws.ec2_endpoint": unspecified, "env.http_proxy": seen.URL})
		i := install(ctx, properties)
		i.fail(ctx, "has_vm", hasVM...)
		Expect(seen.all()).To(HaveLen(1))
		Expect(endpoint.all()).To(BeEmpty())
		i.proves("env.http_proxy", "POST "+unspecified+" came to the proxy")

		properties["env.no_proxy"] = "example.com,0.0.0.0"
		i = install(ctx, properties)
		i.fail(ctx, "has_vm", hasVM...)
		Expect(seen.all()).To(HaveLen(1))
		Expect(endpoint.all()).To(HaveLen(1))
		i.proves("env.no_proxy", "POST "+unspecified+" came without the proxy")
	})

	It("tells how often to try and how long to wait", func(ctx SpecContext) {
		seen := plainWitness()
		seen.answer = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }
		i := install(ctx, without(map[string]any{"aws.ec2_endpoint": seen.URL, "aws.max_retries": 5, "debug.cpi.time_scale": 0.0001}))
		outcome := i.cpi().Call(ctx, "has_vm", hasVM...)
		Expect(outcome.Response.Error).NotTo(BeNil())
		Expect(seen.all()).To(HaveLen(6))
		i.proves("aws.max_retries", "6 requests to an endpoint that fails")
		Expect(outcome.Response.Log).To(ContainSubstring("0.0 s waited"))
		i.proves("debug.cpi.time_scale", "0.0 s waited between 6 tries")
	})

	It("tells how long a request may take", func(ctx SpecContext) {
		ended := make(chan struct{})
		seen := plainWitness()
		seen.answer = func(_ http.ResponseWriter, request *http.Request) {
			<-request.Context().Done()
			close(ended)
		}
		i := install(ctx, without(map[string]any{"aws.ec2_endpoint": seen.URL, "aws.max_retries": 0, "debug.cpi.http_timeout": 0.25}))
		outcome := i.cpi().Call(ctx, "has_vm", hasVM...)
		Expect(outcome.Response.Error).NotTo(BeNil())
		Eventually(ctx, ended).Should(BeClosed())
		Expect(outcome.Wall.Seconds()).To(And(BeNumerically(">", 0.25), BeNumerically("<", 30)))
		i.proves("debug.cpi.http_timeout", "a request without an answer was given up")
	})
}

// newVM are arguments of create_vm on the emulator.
func newVM(properties map[string]any) []any {
	subnet := account.Subnets[0]
	all := map[string]any{"instance_type": "m5.large", "availability_zone": subnet.Zone}
	for key, value := range properties {
		all[key] = value
	}
	network := map[string]any{
		"type": "manual", "ip": subnet.IP(20), "netmask": subnet.Netmask(), "gateway": subnet.Gateway(),
		"cloud_properties": map[string]any{"subnet": subnet.ID},
	}
	return []any{"agent-1", account.Image + " light", all, map[string]any{"default": network}, []string{}, map[string]any{}}
}

// inVM makes a VM, gives it to look, and deletes it.
func (i *installed) inVM(ctx context.Context, properties map[string]any, look func(vm string)) {
	GinkgoHelper()
	aws.Clear()
	vm := i.succeed(ctx, "create_vm", newVM(properties)...).VM()
	defer i.succeed(ctx, "delete_vm", vm)
	look(vm)
}
