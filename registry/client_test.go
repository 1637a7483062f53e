package registry_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/registry"
)

var _ = Describe("The registry of a configuration", func() {
	DescribeTable("is one when it has an endpoint",
		func(endpoint string, configured bool) {
			Expect(registry.Server{Endpoint: endpoint, User: "u"}.Configured()).To(Equal(configured))
		},
		Entry("none", "", false),
		Entry("any", "http://10.0.0.6:25777", true),
	)

	DescribeTable("is valid with an http(s) URL",
		func(endpoint string) { Expect(registry.Server{Endpoint: endpoint}.Validate()).To(Succeed()) },
		Entry("http", "http://10.0.0.6:25777"),
		Entry("https, with credentials and a path", "https://user:pass@registry.internal/base/"),
	)

	DescribeTable("is invalid otherwise, and its endpoint is not shown",
		func(endpoint string) {
			Expect(registry.Server{Endpoint: endpoint}.Validate()).To(MatchError("registry.endpoint: expected an http(s) URL"))
		},
		Entry("a host alone", "canary"),
		Entry("a host and a port", "canary:25777"),
		Entry("another scheme", "ftp://canary"),
		Entry("no host", "http://"),
		Entry("a password that is not escaped", "http://user:can%zzary@host"),
	)
})

// seenRequest is a request as the registry got it.
type seenRequest struct {
	Verb, Path, User, Password, Body, ContentType string
	Authenticated                                 bool
}

var _ = Describe("The registry's client", func() {
	var (
		seen   []seenRequest
		answer func(http.ResponseWriter, *http.Request) // of this spec's registry
		server *httptest.Server
	)
	ctx := context.Background()

	BeforeEach(func() {
		seen = nil
		answer = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }
		server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			user, password, authenticated := r.BasicAuth()
			seen = append(seen, seenRequest{r.Method, r.URL.EscapedPath(), user, password, string(body), r.Header.Get("Content-Type"), authenticated})
			answer(w, r)
		}))
		DeferCleanup(server.Close)
	})

	clientOf := func(settings registry.Server) *registry.Client {
		plain := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		return registry.NewClient(settings, plain, 0.0001)
	}
	client := func() *registry.Client {
		return clientOf(registry.Server{Endpoint: server.URL, User: "admin", Password: "canary-password"})
	}
	status := func(codes ...int) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(codes[min(len(seen), len(codes))-1])
			_, _ = io.WriteString(w, "canary-answer")
		}
	}

	It("puts settings", func() {
		Expect(client().Put(ctx, "i-1", registry.Fields{{Key: "b", Value: 1}, {Key: "a", Value: "x"}})).To(Succeed())
		Expect(seen).To(Equal([]seenRequest{{"PUT", "/instances/i-1/settings", "admin", "canary-password", `{"b":1,"a":"x"}`, "application/json", true}}))
	})

	It("deletes settings", func() {
		Expect(client().Delete(ctx, "i-1")).To(Succeed())
		Expect(seen).To(HaveLen(1))
		Expect(seen[0]).To(HaveField("Verb", "DELETE"))
		Expect(seen[0]).To(HaveField("Path", "/instances/i-1/settings"))
		Expect(seen[0]).To(HaveField("Body", ""))
	})

	It("deletes settings that are not there", func() {
		answer = status(http.StatusNotFound)
		Expect(client().Delete(ctx, "i-1")).To(Succeed())
		Expect(seen).To(HaveLen(1))
	})

	It("asks below the endpoint's own path", func() {
		Expect(clientOf(registry.Server{Endpoint: server.URL + "/base/"}).Delete(ctx, "i-1")).To(Succeed())
		Expect(seen[0].Path).To(Equal("/base/instances/i-1/settings"))
	})

	DescribeTable("authenticates",
		func(userinfo, user, password string, expected seenRequest) {
			endpoint, err := url.Parse(server.URL)
			Expect(err).NotTo(HaveOccurred())
			Expect(clientOf(registry.Server{Endpoint: "http://" + userinfo + endpoint.Host, User: user, Password: password}).Delete(ctx, "i-1")).To(Succeed())
			Expect(seen).To(HaveLen(1))
			Expect(seen[0].Authenticated).To(Equal(expected.Authenticated))
			Expect(seen[0].User).To(Equal(expected.User))
			Expect(seen[0].Password).To(Equal(expected.Password))
		},
		Entry("as the configuration's user", "", "admin", "pw", seenRequest{Authenticated: true, User: "admin", Password: "pw"}),
		Entry("as the endpoint's user", "agent:p%40ss@", "", "", seenRequest{Authenticated: true, User: "agent", Password: "p@ss"}),
		Entry("as the configuration's rather than the endpoint's", "agent:p@", "admin", "pw", seenRequest{Authenticated: true, User: "admin", Password: "pw"}),
		Entry("not without credentials", "", "", "", seenRequest{}),
	)

	Describe("of a persistent disk", func() {
		// stored answers a GET with these settings.
		stored := func(settings string) {
			answer = func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					_ = json.NewEncoder(w).Encode(map[string]string{"settings": settings, "status": "ok"})
				}
			}
		}
		written := func() string {
			GinkgoHelper()
			Expect(seen).To(HaveLen(2))
			Expect(seen[0]).To(And(HaveField("Verb", "GET"), HaveField("Path", "/instances/i-1/settings")))
			Expect(seen[1]).To(And(HaveField("Verb", "PUT"), HaveField("Path", "/instances/i-1/settings")))
			return seen[1].Body
		}

		const settings = `{"agent_id":"a","env":{"n":1.50,"big":12345678901234567890},"disks":{"system":"/dev/sda1","ephemeral":"/dev/sdb",` +
			`"persistent":{"vol-0":{"path":"/dev/sdf","id":"x"}}},"mbus":null}`

		It("tells where it is, and leaves all else as it is", func() {
			stored(settings)
			Expect(client().SetDisk(ctx, "i-1", "vol-1", "/dev/sdg")).To(Succeed())
			Expect(written()).To(MatchJSON(`{"agent_id":"a","env":{"n":1.50,"big":12345678901234567890},"disks":{"system":"/dev/sda1","ephemeral":"/dev/sdb",` +
				`"persistent":{"vol-0":{"path":"/dev/sdf","id":"x"},"vol-1":"/dev/sdg"}},"mbus":null}`))
			Expect(written()).To(ContainSubstring(`{"n":1.50,"big":12345678901234567890}`), "numbers keep their form")
		})

		It("tells where it is now", func() {
			stored(`{"disks":{"persistent":{"vol-1":"/dev/sdf"}}}`)
			Expect(client().SetDisk(ctx, "i-1", "vol-1", "/dev/sdg")).To(Succeed())
			Expect(written()).To(MatchJSON(`{"disks":{"persistent":{"vol-1":"/dev/sdg"}}}`))
		})

		DescribeTable("tells where it is even when there are no disks yet",
			func(before string) {
				stored(before)
				Expect(client().SetDisk(ctx, "i-1", "vol-1", "/dev/sdg")).To(Succeed())
				Expect(written()).To(MatchJSON(`{"disks":{"persistent":{"vol-1":"/dev/sdg"}}}`))
			},
			Entry("nothing", `{}`),
			Entry("disks null", `{"disks":null}`),
			Entry("no persistent ones", `{"disks":{}}`),
			Entry("persistent null", `{"disks":{"persistent":null}}`),
		)

		It("makes the agent forget it, and leaves all else as it is", func() {
			stored(settings)
			Expect(client().RemoveDisk(ctx, "i-1", "vol-0")).To(Succeed())
			Expect(written()).To(MatchJSON(strings.Replace(settings, `"vol-0":{"path":"/dev/sdf","id":"x"}`, ``, 1)))
		})

		It("makes the agent forget one that it does not know", func() {
			stored(settings)
			Expect(client().RemoveDisk(ctx, "i-1", "vol-9")).To(Succeed())
			Expect(written()).To(MatchJSON(settings))
		})

		It("has nothing to forget where there are no settings", func() {
			answer = status(http.StatusNotFound)
			Expect(client().RemoveDisk(ctx, "i-1", "vol-1")).To(Succeed())
			Expect(seen).To(HaveLen(1))
		})

		It("cannot be told where there are no settings", func() {
			answer = status(http.StatusNotFound)
			Expect(client().SetDisk(ctx, "i-1", "vol-1", "/dev/sdg")).To(MatchError(ContainSubstring("no settings")))
			Expect(seen).To(HaveLen(1))
		})

		DescribeTable("is not written into what are no settings, which are not shown",
			func(before string) {
				stored(before)
				for _, change := range []func() error{
					func() error { return client().SetDisk(ctx, "i-1", "vol-1", "/dev/sdg") },
					func() error { return client().RemoveDisk(ctx, "i-1", "vol-1") },
				} {
					Expect(change()).To(MatchError(And(ContainSubstring("i-1"), Not(ContainSubstring("canary")))))
				}
				Expect(seen).To(HaveEach(HaveField("Verb", "GET")))
			},
			Entry("empty", ``),
			Entry("no JSON", `canary`),
			Entry("a list", `["canary"]`),
			Entry("disks a string", `{"disks":"canary"}`),
			Entry("persistent a list", `{"disks":{"persistent":["canary"]}}`),
		)

		It("is not written when the registry answers something else", func() {
			answer = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>canary") }
			Expect(client().SetDisk(ctx, "i-1", "vol-1", "/dev/sdg")).To(MatchError(ContainSubstring(`answered with "text/html; charset=utf-8" instead of JSON`)))
		})
	})

	Describe("when the registry is in trouble", func() {
		It("tries again as long as the registry is at fault", func() {
			answer = status(500, 503, 502, 200)
			Expect(client().Put(ctx, "i-1", 1)).To(Succeed())
			Expect(seen).To(HaveLen(4))
			Expect(seen).To(HaveEach(HaveField("Body", "1")), "each try sends the settings")
		})

		It("gives up after five tries", func() {
			answer = status(500)
			Expect(client().Put(ctx, "i-1", 1)).To(MatchError(And(ContainSubstring("HTTP status 500"), ContainSubstring("PUT"), ContainSubstring("i-1"))))
			Expect(seen).To(HaveLen(5))
		})

		DescribeTable("does not try again what the registry refuses",
			func(code int) {
				answer = status(code)
				Expect(client().Put(ctx, "i-1", 1)).To(MatchError(ContainSubstring("registry")))
				Expect(seen).To(HaveLen(1))
			},
			Entry("a wrong request", 400), Entry("wrong credentials", 401), Entry("no permission", 403), Entry("no such settings", 404),
		)

		It("tries again when the connection is reset", func() {
			answer = func(w http.ResponseWriter, _ *http.Request) {
				if len(seen) < 3 {
					connection, _, err := http.NewResponseController(w).Hijack()
					Expect(err).NotTo(HaveOccurred())
					_ = connection.Close()
				}
			}
			Expect(client().Put(ctx, "i-1", 1)).To(Succeed())
			Expect(seen).To(HaveLen(3))
		})

		It("tries again when the answer breaks off", func() {
			answer = func(w http.ResponseWriter, _ *http.Request) {
				if len(seen) == 1 {
					w.Header().Set("Content-Length", "100")
				}
			}
			Expect(client().Put(ctx, "i-1", 1)).To(Succeed())
			Expect(seen).To(HaveLen(2))
		})

		It("does not try again once the call is over", func() {
			over, end := context.WithCancel(ctx)
			answer = func(w http.ResponseWriter, r *http.Request) {
				end()
				status(500)(w, r)
			}
			slow := registry.NewClient(registry.Server{Endpoint: server.URL}, http.DefaultClient, 1000)
			started := time.Now()
			Expect(slow.Put(over, "i-1", 1)).NotTo(Succeed())
			Expect(time.Since(started)).To(BeNumerically("<", 5*time.Second))
			Expect(seen).To(HaveLen(1))
		})
	})

	DescribeTable("shows no secret in an error",
		func(fail func() error) {
			Expect(fail()).To(MatchError(Not(ContainSubstring("canary"))))
		},
		Entry("settings without a JSON form", func() error {
			return client().Put(ctx, "i-1", registry.Fields{{Key: "k", Value: json.RawMessage(`{canary`)}})
		}),
		Entry("an answer of the registry", func() error {
			answer = status(500)
			return client().Put(ctx, "i-1", "canary-settings")
		}),
		Entry("a redirect", func() error {
			answer = func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/canary", http.StatusFound) }
			stay := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			return registry.NewClient(registry.Server{Endpoint: server.URL}, stay, 0.0001).Put(ctx, "i-1", "canary")
		}),
		Entry("a registry that is not there, with credentials in its endpoint", func() error {
			endpoint, _ := url.Parse(server.URL)
			server.Close()
			return clientOf(registry.Server{Endpoint: "http://canary-user:canary-password@" + endpoint.Host}).Put(ctx, "i-1", "canary-settings")
		}),
	)
})
