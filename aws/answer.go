package aws

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
)

// maxAnswer bounds an answer. The largest that the CPI asks for is the
// description of a VPC's subnets, below a MiB. In memory, an answer of many small
// elements takes up to thirty times its size.
const maxAnswer = 4 << 20

// unexpectedAnswer is an answer that cannot come from AWS: a proxy's error
// page, a captive portal, another server.
type unexpectedAnswer struct {
	host, contentType, start string
	status                   int
}

func (u *unexpectedAnswer) Error() string {
	return fmt.Sprintf("%s answered HTTP status %d with %q instead of an AWS response (it begins: %q); check the endpoint and any proxy on the way",
		u.host, u.status, u.contentType, u.start)
}

// answerCheck looks at how an answer begins before the SDK decodes it, and
// bounds it. The SDK's own error for HTML is a syntax error of its XML decoder,
// which tells an operator nothing; XML of something else, JSON or nothing at all
// it even takes for a success that found nothing.
type answerCheck struct{ next sdk.HTTPClient }

// Do makes a request; its error is an *unexpectedAnswer when no AWS service can
// have sent the answer.
func (a answerCheck) Do(request *http.Request) (*http.Response, error) {
	response, err := a.next.Do(request)
	if err != nil {
		return nil, err
	}
	body := bufio.NewReader(&boundedReader{from: response.Body, host: request.URL.Host, left: maxAnswer})
	response.Body = rest{body, response.Body}
	if isBinary(response) && !isQuery(request) {
		return response, nil
	}
	start, _ := body.Peek(512) // less when there is less; an error comes again when the body is read
	if looksLikeAWS(start) && (!isQuery(request) || answersQuery(response.StatusCode, start)) {
		return response, nil
	}
	defer response.Body.Close()
	return nil, &unexpectedAnswer{
		host: request.URL.Host, status: response.StatusCode,
		contentType: response.Header.Get("Content-Type"), start: printable(start),
	}
}

type rest struct {
	io.Reader
	io.Closer
}

// boundedReader reads an answer up to a limit. Its errors name who answered.
type boundedReader struct {
	from io.Reader
	host string
	left int64
}

func (b *boundedReader) Read(into []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("%s answered with more than %d MiB, as no AWS service does; check the endpoint and any proxy on the way", b.host, maxAnswer>>20)
	}
	n, err := b.from.Read(into[:min(int64(len(into)), b.left)])
	b.left -= int64(n)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("the answer of %s breaks off: %w", b.host, err)
	}
	return n, err
}

func isBinary(response *http.Response) bool {
	return strings.HasPrefix(response.Header.Get("Content-Type"), "application/octet-stream")
}

// isQuery says whether a request speaks the query protocol, as those to EC2,
// ELB and STS do; EBS speaks JSON.
func isQuery(request *http.Request) bool {
	return strings.HasPrefix(request.Header.Get("Content-Type"), "application/x-www-form-urlencoded")
}

// queryResult is how the answer to a query begins that succeeded.
var queryResult = regexp.MustCompile(`^\s*(<\?xml[^>]*\?>\s*)?<[A-Za-z0-9]+Response[\s>/]`)

// answersQuery says whether a body begins as an answer in the query protocol: a
// result when the call succeeded, any error otherwise, and never nothing.
func answersQuery(status int, start []byte) bool {
	if status/100 == 2 {
		return queryResult.Match(start)
	}
	return status >= 400 && len(bytes.TrimSpace(start)) > 0
}

// looksLikeAWS says whether a body begins as XML or JSON, but not as HTML.
func looksLikeAWS(start []byte) bool {
	text := strings.ToLower(string(bytes.TrimSpace(start)))
	if strings.HasPrefix(text, "<!doctype") || strings.HasPrefix(text, "<html") {
		return false
	}
	return text == "" || text[0] == '<' || text[0] == '{'
}

// printable shortens the start of a foreign answer to its first words.
func printable(start []byte) string {
	const most = 80
	words := strings.Join(strings.Fields(strings.ToValidUTF8(string(start), "?")), " ")
	if len(words) > most {
		return words[:most]
	}
	return words
}
