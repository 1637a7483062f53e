package main

import (
	"net"
	"net/http"
	"time"
)

// metadata serves one instance's metadata as IMDSv2 does, which is where an agent
// finds its settings.
type metadata struct {
	URL    string
	server *http.Server
}

const metadataToken = "a-token-for-tests"

func serveMetadata(instance string, userData []byte) (*metadata, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	routes := http.NewServeMux()
	routes.HandleFunc("PUT /latest/api/token", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(metadataToken)) // the agent asks again when it does not get it
	})
	for path, content := range map[string][]byte{
		"GET /latest/user-data":             userData,
		"GET /latest/meta-data/instance-id": []byte(instance),
		// Without a key the agent asks for ten seconds.
		"GET /latest/meta-data/public-keys/0/openssh-key": []byte("ssh-ed25519 none"),
	} {
		routes.HandleFunc(path, func(w http.ResponseWriter, request *http.Request) {
			if request.Header.Get("X-aws-ec2-metadata-token") != metadataToken {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			_, _ = w.Write(content)
		})
	}
	m := &metadata{URL: "http://" + listener.Addr().String(), server: &http.Server{Handler: routes, ReadHeaderTimeout: time.Minute}}
	go func() { _ = m.server.Serve(listener) }() // ends with close; an agent without metadata fails the phase
	return m, nil
}

func (m *metadata) close() { _ = m.server.Close() }
