package integration_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/emulator/query"
	"bosh-aws-cpi/integration/proxy"
)

// relayTo passes requests on to a base URL.
func relayTo(base string) http.Handler {
	GinkgoHelper()
	target, err := url.Parse(base)
	Expect(err).NotTo(HaveOccurred())
	return httputil.NewSingleHostReverseProxy(target)
}

// serving runs a server for the rest of the spec.
func serving(server *httptest.Server) *httptest.Server {
	DeferCleanup(server.Close)
	return server
}

// file writes a file for the suite and returns its path.
func file(content []byte) string {
	GinkgoHelper()
	made, err := os.CreateTemp(scratch, "file-")
	Expect(err).NotTo(HaveOccurred())
	_, err = made.Write(content)
	Expect(err).NotTo(HaveOccurred())
	Expect(made.Close()).To(Succeed())
	return filepath.ToSlash(made.Name())
}

// everyService are create_vm's arguments with which it talks to EC2 and to both
// generations of load balancers.
func everyService() []any {
	return vmArguments(map[string]any{"lb_target_groups": []string{account.TargetGroup.Name}, "elbs": []string{account.LoadBalancer}}, nil, nil, nil)
}

var _ = Describe("Credentials", func() {
	chain := map[string]any{"credentials_source": "env_or_profile", "access_key_id": nil, "secret_access_key": nil}
	environment := []string{"AWS_ACCESS_KEY_ID=AKIAFROMENVIRONMENT1", "AWS_SECRET_ACCESS_KEY=secret", "AWS_SESSION_TOKEN=token"}

	It("are the configuration's, and nothing of the environment, when they are static", func(ctx SpecContext) {
		cpi := director()
		cpi.Env = append(environment, "AWS_REGION=eu-west-1", "AWS_ENDPOINT_URL=http://127.0.0.1:1", "AWS_PROFILE=none")
		succeed(ctx, cpi, "has_vm", noVM)
		for _, call := range aws.Calls() {
			Expect(call.AccessKey).To(Equal(driver.AccessKey))
			Expect(call.HasSessionToken).To(BeFalse())
			Expect(call.Region).To(Equal(account.Region))
		}
	})

	It("may be temporary", func(ctx SpecContext) {
		config.AWS = map[string]any{"session_token": "a-session-token"}
		succeed(ctx, director(), "has_vm", noVM)
		Expect(only("DescribeInstances").HasSessionToken).To(BeTrue())
	})

	It("come from the environment", func(ctx SpecContext) {
		config.AWS = chain
		cpi := director()
		cpi.Env = append(environment, "AWS_ENDPOINT_URL=http://127.0.0.1:1", "AWS_ENDPOINT_URL_EC2=http://127.0.0.1:1")
		succeed(ctx, cpi, "has_vm", noVM)
		Expect(only("DescribeInstances").AccessKey).To(Equal("AKIAFROMENVIRONMENT1"))
		Expect(only("DescribeInstances").HasSessionToken).To(BeTrue())
	})

	It("come from the instance's profile", func(ctx SpecContext) {
		config.AWS = chain
		cpi := director()
		cpi.Env = []string{"AWS_EC2_METADATA_SERVICE_ENDPOINT=" + metadataService().URL}
		succeed(ctx, cpi, "has_vm", noVM)
		Expect(only("DescribeInstances").AccessKey).To(Equal("AKIAFROMPROFILE00001"))
	})

	It("are told to be missing, with the key to set", func(ctx SpecContext) {
		config.AWS = chain
		cpi := director()
		cpi.Env = []string{"AWS_EC2_METADATA_DISABLED=true"}
		refused := fail(ctx, cpi, cloudError, "has_vm", noVM)
		Expect(refused.Message).To(And(HavePrefix("has_vm"), ContainSubstring("credentials")))
	})

	It("are those of a role", func(ctx SpecContext) {
		config.AWS = map[string]any{"role_arn": "arn:aws:iam::123456789012:role/bosh", "external_id": "the-external-id"}
		succeed(ctx, director(), "create_vm", everyService()...)
		assumed := only("AssumeRole")
		Expect(assumed.Service).To(Equal(query.STS))
		Expect(assumed.AccessKey).To(Equal(driver.AccessKey))
		Expect(assumed).To(haveParam("RoleArn", "arn:aws:iam::123456789012:role/bosh"))
		Expect(assumed).To(haveParam("ExternalId", "the-external-id"))
		Expect(assumed.Param("RoleSessionName")).NotTo(BeEmpty())
		later := aws.Calls().Where(func(call proxy.Call) bool { return call.Service != query.STS })
		Expect(later.Of("RunInstances", "RegisterTargets", "RegisterInstancesWithLoadBalancer")).To(HaveLen(3))
		for _, call := range later {
			Expect(call.AccessKey).NotTo(Equal(driver.AccessKey), call.Action)
			Expect(call.HasSessionToken).To(BeTrue(), call.Action)
		}
	})

	It("of a role need no external id", func(ctx SpecContext) {
		config.AWS = map[string]any{"role_arn": "arn:aws:iam::123456789012:role/bosh"}
		succeed(ctx, director(), "has_vm", noVM)
		expectWithout(only("AssumeRole"), "ExternalId")
	})

	It("that AWS refuses are told with what to check", func(ctx SpecContext) {
		aws.Add(proxy.Rule{Do: proxy.Fail(http.StatusUnauthorized, "AuthFailure", "AWS was not able to validate the provided access credentials")})
		refused := fail(ctx, director(), cloudError, "has_vm", noVM)
		Expect(refused.Message).To(And(ContainSubstring("AuthFailure"), ContainSubstring("aws.access_key_id"), ContainSubstring("clock")))
	})
})

var _ = Describe("A CPI config in the context", func() {
	It("overrides region and credentials for its call", func(ctx SpecContext) {
		config.AWS = map[string]any{"session_token": "of-the-file"}
		cpi := director()
		cpi.Context = map[string]any{"region": "us-west-2", "access_key_id": "AKIAOFTHECPICONFIG01", "secret_access_key": "secret"}
		succeed(ctx, cpi, "has_vm", noVM)
		Expect(only("DescribeInstances").Region).To(Equal("us-west-2"))
		Expect(only("DescribeInstances").AccessKey).To(Equal("AKIAOFTHECPICONFIG01"))
		Expect(only("DescribeInstances").HasSessionToken).To(BeFalse(), "the file's token is not that key's")

		aws.Clear()
		succeed(ctx, director(), "has_vm", noVM)
		Expect(only("DescribeInstances").Region).To(Equal(account.Region))
		Expect(only("DescribeInstances").AccessKey).To(Equal(driver.AccessKey))
	})

	It("overrides the defaults key by key", func(ctx SpecContext) {
		config.AWS = map[string]any{
			"default_key_name": "none", "default_security_groups": []string{account.Groups[0].ID}, "encrypted": true,
			"metadata_options": map[string]any{"http_tokens": "required"},
		}
		cpi := director()
		cpi.Context = map[string]any{
			"default_key_name": account.KeyName, "default_security_groups": []string{account.Groups[1].ID},
			"default_iam_instance_profile": account.InstanceProfile, "encrypted": false,
		}
		createVM(ctx, cpi, map[string]any{"key_name": nil, "security_groups": nil}, nil)
		Expect(launch()).To(haveParam("KeyName", account.KeyName))
		Expect(launch()).To(haveParam("NetworkInterface.1.SecurityGroupId.1", account.Groups[1].ID))
		Expect(launch()).To(haveParam("IamInstanceProfile.Name", account.InstanceProfile))
		Expect(launch()).To(haveParam("MetadataOptions.HttpTokens", "required"))
		Expect(mapping(launch(), "/dev/sdb")).NotTo(HaveKey("Ebs.Encrypted"))
	})

	It("overrides the endpoints", func(ctx SpecContext) {
		config.Endpoint = "http://127.0.0.1:1"
		cpi := director()
		cpi.Context = map[string]any{"ec2_endpoint": aws.URL}
		succeed(ctx, cpi, "has_vm", noVM)
		Expect(aws.Calls()).NotTo(BeEmpty())
	})

	It("is checked as the file is", func(ctx SpecContext) {
		cpi := director()
		cpi.Context = map[string]any{"max_retries": "many"}
		Expect(fail(ctx, cpi, cpiError, "has_vm", noVM).Message).To(ContainSubstring("max_retries"))
		Expect(aws.Calls()).To(BeEmpty())
	})
})

var _ = Describe("The user agent", func() {
	It("of every AWS call ends with who called", func(ctx SpecContext) {
		config.AWS = map[string]any{"role_arn": "arn:aws:iam::123456789012:role/bosh"}
		succeed(ctx, director(), "create_vm", everyService()...)
		Expect(aws.Calls().Count()).To(And(HaveKey("AssumeRole"), HaveKey("RegisterTargets"), HaveKey("RegisterInstancesWithLoadBalancer")))
		for _, call := range aws.Calls() {
			Expect(call.UserAgent).To(MatchRegexp(` bosh-aws-cpi/\S+ director/`+driver.DefaultDirector+` request/cpi-4711$`), call.Action)
		}
	})

	It("names a request of its own making when the caller names none, and is one header line whatever is sent", func(ctx SpecContext) {
		cpi := director()
		cpi.RequestID, cpi.DirectorUUID = "", "a\r\nX-Evil: b/c d"
		succeed(ctx, cpi, "has_vm", noVM)
		Expect(only("DescribeInstances").UserAgent).To(MatchRegexp(` bosh-aws-cpi/\S+ director/a__X-Evil__b_c_d request/cpi-[a-z0-9]+$`))
	})
})

var _ = Describe("TLS", func() {
	var front, registryFront *httptest.Server
	BeforeEach(func() {
		front = serving(httptest.NewUnstartedServer(relayTo(aws.URL)))
		registryFront = serving(httptest.NewTLSServer(relayTo(registry.URL)))
		front.Config.ErrorLog = nil
		front.StartTLS()
		config.Endpoint = front.URL
		config.AWS = map[string]any{"role_arn": "arn:aws:iam::123456789012:role/bosh"}
		config.Registry = &driver.Registry{Endpoint: registryFront.URL, User: registryUser, Password: registryPassword}
	})
	certificate := func() []byte {
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})
	}

	It("trusts the CAs of BOSH_CA_CERT_FILE, for every service and the registry", func(ctx SpecContext) {
		cpi := director()
		cpi.Env = []string{"BOSH_CA_CERT_FILE=" + file(certificate())}
		cpi.StemcellAPIVersion = 1
		succeed(ctx, cpi, "create_vm", everyService()...)
		Expect(aws.Calls().Count()).To(And(HaveKey("AssumeRole"), HaveKey("RunInstances"), HaveKey("RegisterTargets"), HaveKey("RegisterInstancesWithLoadBalancer")))
		Expect(registry.Content()).To(HaveLen(1))
	})

	It("says at once that it does not trust an endpoint", func(ctx SpecContext) {
		config.AWS = nil
		outcome := director().Call(ctx, "has_vm", noVM)
		Expect(outcome.ErrorType()).To(Equal(cloudError))
		host := strings.TrimPrefix(front.URL, "https://")
		Expect(outcome.Response.Error.Message).To(And(HavePrefix("has_vm"), ContainSubstring("certificate"), ContainSubstring(host)))
		Expect(string(outcome.Stderr)).NotTo(ContainSubstring("trying again"), "no retry can help")
		Expect(aws.Calls()).To(BeEmpty())
	})

	It("trusts the system's roots alone with an empty file, which is no error", func(ctx SpecContext) {
		config.Endpoint = aws.URL
		cpi := director()
		cpi.Env = []string{"BOSH_CA_CERT_FILE=" + file([]byte("\n"))}
		succeed(ctx, cpi, "has_vm", noVM)
	})

	DescribeTable("names the variable when its file is of no use",
		func(ctx SpecContext, path func() string) {
			cpi := director()
			cpi.Env = []string{"BOSH_CA_CERT_FILE=" + path()}
			Expect(fail(ctx, cpi, cpiError, "has_vm", noVM).Message).To(ContainSubstring("BOSH_CA_CERT_FILE"))
			succeed(ctx, cpi, "info")
		},
		Entry("missing", func() string { return "/nowhere/ca.pem" }),
		Entry("no PEM", func() string { return file([]byte("no certificate")) }),
	)
})

var _ = Describe("A proxy in the environment", func() {
	It("is used", func(ctx SpecContext) {
		var asked atomic.Int32
		relay := relayTo(aws.URL)
		forward := serving(httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Host == "ec2.example.invalid" { // the absolute form, which only a proxy gets
				asked.Add(1)
				r.URL.Host, r.URL.Scheme = "", ""
			}
			relay.ServeHTTP(w, r)
		})))
		config.Endpoint = "http://ec2.example.invalid"
		cpi := director()
		cpi.Env = []string{"HTTP_PROXY=" + forward.URL}
		succeed(ctx, cpi, "has_vm", noVM)
		Expect(asked.Load()).To(BeNumerically("==", len(aws.Calls())))
		Expect(aws.Calls()).NotTo(BeEmpty())

		By("unless NO_PROXY says otherwise")
		config.Endpoint = aws.URL
		cpi = director()
		cpi.Env = []string{"HTTP_PROXY=http://127.0.0.1:1", "NO_PROXY=127.0.0.1"}
		succeed(ctx, cpi, "has_vm", noVM)
	})
})

// metadataService is an instance's own, version 2.
func metadataService() *httptest.Server {
	answers := map[string]string{
		"/latest/meta-data/instance-id":                        "i-0aaaaaaaaaaaaaaaa",
		"/latest/meta-data/iam/security-credentials/":          "bosh",
		"/latest/meta-data/iam/security-credentials/bosh":      `{"Code":"Success","Type":"AWS-HMAC","AccessKeyId":"AKIAFROMPROFILE00001","SecretAccessKey":"s","Token":"t","Expiration":"2199-01-01T00:00:00Z"}`,
		"/latest/meta-data/iam/security-credentials-extended/": "",
	}
	return serving(httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := answers[r.URL.Path]
		switch {
		case r.Method == http.MethodPut && r.URL.Path == "/latest/api/token":
			w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", r.Header.Get("X-Aws-Ec2-Metadata-Token-Ttl-Seconds"))
			_, _ = w.Write([]byte("a-token"))
		case r.Header.Get("X-Aws-Ec2-Metadata-Token") != "a-token":
			w.WriteHeader(http.StatusUnauthorized)
		case answer == "":
			w.WriteHeader(http.StatusNotFound)
		default:
			_, _ = w.Write([]byte(answer))
		}
	})))
}

var _ = Describe("current_vm_id", func() {
	It("asks the instance, and AWS for nothing, whatever proxy there is", func(ctx SpecContext) {
		cpi := director()
		cpi.APIVersion = 1
		cpi.Env = []string{"AWS_EC2_METADATA_SERVICE_ENDPOINT=" + metadataService().URL, "HTTP_PROXY=http://127.0.0.1:1"}
		Expect(succeed(ctx, cpi, "current_vm_id").Text()).To(Equal("i-0aaaaaaaaaaaaaaaa"))
		Expect(aws.Calls()).To(BeEmpty())
	})

	It("says where the CPI must run", func(ctx SpecContext) {
		cpi := director()
		nowhere := serving(httptest.NewServer(http.NotFoundHandler()))
		cpi.Env = []string{"AWS_EC2_METADATA_SERVICE_ENDPOINT=" + nowhere.URL}
		Expect(fail(ctx, cpi, cloudError, "current_vm_id").Message).To(And(HavePrefix("current_vm_id"), ContainSubstring("EC2 instance")))
	}, SpecTimeout(patience))
})
