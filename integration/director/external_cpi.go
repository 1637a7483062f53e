// Package director calls the release's bin/cpi as the BOSH Director does, and
// believes of its answers what the Director believes: see Invoke.
package director

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"

	"bosh-aws-cpi/integration/driver"
)

// knownErrors are the types of errors that the Director has classes for.
var knownErrors = []string{
	"Bosh::Clouds::CpiError", "Bosh::Clouds::NotSupported", "Bosh::Clouds::NotImplemented", "Bosh::Clouds::CloudError",
	"Bosh::Clouds::VMNotFound", "Bosh::Clouds::NetworkNotFound", "Bosh::Clouds::NoDiskSpace",
	"Bosh::Clouds::DiskNotAttached", "Bosh::Clouds::DiskNotFound", "Bosh::Clouds::VMCreationFailed",
}

// ExternalCPI is the CPI of one Director, or of one entry of its CPI config.
type ExternalCPI struct {
	Command    []string // how bin/cpi is started on the Director's VM
	UUID       string   // the Director's
	APIVersion int      // which info offered; 0 asks without
	Stemcell   int      // API version of the VM's stemcell; 0 is not sent
	Properties map[string]any
}

// UnknownError is a type that the Director has no class for: an operator sees
// "Unknown CPI error".
type UnknownError struct{ Response *driver.Error }

func (e UnknownError) Error() string { return "unknown CPI error: " + e.Response.Error() }

// InvalidResponse is an answer outside the schema.
type InvalidResponse struct{ error }

// Invoke makes one call. The process gets three variables and a request; the
// properties of a CPI config lie beside the Director's own keys in the context.
func (c ExternalCPI) Invoke(ctx context.Context, method string, arguments ...any) (json.RawMessage, error) {
	if arguments == nil {
		arguments = []any{}
	}
	context := map[string]any{"director_uuid": c.UUID, "request_id": fmt.Sprintf("cpi-%d", 100000+rand.IntN(900000))}
	if c.Stemcell > 0 {
		context["vm"] = map[string]any{"stemcell": map[string]any{"api_version": c.Stemcell}}
	}
	maps.Copy(context, c.Properties)
	request := map[string]any{"method": method, "arguments": arguments, "context": context}
	if c.APIVersion > 0 {
		request["api_version"] = c.APIVersion
	}
	text, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	return c.send(ctx, text)
}

// send is Invoke with any bytes for a request.
func (c ExternalCPI) send(ctx context.Context, request []byte) (json.RawMessage, error) {
	process := exec.CommandContext(ctx, c.Command[0], c.Command[1:]...)
	process.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "TMPDIR=" + os.TempDir(), "HOME=" + os.Getenv("HOME")}
	process.Stdin = bytes.NewReader(request)
	var stdout, stderr bytes.Buffer
	process.Stdout, process.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := process.Run(); err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	// The Director does not look at the exit status, only at this.
	response, err := driver.Parse(stdout.Bytes())
	switch {
	case err != nil:
		return nil, InvalidResponse{fmt.Errorf("%w\nstderr: %.4000s", err, &stderr)}
	case response.Error == nil:
		return response.Result, nil
	case !slices.Contains(knownErrors, response.Error.Type):
		return nil, UnknownError{response.Error}
	}
	return nil, response.Error
}
