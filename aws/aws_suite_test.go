package aws

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	boshlog "github.com/cloudfoundry/bosh-utils/logger"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var suite *testing.T

func TestAWS(t *testing.T) {
	suite = t
	RegisterFailHandler(Fail)
	RunSpecs(t, "AWS by noun")
}

// atOnce makes a second half a millisecond, and a minute 30 milliseconds.
var atOnce = Timing{Scale: 0.0005, HTTP: 5 * time.Second}

// offline is a client that asks nobody, for specs that are about waiting and
// trying again.
func offline(maxRetries int) (*Client, *bytes.Buffer) {
	log := &bytes.Buffer{}
	return &Client{region: "us-east-1", maxRetries: maxRetries, timing: atOnce, logger: boshlog.NewWriterLogger(boshlog.LevelDebug, log), tag: "spec"}, log
}

// patient is offline in production's time, for virtually.
func patient() (*Client, *bytes.Buffer) {
	c, log := offline(0)
	c.timing.Scale = 1
	return c, log
}

// virtually runs a spec on a clock of its own, on which waits take no time and
// are of their exact length however busy the machine is.
func virtually(spec func()) func() {
	return func() {
		synctest.Test(suite, func(*testing.T) {
			defer GinkgoRecover()
			spec()
		})
	}
}

// endpointOfAWS is a server that stands in for AWS: answer gets each request's
// parameters and their number, from 1 on, and writes the answer.
type endpointOfAWS struct {
	url    string
	answer func(w http.ResponseWriter, sent url.Values, number int)

	mutex    sync.Mutex
	requests []url.Values
	headers  []http.Header
}

func newEndpoint(answer func(w http.ResponseWriter, sent url.Values, number int)) *endpointOfAWS {
	e := &endpointOfAWS{answer: answer}
	server := httptest.NewServer(e)
	DeferCleanup(server.Close)
	e.url = server.URL
	return e
}

func (e *endpointOfAWS) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	e.mutex.Lock()
	e.requests = append(e.requests, r.PostForm)
	e.headers = append(e.headers, r.Header)
	number := len(e.requests)
	e.mutex.Unlock()
	e.answer(w, r.PostForm, number)
}

// actions are the AWS calls that were made, in order.
func (e *endpointOfAWS) actions() []string {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	var actions []string
	for _, request := range e.requests {
		actions = append(actions, request.Get("Action"))
	}
	return actions
}

// client returns a client of the endpoint, and its log.
func (e *endpointOfAWS) client(change ...func(*Settings)) (*Client, *bytes.Buffer) {
	GinkgoHelper()
	settings := Settings{AccessKeyID: "id", SecretAccessKey: "key", Region: "us-east-1", EC2Endpoint: e.url, ELBEndpoint: e.url}
	for _, with := range change {
		with(&settings)
	}
	Expect(settings.Validate()).To(Succeed())
	log := &bytes.Buffer{}
	transport, err := NewHTTPClient(atOnce.HTTP)
	Expect(err).NotTo(HaveOccurred())
	c, err := New(context.Background(), settings, Options{
		Version: "1.2", Director: "d-1", Request: "r-1", HTTP: transport, Timing: atOnce,
		Logger: boshlog.NewWriterLogger(boshlog.LevelDebug, log), Tag: "spec",
	})
	Expect(err).NotTo(HaveOccurred())
	return c, log
}

func retries(most int) func(*Settings) { return func(s *Settings) { s.MaxRetries = &most } }

// refuse writes an error as EC2 does.
func refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, `<?xml version="1.0"?><Response><Errors><Error><Code>%s</Code><Message>because</Message></Error></Errors><RequestID>aws-1</RequestID></Response>`, code)
}

// reply writes the answer of an EC2 call.
func reply(w http.ResponseWriter, action, content string) {
	w.Header().Set("X-Amzn-Requestid", "aws-2")
	fmt.Fprintf(w, `<?xml version="1.0"?><%[1]sResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>aws-2</requestId>%[2]s</%[1]sResponse>`, action, content)
}

// hangUp ends the connection without an answer.
func hangUp(w http.ResponseWriter) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = connection.Close()
	}
}

// breakOff ends the connection in the middle of the answer.
func breakOff(w http.ResponseWriter) {
	w.Header().Set("Content-Length", "1000")
	_, _ = io.WriteString(w, `<?xml version="1.0"?><DescribeVolumesResponse><volumeSet>`)
}
