// Package query speaks the AWS query protocol to an emulator: a form goes
// out, an XML tree comes back. It signs nothing (an emulator does not look at
// signatures), so that test programs need no SDK for their few questions.
package query

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Services by the names this package gives them. The two generations of load
// balancers share a signing name and differ in API version only.
const (
	EC2   = "ec2"
	ELB   = "elb"
	ELBv2 = "elbv2"
	STS   = "sts"
	IAM   = "iam"
)

type service struct{ signingName, version string }

var services = map[string]service{
	EC2:   {"ec2", "2016-11-15"},
	ELB:   {"elasticloadbalancing", "2012-06-01"},
	ELBv2: {"elasticloadbalancing", "2015-12-01"},
	STS:   {"sts", "2011-06-15"},
	IAM:   {"iam", "2010-05-08"},
}

// Client asks one emulator about one region.
type Client struct {
	Endpoint  string // base URL, e.g. http://127.0.0.1:5000
	Region    string
	AccessKey string       // tells the account; default: the emulator's own
	HTTP      *http.Client // nil: http.DefaultClient
}

// Error is an answer that is not 2xx.
type Error struct {
	Action  string
	Status  int
	Code    string // empty if the answer was not AWS's error XML
	Message string
	Body    []byte
}

func (e *Error) Error() string {
	if e.Code == "" {
		return fmt.Sprintf("%s answered HTTP %d: %.200s", e.Action, e.Status, e.Body)
	}
	return fmt.Sprintf("%s answered %s (HTTP %d): %s", e.Action, e.Code, e.Status, e.Message)
}

// Do calls one action. Params are keys and values in turn.
func (c Client) Do(ctx context.Context, serviceName, action string, params ...string) (*Node, error) {
	form := url.Values{}
	for i := 0; i+1 < len(params); i += 2 {
		form.Set(params[i], params[i+1])
	}
	return c.Send(ctx, serviceName, action, form)
}

// Send calls one action with a whole form, which it completes.
func (c Client) Send(ctx context.Context, serviceName, action string, form url.Values) (*Node, error) {
	known, ok := services[serviceName]
	if !ok {
		return nil, fmt.Errorf("service %q is not one of the query services", serviceName)
	}
	form.Set("Action", action)
	form.Set("Version", known.version)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Endpoint+"/", strings.NewReader(form.Encode()))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", action, err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	request.Header.Set("Authorization", c.authorization(known.signingName))
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", action, err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, fmt.Errorf("%s: reading the answer: %w", action, err)
	}
	return decode(action, answer.StatusCode, body)
}

func decode(action string, status int, body []byte) (*Node, error) {
	root, err := Parse(body)
	if status/100 != 2 {
		failure := &Error{Action: action, Status: status, Body: body}
		if err == nil {
			failure.Code, failure.Message = ErrorOf(root)
		}
		return nil, failure
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", action, err)
	}
	return root, nil
}

// ErrorOf returns code and message of an error document in either of the two
// shapes of the query protocol (EC2's Response/Errors/Error and the others'
// ErrorResponse/Error).
func ErrorOf(root *Node) (code, message string) {
	failure := root.Get("Errors/Error")
	if failure == nil {
		failure = root.Get("Error")
	}
	return failure.Value("Code"), failure.Value("Message")
}

// authorization tells the emulator service, region and account.
func (c Client) authorization(signingName string) string {
	key := c.AccessKey
	if key == "" {
		key = "test"
	}
	return "AWS4-HMAC-SHA256 Credential=" + key + "/20260101/" + c.Region + "/" + signingName +
		"/aws4_request, SignedHeaders=host, Signature=0"
}
