package cpi

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	boshlog "github.com/cloudfoundry/bosh-utils/logger"
)

// Load reads the configuration and returns the CPI it makes, and the level of
// detail of the log.
type Load func() (API, boshlog.LogLevel, error)

// response is the wire form of every answer: all three keys, always.
type response struct {
	Result any        `json:"result"`
	Error  *wireError `json:"error"`
	Log    string     `json:"log"`
}

type wireError struct {
	Type      ErrorType `json:"type"`
	Message   string    `json:"message"`
	OKToRetry bool      `json:"ok_to_retry"`
}

// Serve answers one request: it reads stdin to its end and writes one line of
// JSON to stdout, whatever happens. When ctx ends, the running method undoes
// what it made and the answer is an error; the cause of ctx tells why. The
// error that it returns says that stdout could not be written.
func Serve(ctx context.Context, load Load, stdin io.Reader, stdout, stderr io.Writer) error {
	started := time.Now()
	call := &Call{Method: "request", RequestID: NewRequestID()}
	call.Logger = boshlog.NewWriterLogger(boshlog.LevelInfo, stderr)
	call.Tag = call.RequestID
	result, err := serve(ctx, load, stdin, stderr, call)
	answer := response{Result: result, Log: closing(call, err, started)}
	if err != nil {
		typed := asError(err)
		answer.Result = nil
		answer.Error = &wireError{typed.Type, typed.Message, typed.OKToRetry}
		call.Logger.Error(call.Tag, "%s: %s", typed.Type, strings.Join(causes(err), " <- "))
	}
	call.Logger.Info(call.Tag, "%s", firstLine(answer.Log))
	return write(stdout, answer)
}

// serve finds and runs the method. A panic anywhere below becomes an error.
func serve(ctx context.Context, load Load, stdin io.Reader, stderr io.Writer, call *Call) (result any, err error) {
	defer func() {
		if failure := recover(); failure != nil {
			call.Logger.Error(call.Tag, "panic: %v\n%s", failure, debug.Stack())
			result, err = nil, Errorf(CpiError, "the CPI failed by a fault of its own: %v; please report it with the task's debug log", failure)
		}
	}()
	api, level, loadErr := load()
	call.Logger = boshlog.NewWriterLogger(level, stderr)
	request, err := read(ctx, stdin)
	if err != nil {
		return nil, err
	}
	describeCall(call, request)
	if loadErr != nil {
		return nil, loadErr
	}
	call.APIVersion = api.serving(request.APIVersion)
	method, err := api.method(request.Method)
	if err != nil {
		return nil, err
	}
	call.Logger.Debug(call.Tag, "API version %d, stemcell API version %d", call.APIVersion, call.Context.StemcellAPIVersion)
	result, err = method.call(ctx, call, request.Arguments)
	if err != nil {
		return nil, interrupted(ctx, err)
	}
	return api.convert(request.Method, call.APIVersion, result), nil
}

// interrupted names the signal in an error that it caused.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	typed := *asError(err)
	if errors.Is(err, context.Canceled) && typed.Type == CpiError {
		typed.Type = CloudError
	}
	typed.Message = fmt.Sprintf("%s: %s", context.Cause(ctx), typed.Message)
	typed.Cause = err
	return &typed
}

func describeCall(call *Call, request Request) {
	call.Method = abbreviate(request.Method)
	call.Context = request.Context
	if request.Context.RequestID != "" {
		call.RequestID = request.Context.RequestID
	}
	call.Tag = fmt.Sprintf("%s %s", call.Method, call.RequestID)
}

// read waits for the request, or for a signal: a caller that never closes
// stdin must not make the process unstoppable.
func read(ctx context.Context, stdin io.Reader) (Request, error) {
	type outcome struct {
		request Request
		err     error
	}
	done := make(chan outcome, 1)
	go func() {
		request, err := readRequest(stdin)
		done <- outcome{request, err}
	}()
	select {
	case got := <-done:
		return got.request, got.err
	case <-ctx.Done():
		return Request{}, Errorf(CloudError, "%w while waiting for a request on stdin", context.Cause(ctx))
	}
}

// write sends the answer in one piece. What has no JSON form is a fault of the
// method, and is answered as such.
func write(stdout io.Writer, answer response) error {
	line, err := json.Marshal(answer)
	if err != nil {
		answer.Error = &wireError{Type: CpiError, Message: fmt.Sprintf("the result has no JSON form: %v", err)}
		answer.Result = nil
		if line, err = json.Marshal(answer); err != nil {
			return err
		}
	}
	_, err = stdout.Write(append(line, '\n'))
	return err
}

// closing is the `log` of the response: one line that sums the call up and, on
// failure, the chain of its causes. Everything else went to stderr once; the
// Director stores both.
func closing(call *Call, err error, started time.Time) string {
	outcome := "done"
	if err != nil {
		outcome = "failed"
	}
	summary := fmt.Sprintf("%s %s: %s in %.2f s", call.Method, call.RequestID, outcome, time.Since(started).Seconds())
	if call.Figures != nil {
		summary += ", " + call.Figures()
	}
	if err == nil {
		return summary
	}
	return summary + "\n" + strings.Join(causes(err), "\n  caused by: ")
}

// causes lists the messages of an error's chain, outermost first. An error that
// only repeats the one around it is left out.
func causes(err error) []string {
	var chain []string
	for ; err != nil; err = errors.Unwrap(err) {
		message := err.Error()
		if len(chain) == 0 || !strings.Contains(chain[len(chain)-1], message) {
			chain = append(chain, message)
		}
	}
	return chain
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// abbreviate keeps a name that a stranger chose from filling the log.
func abbreviate(name string) string {
	const most = 64
	if runes := []rune(name); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return name
}

// NewRequestID makes an id for a call whose caller sent none: the CLI does not.
func NewRequestID() string {
	return "cpi-" + strings.ToLower(rand.Text()[:12])
}
