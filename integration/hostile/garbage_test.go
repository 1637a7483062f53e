package hostile_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// random are the same random bytes every time.
func random(length int) []byte {
	out := make([]byte, length)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(out) // never fails
	return out
}

// serving runs an HTTP server for the rest of the spec and returns its URL.
func serving(handler http.HandlerFunc) string {
	server := httptest.NewServer(handler)
	DeferCleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// listening runs a TCP server whose connections are all handled alike.
func listening(handle func(net.Conn)) string {
	GinkgoHelper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(listener.Close)
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return // closed
			}
			go func() {
				defer connection.Close()
				handle(connection)
			}()
		}
	}()
	return "http://" + listener.Addr().String()
}

// body answers everything with the same.
func body(contentType string, content []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(content)
	}
}

// endless answers with a beginning, and then with more and more of the same
// until the caller goes.
func endless(contentType, beginning, more string) http.HandlerFunc {
	chunk := []byte(strings.Repeat(more, 64<<10/len(more)))
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, err := io.WriteString(w, beginning)
		for err == nil {
			_, err = w.Write(chunk)
		}
	}
}

// dripping answers a beginning, and then a blank ten times a second.
func dripping(beginning string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/xml")
		_, err := io.WriteString(w, beginning)
		for err == nil && r.Context().Err() == nil {
			_ = http.NewResponseController(w).Flush()
			time.Sleep(100 * time.Millisecond)
			_, err = io.WriteString(w, " ")
		}
	}
}

// bomb is a page of blanks that is a thousandth of its size when it is packed.
func bomb() http.HandlerFunc {
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	blanks := bytes.Repeat([]byte(" "), 1<<20)
	_, _ = writer.Write([]byte("<DescribeVolumesResponse>"))
	for range 512 {
		_, _ = writer.Write(blanks) // into memory
	}
	_ = writer.Close()
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/xml")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed.Bytes())
	}
}

// silent takes a request and never answers.
func silent(connection net.Conn) { _, _ = io.Copy(io.Discard, connection) }

// babble answers a request with bytes that are no HTTP.
func babble(connection net.Conn) {
	receive(connection)
	_, _ = connection.Write(random(4 << 10))
}

// receive reads a request to its end, so that the answer is not lost by a reset.
func receive(connection net.Conn) {
	request, err := http.ReadRequest(bufio.NewReader(connection))
	if err == nil {
		_, _ = io.Copy(io.Discard, request.Body)
	}
}

// endlessHeader answers with header after header.
func endlessHeader(connection net.Conn) {
	receive(connection)
	_, err := io.WriteString(connection, "HTTP/1.1 200 OK\r\n")
	for n := 0; err == nil; n++ {
		_, err = fmt.Fprintf(connection, "X-Header-%d: %s\r\n", n, strings.Repeat("x", 4<<10))
	}
}
