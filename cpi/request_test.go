package cpi_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing/iotest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/cpi"
)

var _ = Describe("A request", func() {
	// seen is what the method `probe` was called with.
	var seen struct {
		call     *cpi.Call
		networks cpi.Object
	}
	type probeArguments struct {
		Networks cpi.Object `cpi:"networks,optional"`
	}
	probe := cpi.NewMethod("probe", func(_ context.Context, call *cpi.Call, arguments probeArguments) (any, error) {
		seen.call, seen.networks = call, arguments.Networks
		return nil, nil
	})
	BeforeEach(func() { seen.call = nil })

	accepted := func(request string) {
		GinkgoHelper()
		answer := serve(request, probe)
		Expect(answer.err).To(BeNil(), answer.stdout)
		Expect(seen.call).NotTo(BeNil())
	}

	It("reaches the method that it names", func() {
		accepted(`{"method":"probe","arguments":[],"context":{}}`)
		Expect(seen.call.Method).To(Equal("probe"))
	})

	It("may have white space around it and keys that nobody knows", func() {
		accepted("\n {\"extra\":{\"a\":[1]},\"method\":\"probe\",\"arguments\":[],\"context\":{\"director_uuid\":\"d\"},\"future\":null}\r\n\t")
	})

	It("keeps the order of a VM's networks, and what they hold as it was sent", func() {
		accepted(`{"method":"probe","arguments":[{"zeta":{"ip":"10.0.0.1","n":1.0},"alpha":{},"mid":{"b":1,"a":2}}]}`)
		var names []string
		for _, member := range seen.networks.Members() {
			names = append(names, member.Key)
		}
		Expect(names).To(Equal([]string{"zeta", "alpha", "mid"}))
		Expect(json.Marshal(seen.networks)).To(BeEquivalentTo(`{"zeta":{"ip":"10.0.0.1","n":1.0},"alpha":{},"mid":{"b":1,"a":2}}`))
	})

	DescribeTable("is served as a version of the API",
		func(member string, version int) {
			accepted(`{"method":"probe","arguments":[]` + member + `}`)
			Expect(seen.call.APIVersion).To(Equal(version))
		},
		Entry("1 when it says none", ``, 1),
		Entry("1 when it says null", `,"api_version":null`, 1),
		Entry("1", `,"api_version":1`, 1),
		Entry("2", `,"api_version":2`, 2),
		Entry("3", `,"api_version":3`, 3),
		Entry("3 when it is newer than all there are", `,"api_version":4`, 3),
		Entry("3 when it is much newer", `,"api_version":1000000`, 3),
	)

	DescribeTable("tells the API version of the VM's stemcell",
		func(context string, version int) {
			accepted(`{"method":"probe","arguments":[],"context":` + context + `}`)
			Expect(seen.call.Context.StemcellAPIVersion).To(Equal(version))
		},
		Entry("1 without a context", `null`, 1),
		Entry("1 without a vm", `{}`, 1),
		Entry("1 when vm is null", `{"vm":null}`, 1),
		Entry("1 without a stemcell", `{"vm":{}}`, 1),
		Entry("1 when stemcell is null", `{"vm":{"stemcell":null}}`, 1),
		Entry("1 without an api_version", `{"vm":{"stemcell":{"name":"ubuntu"}}}`, 1),
		Entry("1 when api_version is null", `{"vm":{"stemcell":{"api_version":null}}}`, 1),
		Entry("1", `{"vm":{"stemcell":{"api_version":1}}}`, 1),
		Entry("3", `{"vm":{"stemcell":{"api_version":3}}}`, 3),
	)

	It("tells who calls", func() {
		accepted(`{"method":"probe","arguments":[],"context":{"director_uuid":"d-1","request_id":"req-1"}}`)
		Expect(seen.call.Context.DirectorUUID).To(Equal("d-1"))
		Expect(seen.call.Context.RequestID).To(Equal("req-1"))
		Expect(seen.call.RequestID).To(Equal("req-1"))
	})

	DescribeTable("without an id gets one of its own",
		func(context string) {
			accepted(`{"method":"probe","arguments":[],"context":` + context + `}`)
			first := seen.call.RequestID
			Expect(first).To(MatchRegexp(`^cpi-[a-z2-7]{12}$`))
			accepted(`{"method":"probe","arguments":[],"context":` + context + `}`)
			Expect(seen.call.RequestID).NotTo(Equal(first))
		},
		Entry("absent", `{}`),
		Entry("null", `{"request_id":null}`),
		Entry("empty", `{"request_id":""}`),
	)

	It("carries the keys of a CPI config, in order and as they were sent", func() {
		accepted(`{"method":"probe","arguments":[],"context":{"region":"eu-west-1","director_uuid":"d","max_retries":2,` +
			`"vm":{"stemcell":{"api_version":2}},"metadata_options":{"http_tokens":"required"},"request_id":"r"}}`)
		Expect(json.Marshal(seen.call.Context.Overrides)).To(BeEquivalentTo(
			`{"region":"eu-west-1","max_retries":2,"metadata_options":{"http_tokens":"required"}}`))
	})

	It("without a CPI config overrides nothing", func() {
		accepted(`{"method":"probe","arguments":[],"context":{"director_uuid":"d","request_id":"r","vm":{}}}`)
		Expect(seen.call.Context.Overrides.Len()).To(BeZero())
	})

	It("may nest deeply", func() {
		const depth = 5000
		accepted(`{"method":"probe","arguments":[{"deep":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}]}`)
	})

	Describe("that is malformed", func() {
		refused := func(request, message string) {
			answer := serve(request, probe)
			Expect(seen.call).To(BeNil(), "no method is called")
			Expect(answer.err).NotTo(BeNil())
			Expect(answer.err.Type).To(Equal(cpi.InvalidCall))
			Expect(answer.err.Message).To(ContainSubstring(message))
			Expect(*answer.err.OKToRetry).To(BeFalse())
			Expect(answer.stdout + answer.stderr).NotTo(ContainSubstring("canary"))
		}

		DescribeTable("is an InvalidCall that tells what is wrong and quotes nothing", refused,
			Entry("nothing", ``, "the request is empty"),
			Entry("white space", " \r\n\t", "the request is empty"),
			Entry("no JSON", `canary`, "not valid JSON: invalid character 'c' looking for beginning of value, at byte 1"),
			Entry("JSON that breaks off", `{"method":"canary`, "not valid JSON: unexpected end of JSON input"),
			Entry("two requests", `{"method":"probe","arguments":[]}{"canary":1}`, "not valid JSON: invalid character '{' after top-level value, at byte 34"),
			Entry("data behind the request", `{"method":"probe","arguments":[]} canary`, "not valid JSON: invalid character 'c' after top-level value"),
			Entry("a zero byte", "{\"method\":\"probe\x00\",\"arguments\":[]}", "not valid JSON"),
			Entry("nesting without end", strings.Repeat("[", 1<<20), "not valid JSON: invalid character '[' exceeded max depth, at byte 10001"),
			Entry("null", `null`, "the request is null: expected an object with method, arguments and context"),
			Entry("a list", `[1]`, "the request is a list: expected an object"),
			Entry("a string", `"canary"`, "the request is a string"),
			Entry("a number", `42`, "the request is a number"),
			Entry("a boolean", `true`, "the request is true or false"),
			Entry("no method", `{"arguments":[]}`, "the request has no method"),
			Entry("method null", `{"method":null,"arguments":[]}`, "the request has no method"),
			Entry("method a list", `{"method":["canary"],"arguments":[]}`, "the request's method: expected a string, got a list"),
			Entry("no arguments", `{"method":"probe"}`, "the request has no arguments"),
			Entry("arguments null", `{"method":"probe","arguments":null}`, "the request has no arguments"),
			Entry("arguments an object", `{"method":"probe","arguments":{"a":"canary"}}`, "the request's arguments: expected a list, got an object"),
			Entry("arguments a string", `{"method":"probe","arguments":"canary"}`, "the request's arguments: expected a list, got a string"),
			Entry("context a list", `{"method":"probe","arguments":[],"context":["canary"]}`, "the request's context: expected an object, got a list"),
			Entry("director_uuid a number", `{"method":"probe","arguments":[],"context":{"director_uuid":1}}`, "the request's context: director_uuid: expected a string, got a number"),
			Entry("request_id an object", `{"method":"probe","arguments":[],"context":{"request_id":{"canary":1}}}`, "the request's context: request_id: expected a string, got an object"),
			Entry("vm a string", `{"method":"probe","arguments":[],"context":{"vm":"canary"}}`, "the request's context: vm: expected an object, got a string"),
			Entry("stemcell version a string", `{"method":"probe","arguments":[],"context":{"vm":{"stemcell":{"api_version":"canary"}}}}`, "the request's context: vm.stemcell.api_version: expected a whole number, got a string"),
			Entry("api_version a string", `{"method":"probe","arguments":[],"api_version":"canary"}`, "the request's api_version: expected a whole number, got a string"),
			Entry("api_version a fraction", `{"method":"probe","arguments":[],"api_version":1.5}`, "the request's api_version: expected a whole number, got another number"),
			Entry("api_version 0", `{"method":"probe","arguments":[],"api_version":0}`, "the request's api_version: expected 1 or more, got 0"),
			Entry("api_version negative", `{"method":"probe","arguments":[],"api_version":-2}`, "the request's api_version: expected 1 or more, got -2"),
		)

		It("is an InvalidCall when it is too large", func() {
			refused(`{"method":"probe","arguments":[],"x":"`+strings.Repeat("x", 16<<20)+`"}`, "the request is larger than 16 MiB")
		})

		It("is an InvalidCall when stdin breaks", func() {
			answer := serveAPI(context.Background(), iotest.ErrReader(errors.New("input/output error")), threeVersions(probe))
			Expect(answer.err.Type).To(Equal(cpi.InvalidCall))
			Expect(answer.err.Message).To(Equal("the request cannot be read from stdin: input/output error"))
		})
	})

	DescribeTable("for an unknown method is NotImplemented",
		func(name, shown string) {
			encoded, err := json.Marshal(name)
			Expect(err).NotTo(HaveOccurred())
			answer := serve(`{"method":`+string(encoded)+`,"arguments":[1,2]}`, probe)
			Expect(answer.err.Type).To(Equal(cpi.NotImplemented))
			Expect(answer.err.Message).To(Equal("Method is not known, got: '" + shown + "'"))
			Expect(*answer.err.OKToRetry).To(BeFalse())
		},
		Entry("any", "x", "x"),
		Entry("spelled otherwise", "Probe", "Probe"),
		Entry("empty", "", ""),
		Entry("long", strings.Repeat("é", 64), strings.Repeat("é", 64)),
		Entry("very long, which is cut", strings.Repeat("é", 65), strings.Repeat("é", 64)+"..."),
	)
})
