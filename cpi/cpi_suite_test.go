package cpi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	boshlog "github.com/cloudfoundry/bosh-utils/logger"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/cpi"
)

func TestCPI(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "The CPI protocol")
}

// exchange is a request's answer and log.
type exchange struct {
	result json.RawMessage
	err    *answeredError
	log    string
	stdout string
	stderr string
}

type answeredError struct {
	Type      cpi.ErrorType `json:"type"`
	Message   string        `json:"message"`
	OKToRetry *bool         `json:"ok_to_retry"`
}

// serve sends a request to a CPI with these methods and the versions 1 to 3.
func serve(request string, methods ...cpi.Method) exchange {
	GinkgoHelper()
	return serveAPI(context.Background(), strings.NewReader(request), threeVersions(methods...))
}

func threeVersions(methods ...cpi.Method) cpi.API {
	return cpi.API{Methods: methods, Versions: []cpi.Version{{Number: 1}, {Number: 2}, {Number: 3}}}
}

func serveAPI(ctx context.Context, stdin io.Reader, api cpi.API) exchange {
	GinkgoHelper()
	return serveLoaded(ctx, stdin, func() (cpi.API, boshlog.LogLevel, error) { return api, boshlog.LevelDebug, nil })
}

// serveLoaded serves a request and checks what holds for every answer: one line
// of JSON with exactly three keys, and no result beside an error.
func serveLoaded(ctx context.Context, stdin io.Reader, load cpi.Load) exchange {
	GinkgoHelper()
	var stdout, stderr bytes.Buffer
	Expect(cpi.Serve(ctx, load, stdin, &stdout, &stderr)).To(Succeed())
	Expect(stdout.String()).To(HaveSuffix("}\n"))
	Expect(strings.Count(stdout.String(), "\n")).To(Equal(1), "stdout is one line")

	var keys map[string]json.RawMessage
	Expect(json.Unmarshal(stdout.Bytes(), &keys)).To(Succeed())
	Expect(keys).To(HaveLen(3))
	Expect(keys).To(And(HaveKey("result"), HaveKey("error"), HaveKey("log")))
	answer := exchange{result: keys["result"], stdout: stdout.String(), stderr: stderr.String()}
	Expect(json.Unmarshal(keys["error"], &answer.err)).To(Succeed())
	Expect(json.Unmarshal(keys["log"], &answer.log)).To(Succeed())
	if answer.err != nil {
		Expect(answer.result).To(MatchJSON(`null`), "no result beside an error")
		Expect(answer.err.Type).NotTo(BeEmpty())
		Expect(answer.err.Message).NotTo(BeEmpty())
		Expect(answer.err.OKToRetry).NotTo(BeNil())
	}
	return answer
}

// returning is a method without arguments and with a fixed outcome.
func returning(name string, result any, err error) cpi.Method {
	return cpi.NewMethod(name, func(context.Context, *cpi.Call, struct{}) (any, error) { return result, err })
}
