package aws

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"time"

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
