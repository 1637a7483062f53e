package action

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	boshlog "github.com/cloudfoundry/bosh-utils/logger"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/aws"
	"bosh-aws-cpi/cpi"
)

func TestAction(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "The methods")
}

// jsonObject reads an object as a request holds it.
func jsonObject(text string) cpi.Object {
	GinkgoHelper()
	var object cpi.Object
	Expect(json.Unmarshal([]byte(text), &object)).To(Succeed())
	return object
}

// jsonOf writes a value as an answer holds it.
func jsonOf(value any) string {
	GinkgoHelper()
	data, err := json.Marshal(value)
	Expect(err).NotTo(HaveOccurred())
	return string(data)
}

// testSession is a call of a method under a configuration, and its log.
func testSession(method string, config Config) (*session, *bytes.Buffer) {
	log := &bytes.Buffer{}
	config.Timing = aws.Timing{Scale: 0.00001, HTTP: 20 * time.Millisecond}
	return &session{
		Call: &cpi.Call{
			Method: method, APIVersion: 3, RequestID: "req-1", Tag: "spec",
			Context: cpi.Context{DirectorUUID: "director-1", StemcellAPIVersion: 3},
			Logger:  boshlog.NewWriterLogger(boshlog.LevelDebug, log),
		},
		config: config,
	}, log
}

// beTyped matches an error of a type whose message matches.
func beTyped(kind cpi.ErrorType, message any) OmegaMatcher {
	if text, plain := message.(string); plain {
		message = Equal(text)
	}
	return And(BeAssignableToTypeOf(&cpi.Error{}), HaveField("Type", kind), HaveField("Message", message))
}

func pointer[T any](value T) *T { return &value }
