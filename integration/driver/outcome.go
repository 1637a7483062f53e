package driver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Outcome is all that is to be seen of one call from outside.
type Outcome struct {
	ExitCode int // -1: ended by a signal, or never started
	Stdout   []byte
	Stderr   []byte
	Wall     time.Duration
	CPU      time.Duration // user and system
	Memory   int64         // peak in bytes, 0 if it was not measured

	Response Response
	Invalid  error // why Stdout is not exactly one valid response
}

// Response of a CPI.
type Response struct {
	Result json.RawMessage // as sent; "null" with an error
	Error  *Error
	Log    string
}

// Error in a response.
type Error struct {
	Type      string
	Message   string
	OKToRetry bool
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s (ok_to_retry %t): %s", e.Type, e.OKToRetry, e.Message)
}

// Err is nil if the call succeeded in every respect. Otherwise it tells what
// an operator would have to know.
func (o Outcome) Err() error {
	switch {
	case o.Invalid != nil:
		return fmt.Errorf("the CPI's answer is not one: %w\nstdout: %.2000s\nstderr: %.4000s", o.Invalid, o.Stdout, o.Stderr)
	case o.ExitCode != 0:
		return fmt.Errorf("the CPI answered, and exited with %d\nstderr: %.4000s", o.ExitCode, o.Stderr)
	case o.Response.Error != nil:
		return o.Response.Error
	}
	return nil
}

// ErrorType is the type of the response's error, "" without one.
func (o Outcome) ErrorType() string {
	if o.Response.Error == nil {
		return ""
	}
	return o.Response.Error.Type
}

// Decode puts the result into a variable.
func (o Outcome) Decode(into any) error {
	if err := o.Err(); err != nil {
		return err
	}
	if err := json.Unmarshal(o.Response.Result, into); err != nil {
		return fmt.Errorf("the result %s: %w", o.Response.Result, err)
	}
	return nil
}

// Text is a result that is a string, "" if it is none.
func (o Outcome) Text() string {
	var text string
	if o.Decode(&text) != nil {
		return ""
	}
	return text
}

// VM is the vm cid of a create_vm result of any API version.
func (o Outcome) VM() string {
	var pair []json.RawMessage
	if o.Decode(&pair) != nil || len(pair) == 0 {
		return o.Text()
	}
	var cid string
	_ = json.Unmarshal(pair[0], &cid) // "" tells it
	return cid
}

// Parse reads what a CPI wrote to stdout, and insists on every detail: one
// line with its end, nothing else; exactly the keys result, error and log;
// error null or exactly type, message and ok_to_retry; no result with an error.
func Parse(stdout []byte) (Response, error) {
	var response Response
	line, rest, ended := bytes.Cut(stdout, []byte("\n"))
	switch {
	case len(stdout) == 0:
		return response, errors.New("stdout is empty")
	case !ended:
		return response, errors.New("stdout does not end with a newline")
	case len(rest) > 0:
		return response, fmt.Errorf("stdout goes on after its first line: %.200q", rest)
	}
	keys, err := object(line, "error", "log", "result")
	if err != nil {
		return response, err
	}
	if response.Log, err = decodeAs[string](keys, "log"); err != nil {
		return response, err
	}
	response.Result = keys["result"]
	if isNull(keys["error"]) {
		return response, nil
	}
	if response.Error, err = parseError(keys["error"]); err != nil {
		return response, err
	}
	if !isNull(response.Result) {
		return response, fmt.Errorf("there is a result beside the error: %s", response.Result)
	}
	return response, nil
}

func parseError(text json.RawMessage) (*Error, error) {
	keys, err := object(text, "message", "ok_to_retry", "type")
	if err != nil {
		return nil, fmt.Errorf("error: %w", err)
	}
	var failure Error
	var failed [3]error
	failure.Type, failed[0] = decodeAs[string](keys, "type")
	failure.Message, failed[1] = decodeAs[string](keys, "message")
	failure.OKToRetry, failed[2] = decodeAs[bool](keys, "ok_to_retry")
	if err := errors.Join(failed[:]...); err != nil {
		return nil, err
	}
	if failure.Type == "" || failure.Message == "" {
		return nil, errors.New("error: an empty type or message")
	}
	return &failure, nil
}

// object reads a JSON object that has these keys, each once.
func object(text []byte, expected ...string) (map[string]json.RawMessage, error) {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(text, &keys); err != nil {
		return nil, fmt.Errorf("not a JSON object: %w", err)
	}
	got := slices.Sorted(maps.Keys(keys))
	if !slices.Equal(got, expected) {
		return nil, fmt.Errorf("the keys are %s, not %s", strings.Join(got, ", "), strings.Join(expected, ", "))
	}
	return keys, nil
}

func decodeAs[T any](keys map[string]json.RawMessage, key string) (T, error) {
	var value *T
	if err := json.Unmarshal(keys[key], &value); err != nil {
		return *new(T), fmt.Errorf("%s: %w", key, err)
	}
	if value == nil {
		return *new(T), fmt.Errorf("%s is null", key)
	}
	return *value, nil
}

func isNull(text json.RawMessage) bool { return string(bytes.TrimSpace(text)) == "null" }
