package cpi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxRequestBytes bounds a request. The largest that BOSH makes is a create_vm
// with its env: tens of KiB, since EC2 takes 16 KiB of user data.
const maxRequestBytes = 16 << 20

// Request is one call as it came in.
type Request struct {
	Method     string
	Arguments  []json.RawMessage
	Context    Context
	APIVersion int
}

// Context is what a caller tells about the call beside its arguments.
type Context struct {
	// DirectorUUID tells which Director calls; a random one with `create-env`.
	DirectorUUID string
	// RequestID is the Director's; empty from the CLI.
	RequestID string
	// StemcellAPIVersion is that of the VM's stemcell, 1 when it was not sent.
	StemcellAPIVersion int
	// Overrides are all further keys: a CPI config of a Director with several
	// CPIs. They hold for this call only.
	Overrides Object
}

// readRequest reads and decodes one request. Every error is an InvalidCall.
func readRequest(stdin io.Reader) (Request, error) {
	data, err := io.ReadAll(io.LimitReader(stdin, maxRequestBytes+1))
	switch {
	case err != nil:
		return Request{}, Errorf(InvalidCall, "the request cannot be read from stdin: %w", err)
	case len(data) > maxRequestBytes:
		return Request{}, Errorf(InvalidCall, "the request is larger than %d MiB", maxRequestBytes>>20)
	case len(bytes.TrimSpace(data)) == 0:
		return Request{}, Errorf(InvalidCall, "the request is empty: expected a JSON object with method, arguments and context on stdin")
	}
	// Parts of the request come back in the response, and go to AWS and the agent:
	// what is no UTF-8 is replaced once, here, as decoding it would.
	return decodeRequest(bytes.ToValidUTF8(data, []byte("\uFFFD")))
}

func decodeRequest(data []byte) (Request, error) {
	if !json.Valid(data) {
		return Request{}, Errorf(InvalidCall, "the request is not valid JSON: %s", SyntaxError(data))
	}
	if kind := kindOf(data); kind != "object" {
		return Request{}, Errorf(InvalidCall, "the request is %s: expected an object with method, arguments and context", article(kind))
	}
	var envelope Object
	if err := envelope.UnmarshalJSON(data); err != nil {
		return Request{}, Errorf(InvalidCall, "the request cannot be read: %w", err)
	}
	request := Request{APIVersion: 1}
	for _, part := range []struct {
		key      string
		into     any
		required bool
	}{
		{"method", &request.Method, true},
		{"arguments", &request.Arguments, true},
		{"context", &request.Context, false},
		{"api_version", &request.APIVersion, false},
	} {
		raw, sent := envelope.Get(part.key)
		if !sent || kindOf(raw) == "null" {
			if part.required {
				return Request{}, Errorf(InvalidCall, "the request has no %s", part.key)
			}
			continue
		}
		if err := describe(json.Unmarshal(raw, part.into)); err != nil {
			return Request{}, Errorf(InvalidCall, "the request's %s: %s", part.key, err)
		}
	}
	if request.APIVersion < 1 {
		return Request{}, Errorf(InvalidCall, "the request's api_version: expected 1 or more, got %d", request.APIVersion)
	}
	request.Context.StemcellAPIVersion = max(request.Context.StemcellAPIVersion, 1)
	return request, nil
}

// SyntaxError tells where JSON breaks, without quoting more of it than a
// character.
func SyntaxError(data []byte) string {
	var syntax *json.SyntaxError
	if errors.As(json.Unmarshal(data, new(json.RawMessage)), &syntax) {
		return fmt.Sprintf("%s, at byte %d", syntax, syntax.Offset)
	}
	return "it breaks off"
}

// UnmarshalJSON takes the keys that the protocol knows out of the context and
// keeps the others as overrides.
func (c *Context) UnmarshalJSON(data []byte) error {
	var all Object
	if err := all.UnmarshalJSON(data); err != nil {
		return err
	}
	var known struct {
		DirectorUUID string `json:"director_uuid"`
		RequestID    string `json:"request_id"`
		VM           struct {
			Stemcell struct {
				APIVersion int `json:"api_version"`
			} `json:"stemcell"`
		} `json:"vm"`
	}
	if err := json.Unmarshal(data, &known); err != nil {
		return err
	}
	*c = Context{
		DirectorUUID:       known.DirectorUUID,
		RequestID:          known.RequestID,
		StemcellAPIVersion: known.VM.Stemcell.APIVersion,
		Overrides:          all.Without("director_uuid", "request_id", "vm"),
	}
	return nil
}
