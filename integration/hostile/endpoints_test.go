package hostile_test

import (
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/driver"
)

const (
	volumes = `<?xml version="1.0" encoding="UTF-8"?><DescribeVolumesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">`
	page    = "<!DOCTYPE html>\n<html><title>Log in</title><body>Welcome to this network</body></html>"
)

// host is what an error calls an endpoint.
func host(url string) string { return strings.SplitN(url, "://", 2)[1] }

var _ = Describe("An endpoint that", func() {
	// answers expects an error that says which endpoint it was about, and these
	// things.
	answers := func(what string, endpoint func() string, says ...string) {
		It("answers "+what, func(ctx SpecContext) {
			config.Endpoint = endpoint()
			refuses("endpoint: "+what, director().Call(ctx, "has_disk", noDisk), cloudError, append(says, "has_disk", host(config.Endpoint))...)
		}, SpecTimeout(specLimit))
	}
	http200 := func(contentType, content string) func() string {
		return func() string { return serving(body(contentType, []byte(content))) }
	}

	answers("HTML with status 200", http200("text/html", page), "text/html", "Log in", "endpoint")
	answers("random bytes with status 200", func() string { return serving(body("text/xml", random(64<<10))) }, "endpoint")
	answers("random bytes for a binary", func() string { return serving(body("application/octet-stream", random(64<<10))) }, "octet-stream")
	answers("what is no HTTP", func() string { return listening(babble) }, "HTTP")
	answers("nothing with status 200", http200("text/xml", ""))
	answers("the XML of something else", http200("text/xml", `<rss version="2.0"><channel><title>News</title></channel></rss>`))
	answers("JSON", http200("application/json", `{"hello":"world"}`))
	answers("XML that breaks off", http200("text/xml", volumes+"<volumeSet><item><volumeId>vol-1"))
	answers("XML of 100 000 levels", http200("text/xml", volumes+strings.Repeat("<a>", 100_000)))
	answers("XML without end, of one text", func() string { return serving(endless("text/xml", volumes+"<requestId>", "x")) })
	answers("XML without end, of elements", func() string {
		return serving(endless("text/xml", volumes+"<volumeSet>", "<item><volumeId>vol-1</volumeId></item>"))
	})
	answers("blanks without end", func() string { return serving(endless("text/xml", "", " ")) })
	answers("HTML without end", func() string { return serving(endless("text/html", page, "more ")) }, "text/html")
	answers("200 MB of XML", http200("text/xml", volumes+"<volumeSet>"+strings.Repeat("<item><volumeId>vol-1</volumeId></item>", 5<<20)+"</volumeSet></DescribeVolumesResponse>"))
	answers("half a gigabyte in half a megabyte", func() string { return serving(bomb()) })
	answers("headers without end", func() string { return listening(endlessHeader) }, "header")
	answers("a blank now and then", func() string { return serving(dripping(volumes)) })
	answers("nothing, ever", func() string { return listening(silent) })
	answers("go elsewhere, in a circle", func() string {
		return serving(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusTemporaryRedirect) })
	})
	answers("an error page without end", func() string {
		page := endless("text/xml", "<Response><Errors><Error><Code>", "x")
		return serving(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			page(w, r)
		})
	})
})

var _ = Describe("A registry that", func() {
	// answers expects create_vm to fail and to leave nothing.
	answers := func(what string, endpoint func() string) {
		It("answers "+what, func(ctx SpecContext) {
			config.Registry = &driver.Registry{Endpoint: endpoint(), User: "u", Password: "p"}
			cpi := director()
			cpi.StemcellAPIVersion = 1
			outcome := cpi.Call(ctx, "create_vm", vmArguments(nil, nil)...)
			answered("registry: "+what, outcome)
			if outcome.Response.Error != nil {
				Expect(outcome.Response.Error.Message).To(ContainSubstring("registry"))
				Expect(left(ctx)).To(BeEmpty())
			}
		}, SpecTimeout(specLimit))
	}
	answers("HTML with status 200", func() string { return serving(body("text/html", []byte(page))) })
	answers("without end", func() string { return serving(endless("application/json", `{"settings":"`, "x")) })
	answers("nothing, ever", func() string { return listening(silent) })
	answers("what is no HTTP", func() string { return listening(babble) })
})

var _ = Describe("Instance metadata that", func() {
	answers := func(what string, endpoint func() string) {
		It("answers "+what, func(ctx SpecContext) {
			cpi := director()
			cpi.APIVersion = 1
			cpi.Env = []string{"AWS_EC2_METADATA_SERVICE_ENDPOINT=" + endpoint()}
			refuses("instance metadata: "+what, cpi.Call(ctx, "current_vm_id"), cloudError, "current_vm_id", "instance metadata")
		}, SpecTimeout(specLimit))
	}
	answers("HTML with status 200", func() string { return serving(body("text/html", []byte(page))) })
	answers("without end", func() string { return serving(endless("text/plain", "i-", "x")) })
	answers("nothing, ever", func() string { return listening(silent) })
})
