package hostile_test

import (
	"net/http/httptest"
	"strings"

	. "github.com/onsi/ginkgo/v2"
)

var _ = Describe("TLS", func() {
	It("of an unknown CA is not trusted", func(ctx SpecContext) {
		server := httptest.NewUnstartedServer(body("text/xml", nil))
		server.StartTLS()
		DeferCleanup(server.Close)
		config.Endpoint = server.URL
		refuses("TLS with an unknown CA", director().Call(ctx, "has_disk", noDisk), cloudError, "certificate", host(server.URL))
	}, SpecTimeout(specLimit))

	It("to an endpoint that speaks none is told", func(ctx SpecContext) {
		config.Endpoint = strings.Replace(serving(body("text/xml", nil)), "http://", "https://", 1)
		refuses("https:// to an endpoint without TLS", director().Call(ctx, "has_disk", noDisk), cloudError, "HTTPS", host(config.Endpoint))
	}, SpecTimeout(specLimit))

	It("to an endpoint that never answers is given up", func(ctx SpecContext) {
		config.Endpoint = strings.Replace(listening(silent), "http://", "https://", 1)
		refuses("TLS that is never answered", director().Call(ctx, "has_disk", noDisk), cloudError, host(config.Endpoint))
	}, SpecTimeout(specLimit))
})
