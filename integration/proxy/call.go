package proxy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"bosh-aws-cpi/integration/emulator/query"
)

// EBS is the service name of the EBS direct API. The others have the names
// of package query.
const EBS = "ebs"

// Call is one recorded AWS call. What Calls returns are copies; a call that is
// still being answered has Status 0.
type Call struct {
	Seq     int    // 1, 2, ... in order of arrival
	Service string // query.EC2, query.ELB, query.ELBv2, query.STS or EBS
	Action  string // e.g. RunInstances; for EBS the operation, e.g. PutSnapshotBlock

	Params url.Values     // query services: the form; EBS: the URL's query
	Method string         // mostly of interest for EBS
	Path   string         // the same
	Header http.Header    // X-Amz-* headers, without the session token
	JSON   map[string]any // EBS: the body of calls that send JSON
	Body   Body           // what the body was, if not kept above

	Region          string
	AccessKey       string
	HasSessionToken bool
	UserAgent       string
	Attempt         int    // 1 for the first try, of the header amz-sdk-request
	InvocationID    string // the same over all tries of one call

	Start    time.Time
	Duration time.Duration // until the answer was ready
	Status   int           // HTTP status sent; -1: the connection was dropped
	Code     string        // AWS error code sent, if any
	Fault    string        // what of the proxy's own made the answer, e.g. "throttled"
	Answer   []byte        // as sent, with Options.KeepAnswers
}

// Body tells of a body without keeping it.
type Body struct {
	Length int
	SHA256 string // hex
}

// Param is the first value of a parameter, "" if it was not sent.
func (c Call) Param(name string) string { return c.Params.Get(name) }

// List are the values of a numbered parameter in order: List("InstanceId")
// are InstanceId.1, InstanceId.2, ...
func (c Call) List(name string) []string {
	var values []string
	for i := 1; ; i++ {
		key := name + "." + strconv.Itoa(i)
		if !c.Params.Has(key) {
			return values
		}
		values = append(values, c.Params.Get(key))
	}
}

// Tags of a resource type in the call's TagSpecification.N parameters.
func (c Call) Tags(resourceType string) map[string]string {
	tags := map[string]string{}
	for i := 1; ; i++ {
		spec := "TagSpecification." + strconv.Itoa(i)
		kind := c.Param(spec + ".ResourceType")
		if kind == "" {
			return tags
		}
		for j := 1; kind == resourceType && c.Params.Has(spec+".Tag."+strconv.Itoa(j)+".Key"); j++ {
			tag := spec + ".Tag." + strconv.Itoa(j)
			tags[c.Param(tag+".Key")] = c.Param(tag + ".Value")
		}
	}
}

// Throttled tells whether the answer asked the caller to slow down.
func (c Call) Throttled() bool { return c.Code == throttleCode(c.Service) }

// Succeeded tells whether the caller got a 2xx answer.
func (c Call) Succeeded() bool { return c.Status/100 == 2 }

func (c Call) String() string {
	outcome := strconv.Itoa(c.Status)
	switch {
	case c.Status == 0:
		outcome = "..."
	case c.Status < 0:
		outcome = "dropped"
	}
	text := fmt.Sprintf("%d %s %s %s", c.Seq, c.Service, c.Action, outcome)
	for _, more := range []string{c.Code, c.Fault} {
		if more != "" {
			text += " " + more
		}
	}
	return text
}

var credential = regexp.MustCompile(`Credential=([^/]+)/[^/]+/([^/]+)/([^/]+)/aws4_request`)

// newCall reads what a request says. The body has been read already.
func newCall(r *http.Request, body []byte) *Call {
	call := &Call{
		Method:          r.Method,
		Path:            r.URL.Path,
		Params:          r.URL.Query(),
		Header:          http.Header{},
		UserAgent:       r.UserAgent(),
		HasSessionToken: r.Header.Get("X-Amz-Security-Token") != "",
		InvocationID:    r.Header.Get("Amz-Sdk-Invocation-Id"),
		Attempt:         attempt(r.Header.Get("Amz-Sdk-Request")),
	}
	for name, values := range r.Header {
		if strings.HasPrefix(name, "X-Amz-") && name != "X-Amz-Security-Token" {
			call.Header[name] = values
		}
	}
	if scope := credential.FindStringSubmatch(r.Header.Get("Authorization")); scope != nil {
		call.AccessKey, call.Region, call.Service = scope[1], scope[2], scope[3]
	}
	if call.Service == EBS {
		call.readEBS(r, body)
	} else {
		call.readQuery(r, body)
	}
	return call
}

func (c *Call) readQuery(r *http.Request, body []byte) {
	if form, err := url.ParseQuery(string(body)); err == nil && strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		for name, values := range form {
			c.Params[name] = values
		}
	} else {
		c.Body = bodyOf(body)
	}
	c.Action = c.Params.Get("Action")
	if c.Service == "elasticloadbalancing" {
		// The two generations differ in nothing else.
		if c.Service = query.ELB; c.Params.Get("Version") == "2015-12-01" {
			c.Service = query.ELBv2
		}
	}
}

func (c *Call) readEBS(r *http.Request, body []byte) {
	c.Action = ebsOperation(r.Method, r.URL.Path)
	if c.Action == "PutSnapshotBlock" {
		c.Body = bodyOf(body)
	} else if json.Unmarshal(body, &c.JSON) != nil {
		c.JSON, c.Body = nil, bodyOf(body)
	}
}

func bodyOf(body []byte) Body {
	sum := sha256.Sum256(body)
	return Body{Length: len(body), SHA256: hex.EncodeToString(sum[:])}
}

// attempt reads "attempt=2; max=9".
func attempt(header string) int {
	for field := range strings.SplitSeq(header, ";") {
		if number, ok := strings.CutPrefix(strings.TrimSpace(field), "attempt="); ok {
			attempt, _ := strconv.Atoi(number)
			return attempt
		}
	}
	return 0
}

// ebsOperation names the operation of EBS direct that method and path mean.
func ebsOperation(method, path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if parts[0] != "snapshots" {
		return ""
	}
	switch {
	case method == http.MethodPost && len(parts) == 1:
		return "StartSnapshot"
	case method == http.MethodPost && len(parts) == 3 && parts[1] == "completion":
		return "CompleteSnapshot"
	case method == http.MethodPut && len(parts) == 4 && parts[2] == "blocks":
		return "PutSnapshotBlock"
	case method == http.MethodGet && len(parts) == 4 && parts[2] == "blocks":
		return "GetSnapshotBlock"
	case method == http.MethodGet && len(parts) == 3 && parts[2] == "blocks":
		return "ListSnapshotBlocks"
	case method == http.MethodGet && len(parts) == 3 && parts[2] == "changedblocks":
		return "ListChangedBlocks"
	}
	return ""
}
