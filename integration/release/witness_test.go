package release_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	signer "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// witness is a server that refuses every request and remembers it: an endpoint or
// a proxy that a property names.
type witness struct {
	*httptest.Server
	answer http.HandlerFunc

	mu   sync.Mutex
	seen []testimony
}

// testimony is one request.
type testimony struct {
	Method, Host, URL string
	Header            http.Header
	Form              url.Values
	body              []byte
}

const refusal = `<?xml version="1.0"?><Response><Errors><Error><Code>Witnessed</Code><Message>seen</Message></Error></Errors></Response>`

func refuse(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/xml")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = io.WriteString(w, refusal)
}

// newWitness starts one; start is (*httptest.Server).Start or StartTLS.
func newWitness(start func(*httptest.Server)) *witness {
	w := &witness{answer: refuse}
	w.Server = httptest.NewUnstartedServer(http.HandlerFunc(w.serve))
	w.Config.ErrorLog = log.New(GinkgoWriter, "", 0)
	start(w.Server)
	DeferCleanup(w.Close)
	return w
}

func plainWitness() *witness { return newWitness((*httptest.Server).Start) }

func (w *witness) serve(answer http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body) // a part of it shows in the spec that looks at it
	form, _ := url.ParseQuery(string(body))
	w.mu.Lock()
	w.seen = append(w.seen, testimony{request.Method, request.Host, request.URL.String(), request.Header, form, body})
	w.mu.Unlock()
	w.answer(answer, request)
}

// all are the requests so far.
func (w *witness) all() []testimony {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]testimony(nil), w.seen...)
}

// first is the first request.
func (w *witness) first() testimony {
	GinkgoHelper()
	Expect(w.all()).NotTo(BeEmpty(), "nothing came to the witness")
	return w.all()[0]
}

// signedWith tells whether the request is signed with a secret key: it signs it
// once more and compares.
func (t testimony) signedWith(ctx context.Context, keyID, secret, token, region string) bool {
	GinkgoHelper()
	again, err := http.NewRequestWithContext(ctx, t.Method, "http://"+t.Host+t.URL, bytes.NewReader(t.body))
	Expect(err).NotTo(HaveOccurred())
	_, signed, found := strings.Cut(t.Header.Get("Authorization"), "SignedHeaders=")
	Expect(found).To(BeTrue(), "the request is not signed")
	names, _, _ := strings.Cut(signed, ",")
	for _, name := range strings.Split(names, ";") {
		if values := t.Header.Values(name); len(values) > 0 {
			again.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	at, err := time.Parse("20060102T150405Z", t.Header.Get("X-Amz-Date"))
	Expect(err).NotTo(HaveOccurred())
	sum := sha256.Sum256(t.body)
	credentials := sdk.Credentials{AccessKeyID: keyID, SecretAccessKey: secret, SessionToken: token}
	Expect(signer.NewSigner().SignHTTP(ctx, credentials, again, hex.EncodeToString(sum[:]), "ec2", region, at)).To(Succeed())
	return again.Header.Get("Authorization") == t.Header.Get("Authorization")
}
