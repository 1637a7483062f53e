package canary_test

import (
	"encoding/json"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("the canaries of a broken configuration", func() {
	BeforeEach(fresh)

	number := json.Number(secret("a key that YAML made a number"))
	fraction := json.Number(secret("a key that YAML made a fraction"))
	for _, value := range []any{number, fraction, true, []any{secret("agent.blobstore.options.secret"), number}, map[string]any{"key": fraction}} {
		It("are not to be seen when credentials are of the wrong type", func(ctx SpecContext) {
			m := modes[1]
			for _, key := range []string{"secret_access_key", "session_token", "external_id", "access_key_id"} {
				c := config(m)
				c.AWS[key] = value
				for _, one := range everyMethod() {
					expectNoLeak(one.method, cpi(m, c).Call(ctx, one.method, one.arguments...))
				}
				Expect(fail(ctx, cpi(m, c), "has_disk", someDisk).Response.Error.Message).To(ContainSubstring("aws." + key))
			}
		})
	}

	It("are not to be seen when a section is of the wrong type", func(ctx SpecContext) {
		quoted := func(place string) string { return `"` + secret(place) + `"` }
		for _, content := range []string{
			`{"cloud":` + quoted("aws.secret_access_key") + `}`,
			`{"cloud":{"properties":[` + quoted("aws.secret_access_key") + `]}}`,
			`{"cloud":{"properties":{"aws":[` + quoted("aws.secret_access_key") + `]}}}`,
			`{"cloud":{"properties":{"aws":` + quoted("aws.secret_access_key") + `}}}`,
			`{"cloud":{"properties":{"aws":` + string(number) + `}}}`,
			`{"cloud":{"properties":{"agent":[` + quoted("agent.extra[]") + `]}}}`,
			`{"cloud":{"properties":{"agent":` + quoted("agent.mbus") + `}}}`,
			`{"cloud":{"properties":{"registry":` + quoted("registry.password") + `}}}`,
			`{"cloud":{"properties":{"registry":{"endpoint":[` + quoted("registry.endpoint password") + `]}}}}`,
			`{"cloud":{"properties":{"registry":{"endpoint":"http://127.0.0.1:1","user":"u","password":` + string(number) + `}}}}`,
			`{"cloud":{"properties":{"registry":{"endpoint":"http://127.0.0.1:1","user":` + string(fraction) + `}}}}`,
			`{"cloud":{"properties":{"debug":{"cpi":{"log_level":` + quoted("aws.secret_access_key") + `}}}}}`,
			`{"cloud":{"properties":{"debug":{"cpi":{"time_scale":` + quoted("aws.secret_access_key") + `}}}}}`,
			`{"cloud":{"properties":{"aws":{"secret_access_key":` + quoted("aws.secret_access_key"),
			`{"cloud":{"properties":{"aws":{"secret_access_key":` + secret("aws.secret_access_key") + `}}}}`,
			secret("aws.secret_access_key"), quoted("aws.secret_access_key"), "secret_access_key: " + secret("aws.secret_access_key") + "\n",
		} {
			c := cpi(modes[0], config(modes[0]))
			c.ConfigPath = writeFile(content)
			for _, method := range []string{"info", "has_vm", "create_vm", "attach_disk"} {
				var arguments []any
				for _, one := range everyMethod() {
					if one.method == method {
						arguments = one.arguments
					}
				}
				fail(ctx, c, method, arguments...)
			}
		}
	})

	It("are not to be seen when env or agent section hold what an agent could not read", func(ctx SpecContext) {
		password, key := secret("env.bosh.password"), secret("env.bosh.mbus.cert.private_key")
		for _, m := range modes {
			c := cpi(m, config(m))
			for _, wrong := range []any{
				password, number, fraction, true, []any{password}, []any{[]any{number}},
				map[string]any{"bosh": password}, map[string]any{"bosh": []any{password}}, map[string]any{"bosh": number},
				map[string]any{"bosh": map[string]any{"tags": password}}, map[string]any{"bosh": map[string]any{"tags": []any{key}}},
				map[string]any{"bosh": map[string]any{"tags": fraction, "mbus": key}},
			} {
				arguments := createVM(20, nil)
				arguments[5] = wrong
				fail(ctx, c, "create_vm", arguments...)
			}
		}
	})
})

var _ = Describe("the canaries of a request that is none", func() {
	BeforeEach(fresh)

	It("are not to be seen", func(ctx SpecContext) {
		for _, m := range modes {
			c := cpi(m, config(m))
			whole, err := c.Request("create_vm", createVM(20, nil)...)
			Expect(err).NotTo(HaveOccurred())
			text := string(whole)
			at := strings.Index(text, secret("env.bosh.password"))
			Expect(at).To(BeNumerically(">", 0))
			for _, request := range []string{
				text[:at+5], text[:at+30], text[:len(text)-1], text + text, "[" + text + "]", text + "," + secret("env.bosh.password"),
				strings.Replace(text, `"`+secret("env.bosh.password"), secret("env.bosh.password"), 1),
				strings.Replace(text, secret("env.bosh.password"), secret("env.bosh.password")+"\n", 1),
				strings.Replace(text, secret("env.bosh.password"), `\x`+secret("env.bosh.password"), 1),
				strings.Replace(text, `"arguments":`, `"arguments":"`+secret("env.bosh.password")+`","unused":`, 1),
				strings.Replace(text, `"context":{`, `"context":{"vm":"`+secret("env.bosh.password")+`","was":{`, 1) + "}",
				strings.Replace(text, `"context":{`, `"context":{"secret_access_key":"`+secret("context.secret_access_key")+`" `, 1),
				secret("env.bosh.password"), `"` + secret("env.bosh.password") + `"`, secret("a key that YAML made a number"),
			} {
				outcome := c.Send(ctx, []byte(request))
				expectNoLeak("a broken request", outcome)
				Expect(outcome.ErrorType()).To(Equal("InvalidCall"), request)
			}
		}
	})
})
