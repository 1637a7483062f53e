// Package fakeregistry is the BOSH agent registry as CPI and agent know it: a
// small HTTP server that keeps the settings of each instance.
package fakeregistry

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Registry is a running one.
type Registry struct {
	URL      string // without credentials
	User     string
	Password string

	server   *http.Server
	mu       sync.Mutex
	settings map[string]string
	requests []Request
	fail     func(Request) int
}

// Request is one that the registry has got.
type Request struct {
	Method   string
	Path     string
	Instance string // "" if the path is not one of an instance's settings
	Body     string
	Status   int // of the answer
}

func (r Request) String() string { return fmt.Sprintf("%s %s %d", r.Method, r.Path, r.Status) }

// Start runs an empty registry on a free loopback port.
func Start(user, password string) (*Registry, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting the registry: %w", err)
	}
	r := &Registry{
		URL:      "http://" + listener.Addr().String(),
		User:     user,
		Password: password,
		settings: map[string]string{},
	}
	r.server = &http.Server{Handler: http.HandlerFunc(r.serve), ReadHeaderTimeout: time.Minute}
	go func() {
		if err := r.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			panic(fmt.Sprintf("the registry stopped serving: %v", err)) // nobody could tell why calls fail
		}
	}()
	return r, nil
}

// Close ends the registry.
func (r *Registry) Close() { _ = r.server.Close() }

// Content are the settings by instance, as they were put.
func (r *Registry) Content() map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.settings)
}

// Settings are one instance's, decoded; nil if there are none.
func (r *Registry) Settings(instance string) map[string]any {
	var settings map[string]any
	if json.Unmarshal([]byte(r.Content()[instance]), &settings) != nil {
		return nil
	}
	return settings
}

// Requests are all requests so far.
func (r *Registry) Requests() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Request(nil), r.requests...)
}

// Clear forgets settings and requests.
func (r *Registry) Clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settings = map[string]string{}
	r.requests = nil
}

// FailWith has a function decide for each request whether to fail it with a
// status; 0 serves it, and so does a nil function.
func (r *Registry) FailWith(fail func(Request) int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail = fail
}

func (r *Registry) serve(w http.ResponseWriter, got *http.Request) {
	body, err := io.ReadAll(got.Body)
	if err != nil {
		return // the caller went away while it was asking
	}
	request := Request{Method: got.Method, Path: got.URL.Path, Instance: instanceOf(got.URL.Path), Body: string(body)}
	r.mu.Lock()
	defer r.mu.Unlock()
	status, answer := r.answer(request, got)
	request.Status = status
	r.requests = append(r.requests, request)
	w.Header().Set("Content-Type", "application/json")
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Basic realm="Restricted Area"`)
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) // the caller may have gone
}

// answer is called with the lock held.
func (r *Registry) answer(request Request, got *http.Request) (int, map[string]string) {
	if r.fail != nil {
		if status := r.fail(request); status != 0 {
			return status, map[string]string{"status": "error"}
		}
	}
	if request.Instance == "" {
		return http.StatusNotFound, map[string]string{"status": "not_found"}
	}
	if !r.authorized(got) {
		return http.StatusUnauthorized, map[string]string{"status": "access_denied"}
	}
	settings, found := r.settings[request.Instance]
	switch request.Method {
	case http.MethodPut:
		r.settings[request.Instance] = request.Body
		return http.StatusOK, map[string]string{"status": "ok"}
	case http.MethodDelete:
		delete(r.settings, request.Instance)
		return http.StatusOK, map[string]string{"status": "ok"}
	case http.MethodGet:
		if found {
			return http.StatusOK, map[string]string{"status": "ok", "settings": settings}
		}
		return http.StatusNotFound, map[string]string{"status": "not_found"}
	}
	return http.StatusMethodNotAllowed, map[string]string{"status": "error"}
}

func (r *Registry) authorized(got *http.Request) bool {
	user, password, _ := got.BasicAuth()
	return subtle.ConstantTimeCompare([]byte(user+"\x00"+password), []byte(r.User+"\x00"+r.Password)) == 1
}

// instanceOf takes the id out of /instances/<id>/settings.
func instanceOf(path string) string {
	rest, ok := strings.CutPrefix(path, "/instances/")
	id, isSettings := strings.CutSuffix(rest, "/settings")
	if !ok || !isSettings || strings.Contains(id, "/") {
		return ""
	}
	return id
}
