package proxy

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"net/http"
	"strconv"
	"strings"

	"bosh-aws-cpi/integration/emulator/query"
)

// answer is what goes back to the caller.
type answer struct {
	status int
	header http.Header
	body   []byte
	drop   bool   // close the connection instead
	fault  string // who made it, if it was not the emulator
}

func (a *answer) ok() bool { return !a.drop && a.status/100 == 2 }

// errorCode is the AWS error code in a failing answer.
func (a *answer) errorCode() string {
	if a.status < 400 {
		return ""
	}
	if kind := a.header.Get("X-Amzn-Errortype"); kind != "" {
		return kind
	}
	_, rest, found := bytes.Cut(a.body, []byte("<Code>"))
	if !found {
		return ""
	}
	code, _, _ := bytes.Cut(rest, []byte("</Code>"))
	return string(code)
}

// Failure is an error that AWS answers.
type Failure struct {
	Status  int // HTTP
	Code    string
	Message string
}

// throttleCode is the code with which a service asks its caller to slow down.
func throttleCode(service string) string {
	switch service {
	case query.EC2:
		return "RequestLimitExceeded"
	case EBS:
		return "ThrottlingException"
	default:
		return "Throttling"
	}
}

func throttled(service string) Failure {
	failure := Failure{http.StatusServiceUnavailable, throttleCode(service), "Request limit exceeded."}
	switch service {
	case query.EC2:
	case query.ELB, query.ELBv2, query.STS:
		failure.Status, failure.Message = http.StatusBadRequest, "Rate exceeded"
	case EBS:
		failure.Status = http.StatusBadRequest
	}
	return failure
}

// render gives the failure the shape that the service's protocol has.
func (f Failure) render(call *Call, fault string) *answer {
	id := requestID(call)
	a := &answer{status: f.Status, header: http.Header{}, fault: fault}
	a.header.Set("X-Amzn-Requestid", id)
	switch call.Service {
	case EBS:
		a.header.Set("Content-Type", "application/json")
		a.header.Set("X-Amzn-Errortype", f.Code)
		a.body, _ = json.Marshal(map[string]string{"Message": f.Message}) // two strings
	case query.EC2:
		a.header.Set("Content-Type", "text/xml;charset=UTF-8")
		a.body = []byte(xml.Header + "<Response><Errors><Error><Code>" + escape(f.Code) + "</Code><Message>" +
			escape(f.Message) + "</Message></Error></Errors><RequestID>" + id + "</RequestID></Response>")
	default:
		kind := "Sender"
		if f.Status >= http.StatusInternalServerError {
			kind = "Receiver"
		}
		a.header.Set("Content-Type", "text/xml")
		a.body = []byte("<ErrorResponse><Error><Type>" + kind + "</Type><Code>" + escape(f.Code) + "</Code><Message>" +
			escape(f.Message) + "</Message></Error><RequestId>" + id + "</RequestId></ErrorResponse>")
	}
	return a
}

// requestID is made of the call's number, so that a message that shows it can
// be matched with the record.
func requestID(call *Call) string {
	number := strconv.Itoa(call.Seq)
	return "00000000-0000-4000-8000-" + strings.Repeat("0", max(0, 12-len(number))) + number
}

func escape(text string) string {
	var out bytes.Buffer
	_ = xml.EscapeText(&out, []byte(text)) // a Buffer does not fail
	return out.String()
}

// accepted is EC2's answer with nothing to say but yes.
func accepted(call *Call) *answer {
	root := query.List(call.Action+"Response",
		query.New("requestId", requestID(call)), query.New("return", "true"))
	root.Space = "http://ec2.amazonaws.com/doc/2016-11-15/"
	return xmlAnswer(root)
}

func xmlAnswer(root *query.Node) *answer {
	return &answer{
		status: http.StatusOK,
		header: http.Header{"Content-Type": {"text/xml;charset=UTF-8"}},
		body:   root.Encode(),
	}
}

// rewrite lets change work on the answer's XML. An answer that is not XML
// stays as it is.
func (a *answer) rewrite(change func(root *query.Node)) *answer {
	changed := *a // the one given may be kept for a client token
	if root, err := query.Parse(a.body); err == nil {
		change(root)
		changed.body = root.Encode()
	}
	return &changed
}
