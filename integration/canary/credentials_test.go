package canary_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/emulator"
	"bosh-aws-cpi/integration/emulator/query"
	"bosh-aws-cpi/integration/proxy"
)

var _ = Describe("the canaries of credentials", func() {
	BeforeEach(fresh)
	m := modes[0]

	It("are not to be seen when a CPI config brings another account's", func(ctx SpecContext) {
		c := cpi(m, config(m))
		c.Context = map[string]any{
			"access_key_id": "AKIAANOTHERACCOUNT00", "secret_access_key": secret("context.secret_access_key"),
			"session_token": secret("context.session_token"), "external_id": secret("context.external_id"),
			"role_arn": "arn:aws:iam::" + emulator.Owner + ":role/other",
		}
		life(ctx, c)
		Expect(w.proxy.Calls().Of("AssumeRole")[0].Param("ExternalId")).To(Equal(secret("context.external_id")))
		Expect(w.proxy.Calls().Of("AssumeRole")[0].AccessKey).To(Equal("AKIAANOTHERACCOUNT00"))
		for _, refused := range refusals {
			w.proxy.ClearRules()
			w.proxy.Add(proxy.Rule{Do: refused.effect})
			failEveryMethod(ctx, c)
		}
	})

	It("are not to be seen when a CPI config is broken", func(ctx SpecContext) {
		for key, value := range map[string]any{
			"secret_access_key": []any{secret("context.secret_access_key")}, "session_token": map[string]any{"token": secret("context.session_token")},
			"external_id": json.Number(secret("a key that YAML made a number")), "access_key_id": json.Number(secret("a key that YAML made a fraction")),
			"max_retries": secret("context.secret_access_key"), "encrypted": secret("context.secret_access_key"),
			"metadata_options": secret("context.secret_access_key"), "default_security_groups": secret("context.secret_access_key"),
			"ec2_endpoint": "https://user:" + secret("context.secret_access_key") + "@host", "credentials_source": "env_or_profile",
		} {
			c := cpi(m, config(m))
			c.Context = map[string]any{"secret_access_key": secret("context.secret_access_key"), key: value}
			fail(ctx, c, "has_vm", someVM)
			fail(ctx, c, "create_vm", createVM(20, nil)...)
		}
	})

	It("are not to be seen when they come from the environment", func(ctx SpecContext) {
		chain := config(m)
		chain.AWS["credentials_source"] = "env_or_profile"
		for _, key := range []string{"access_key_id", "secret_access_key", "session_token"} {
			chain.AWS[key] = nil
		}
		c := cpi(m, chain)
		c.Env = append(c.Env, "AWS_ACCESS_KEY_ID=AKIAENVIRONMENT00000",
			"AWS_SECRET_ACCESS_KEY="+secret("environment AWS_SECRET_..."), "AWS_SESSION_TOKEN="+secret("environment AWS_SESSION_TOKEN"))
		life(ctx, c)
		Expect(w.proxy.Calls()[0].AccessKey).To(Equal("AKIAENVIRONMENT00000"))
		Expect(w.proxy.Calls()[0].HasSessionToken).To(BeTrue())
		for _, refused := range refusals {
			w.proxy.ClearRules()
			w.proxy.Add(proxy.Rule{Do: refused.effect})
			failEveryMethod(ctx, c)
		}
	})

	It("are not to be seen when there is no instance metadata", func(ctx SpecContext) {
		none := httptest.NewServer(http.NotFoundHandler())
		DeferCleanup(none.Close)
		c := cpi(m, config(m))
		c.Env = []string{"BOSH_LOG_LEVEL=debug", "AWS_EC2_METADATA_SERVICE_ENDPOINT=" + none.URL}
		fail(ctx, c, "current_vm_id")
	})

	It("are not to be seen when a role gives them", func(ctx SpecContext) {
		c := cpi(m, config(m))
		given := func() []string {
			root, err := query.Parse(w.proxy.Calls().Of("AssumeRole")[0].Answer)
			Expect(err).NotTo(HaveOccurred())
			credentials := "AssumeRoleResult/Credentials/"
			return []string{root.Value(credentials + "SecretAccessKey"), root.Value(credentials + "SessionToken")}
		}
		for _, effect := range append([]proxy.Effect{{}}, proxy.HTML(500), proxy.Fail(403, "SignatureDoesNotMatch", "It does not match.")) {
			w.proxy.Reset()
			w.proxy.Add(proxy.Rule{Action: "RunInstances", Do: effect})
			outcome := c.Call(ctx, "create_vm", createVM(20, nil)...)
			expectNoLeak("create_vm", outcome)
			for _, secret := range given() {
				Expect(secret).NotTo(BeEmpty())
				Expect(string(outcome.Stdout) + string(outcome.Stderr)).NotTo(ContainSubstring(secret))
			}
		}
	})

	It("are not to be seen when a proxy refuses or is not there", func(ctx SpecContext) {
		refusing := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
			answer.WriteHeader(http.StatusProxyAuthRequired)
		}))
		DeferCleanup(refusing.Close)
		for _, address := range []string{refusing.URL, "http://127.0.0.1:1", "http://127.0.0.1:99999"} {
			behind := withUser(address, "user", secret("environment HTTP_PROXY"))
			for _, scheme := range []string{"http", "https"} {
				away := config(modes[1])
				away.Endpoint = scheme + "://aws.invalid"
				away.Registry.Endpoint = withUser(scheme+"://registry.invalid", secret("registry.endpoint user"), secret("registry.endpoint password"))
				c := cpi(modes[1], away)
				c.Env = append(c.Env, "HTTP_PROXY="+behind, "HTTPS_PROXY="+behind)
				fail(ctx, c, "has_vm", someVM)
				fail(ctx, c, "create_vm", createVM(20, nil)...)
			}
		}
	})
})
