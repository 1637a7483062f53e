package aws

import (
	"bufio"
	"bytes"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// CAFileVariable names the environment variable that holds the path of further
// CA certificates, as bin/cpi exports it.
const CAFileVariable = "BOSH_CA_CERT_FILE"

// NewHTTPClient makes the HTTP client that every service and the registry
// share: it trusts the system's roots and those of CAFileVariable, takes
// proxies from the environment, and bounds each step of a request and all of it
// by limit. An unreadable CA file is an error; an empty one is none.
func NewHTTPClient(limit time.Duration) (*awshttp.BuildableClient, error) {
	roots, err := trustedRoots()
	if err != nil {
		return nil, err
	}
	step := min(limit, 10*time.Second)
	return awshttp.NewBuildableClient().
		WithTimeout(limit).
		WithDialerOptions(func(dialer *net.Dialer) { dialer.Timeout = step }).
		WithTransportOptions(func(transport *http.Transport) {
			transport.Proxy = proxyOf
			transport.TLSClientConfig.RootCAs = roots
			transport.TLSHandshakeTimeout = step
			transport.ResponseHeaderTimeout = limit
			transport.MaxIdleConnsPerHost = 64 // several look-ups, NICs or blocks at once
		}), nil
}

// proxyOf takes proxies from the environment, but for the metadata services on
// the link, which no proxy reaches.
func proxyOf(request *http.Request) (*url.URL, error) {
	address, err := netip.ParseAddr(request.URL.Hostname())
	if err == nil && (address.IsLinkLocalUnicast() || address == metadataIPv6) {
		return nil, nil
	}
	return http.ProxyFromEnvironment(request)
}

// metadataIPv6 is where the instance metadata service answers on IPv6.
var metadataIPv6 = netip.MustParseAddr("fd00:ec2::254")

// trustedRoots returns nil, the system's roots, unless there are more to trust.
func trustedRoots() (*x509.CertPool, error) {
	path := os.Getenv(CAFileVariable)
	if path == "" {
		return nil, nil
	}
	more, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the CA certificates named by %s cannot be read: %w", CAFileVariable, err)
	}
	if len(bytes.TrimSpace(more)) == 0 {
		return nil, nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(more) {
		return nil, fmt.Errorf("the file %s named by %s holds no PEM certificate", path, CAFileVariable)
	}
	return roots, nil
}

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

// answerCheck looks at how an answer begins before the SDK decodes it. The
// SDK's own error for HTML is a syntax error of its XML decoder, which tells an
// operator nothing.
type answerCheck struct{ next sdk.HTTPClient }

// Do makes a request; its error is an *unexpectedAnswer when no AWS service can
// have sent the answer.
func (a answerCheck) Do(request *http.Request) (*http.Response, error) {
	response, err := a.next.Do(request)
	if err != nil || isBinary(response) {
		return response, err
	}
	body := bufio.NewReaderSize(response.Body, 512)
	_, err = body.Peek(1)
	if err != nil { // no body, which is a valid answer for some calls
		response.Body = rest{body, response.Body}
		return response, nil
	}
	start, _ := body.Peek(body.Buffered())
	if looksLikeAWS(start) {
		response.Body = rest{body, response.Body}
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

func isBinary(response *http.Response) bool {
	return strings.HasPrefix(response.Header.Get("Content-Type"), "application/octet-stream")
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
