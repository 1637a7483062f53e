package fakeregistry_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/fakeregistry"
)

func TestFakeRegistry(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "the fake registry")
}

var _ = Describe("Registry", func() {
	var registry *fakeregistry.Registry

	BeforeEach(func() {
		var err error
		registry, err = fakeregistry.Start("admin", "s3cret")
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(registry.Close)
	})

	call := func(method, path, user, password, body string) (int, string) {
		request, err := http.NewRequest(method, registry.URL+path, strings.NewReader(body))
		Expect(err).NotTo(HaveOccurred())
		if user != "" {
			request.SetBasicAuth(user, password)
		}
		answer, err := http.DefaultClient.Do(request)
		Expect(err).NotTo(HaveOccurred())
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		Expect(err).NotTo(HaveOccurred())
		return answer.StatusCode, string(text)
	}

	It("keeps settings, gives them back as a string and deletes them", func() {
		status, _ := call("PUT", "/instances/i-1/settings", "admin", "s3cret", `{"vm":{"name":"x"}}`)
		Expect(status).To(Equal(200))
		Expect(registry.Content()).To(Equal(map[string]string{"i-1": `{"vm":{"name":"x"}}`}))
		Expect(registry.Settings("i-1")).To(HaveKeyWithValue("vm", HaveKeyWithValue("name", "x")))

		status, body := call("GET", "/instances/i-1/settings", "admin", "s3cret", "")
		Expect(status).To(Equal(200))
		Expect(body).To(MatchJSON(`{"status":"ok","settings":"{\"vm\":{\"name\":\"x\"}}"}`))

		status, _ = call("DELETE", "/instances/i-1/settings", "admin", "s3cret", "")
		Expect(status).To(Equal(200))
		status, body = call("GET", "/instances/i-1/settings", "admin", "s3cret", "")
		Expect(status).To(Equal(404))
		Expect(body).To(MatchJSON(`{"status":"not_found"}`))
	})

	DescribeTable("lets nobody in without the right credentials",
		func(user, password string) {
			status, _ := call("PUT", "/instances/i-1/settings", user, password, "{}")
			Expect(status).To(Equal(401))
			Expect(registry.Content()).To(BeEmpty())
		},
		Entry("none", "", ""),
		Entry("wrong password", "admin", "secret"),
		Entry("wrong user", "root", "s3cret"),
	)

	It("records every request with its outcome", func() {
		call("GET", "/instances/i-1/settings", "", "", "")
		call("PUT", "/instances/i-1/settings", "admin", "s3cret", "{}")
		call("GET", "/elsewhere", "admin", "s3cret", "")
		Expect(registry.Requests()).To(HaveExactElements(
			HaveField("Status", 401), HaveField("Body", "{}"), HaveField("Instance", "")))
		registry.Clear()
		Expect(registry.Requests()).To(BeEmpty())
	})

	It("fails when told to", func() {
		registry.FailWith(func(r fakeregistry.Request) int {
			if r.Method == "PUT" {
				return 503
			}
			return 0
		})
		status, _ := call("PUT", "/instances/i-1/settings", "admin", "s3cret", "{}")
		Expect(status).To(Equal(503))
		status, _ = call("GET", "/instances/i-1/settings", "admin", "s3cret", "")
		Expect(status).To(Equal(404))
	})
})
