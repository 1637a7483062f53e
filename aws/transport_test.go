package aws

import (
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("The HTTP client", func() {
	// trusting makes a client with this content of the CA file.
	trusting := func(content string) (sdk.HTTPClient, error) {
		path := filepath.Join(GinkgoT().TempDir(), "ca.pem")
		Expect(os.WriteFile(path, []byte(content), 0o600)).To(Succeed())
		GinkgoT().Setenv(CAFileVariable, path)
		return NewHTTPClient(5 * time.Second)
	}
	var server *httptest.Server
	var authority string
	BeforeEach(func() {
		server = httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		DeferCleanup(server.Close)
		authority = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	})
	get := func(client sdk.HTTPClient) error {
		request, err := http.NewRequest(http.MethodGet, server.URL, nil)
		Expect(err).NotTo(HaveOccurred())
		response, err := client.Do(request)
		if err == nil {
			_ = response.Body.Close()
		}
		return err
	}

	It("trusts the certificates of the CA file", func() {
		client, err := trusting(authority)
		Expect(err).NotTo(HaveOccurred())
		Expect(get(client)).To(Succeed())
	})

	DescribeTable("trusts nobody unknown",
		func(content string) {
			client, err := trusting(content)
			Expect(err).NotTo(HaveOccurred())
			Expect(get(client)).To(MatchError(ContainSubstring("certificate")))
		},
		Entry("when the file is empty", ""),
		Entry("when the file is blank", " \n\n"),
	)

	It("trusts the system's roots beside those of the file", func() {
		_, err := trusting(authority)
		Expect(err).NotTo(HaveOccurred())
		expected, err := x509.SystemCertPool()
		Expect(err).NotTo(HaveOccurred())
		Expect(expected.AppendCertsFromPEM([]byte(authority))).To(BeTrue())
		roots, err := trustedRoots()
		Expect(err).NotTo(HaveOccurred())
		Expect(roots.Equal(expected)).To(BeTrue())
	})

	It("trusts the system's roots when no file is named", func() {
		GinkgoT().Setenv(CAFileVariable, "")
		Expect(trustedRoots()).To(BeNil())
	})

	It("cannot be made with a file that holds no certificate", func() {
		_, err := trusting("garbage")
		Expect(err).To(MatchError(And(ContainSubstring("ca.pem"), ContainSubstring("named by BOSH_CA_CERT_FILE"), ContainSubstring("holds no PEM certificate"))))
	})

	It("cannot be made with a file that is not there", func() {
		GinkgoT().Setenv(CAFileVariable, "/nowhere/ca.pem")
		_, err := NewHTTPClient(time.Second)
		Expect(err).To(MatchError(And(ContainSubstring("BOSH_CA_CERT_FILE"), ContainSubstring("/nowhere/ca.pem"))))
	})

	It("limits how long an answer may take", func() {
		slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		DeferCleanup(slow.Close)
		GinkgoT().Setenv(CAFileVariable, "")
		client, err := NewHTTPClient(30 * time.Millisecond)
		Expect(err).NotTo(HaveOccurred())
		request, err := http.NewRequest(http.MethodGet, slow.URL, nil)
		Expect(err).NotTo(HaveOccurred())
		_, err = client.Do(request)
		Expect(err).To(HaveOccurred())
		Expect(err.(*url.Error).Timeout()).To(BeTrue())
	})
})

var _ = Describe("The start of an answer", func() {
	DescribeTable("is that of an AWS service or of something else",
		func(start string, aws bool) { Expect(looksLikeAWS([]byte(start))).To(Equal(aws)) },
		Entry("XML", `<?xml version="1.0"?><DescribeVolumesResponse>`, true),
		Entry("XML without a declaration", `<DescribeVolumesResponse>`, true),
		Entry("JSON", `{"a":1}`, true),
		Entry("white space before it", " \r\n{", true),
		Entry("HTML", `<!DOCTYPE html><html>`, false),
		Entry("HTML in small letters", "\n<!doctype HTML>", false),
		Entry("HTML without a type", `<HTML><body>`, false),
		Entry("words", `Gateway timeout`, false),
		Entry("a list", `[1]`, false),
	)

	DescribeTable("is that of an answer to a query or not",
		func(status int, start string, answer bool) {
			Expect(answersQuery(status, []byte(start))).To(Equal(answer))
		},
		Entry("a result", 200, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"+`<DescribeVolumesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">`, true),
		Entry("a result without a declaration", 200, "\n  <RegisterTargetsResponse>", true),
		Entry("an empty result", 200, "<RebootInstancesResponse/>", true),
		Entry("a success with nothing", 200, "", false),
		Entry("a success in JSON", 200, `{"hello":"world"}`, false),
		Entry("XML of something else", 200, `<rss version="2.0">`, false),
		Entry("an error", 400, "<Response><Errors>", true),
		Entry("an error with nothing", 503, "", false),
		Entry("a redirect", 307, "<Response>", false),
	)

	DescribeTable("is shown short and on one line",
		func(start, shown string) { Expect(printable([]byte(start))).To(Equal(shown)) },
		Entry("short", "Bad gateway", "Bad gateway"),
		Entry("with line breaks and tabs", "<html>\r\n\t<body>", "<html> <body>"),
		Entry("long", strings.Repeat("x", 200), strings.Repeat("x", 80)),
		Entry("not text", "a\xff\xfeb", "a?b"),
	)
})
