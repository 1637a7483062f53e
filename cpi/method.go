package cpi

import (
	"context"
	"encoding/json"
	"reflect"

	boshlog "github.com/cloudfoundry/bosh-utils/logger"
)

// Call is what a method learns about the request beside its arguments.
type Call struct {
	Method string
	// APIVersion is the one that serves the call, at most the newest there is.
	APIVersion int
	Context    Context
	// RequestID is the caller's, or one made for this process when the caller
	// sent none.
	RequestID string
	// Logger writes to stderr; Tag goes first in every line, so that each line
	// carries the request id.
	Logger boshlog.Logger
	Tag    string
	// Figures, when a method sets it, adds what the call did to the closing
	// line of the log ("3 calls, 0 throttled, ...").
	Figures func() string
}

// Method is one line of a CPI's method table.
type Method struct {
	name string
	call func(context.Context, *Call, []json.RawMessage) (any, error)
}

// NewMethod makes a line of the method table. A is the struct of the method's
// arguments: its fields in order are the positions of the request, named by
// their tags, `cpi:"vm_cid"`; see parameters.
func NewMethod[A any](name string, run func(context.Context, *Call, A) (any, error)) Method {
	parameters(reflect.TypeFor[A]())
	return Method{name, func(ctx context.Context, call *Call, sent []json.RawMessage) (any, error) {
		arguments, err := decodeArguments[A](name, call.APIVersion, sent)
		if err != nil {
			return nil, err
		}
		return run(ctx, call, arguments)
	}}
}

// Version is one released version of the API: how its results differ from the
// next newer version's. A released version never changes; a new one is a new
// element of API.Versions. Arguments that came later carry `since=N` in the
// method's arguments struct.
type Version struct {
	Number int
	// Results turns a method's result of the next newer version into this
	// version's. A method that is not in it has the same result.
	Results map[string]func(newer any) any
}

// API is a CPI: its methods and the versions it serves, oldest first.
type API struct {
	Methods  []Method
	Versions []Version
}

// serving returns the number of the version that serves a request: a version
// newer than all is served as the newest.
func (a API) serving(requested int) int {
	return min(requested, a.Versions[len(a.Versions)-1].Number)
}

// convert takes a result from the newest version back to the given one.
func (a API) convert(method string, version int, result any) any {
	for i := len(a.Versions) - 1; i >= 0 && a.Versions[i].Number >= version; i-- {
		if older, differs := a.Versions[i].Results[method]; differs {
			result = older(result)
		}
	}
	return result
}

func (a API) method(name string) (Method, error) {
	for _, method := range a.Methods {
		if method.name == name {
			return method, nil
		}
	}
	return Method{}, Errorf(NotImplemented, "Method is not known, got: '%s'", abbreviate(name))
}
