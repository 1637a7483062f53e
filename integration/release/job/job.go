// Package job renders the release's job aws_cpi and installs it, with the bosh
// CLI's own renderer, so that tests see what operators get.
package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Name is the job's.
const Name = "aws_cpi"

// Job is the release's job, as it stands in the checkout.
type Job struct {
	Templates  map[string]string   `json:"templates"` // file in templates/: where it is rendered to
	Properties map[string]Property `json:"properties"`

	dir      string
	renderer string
}

// Property is one of the job's spec.
type Property struct {
	Description string `json:"description"`
	Default     any    `json:"default"`
	Example     any    `json:"example"`
}

// Load reads the job's spec.
func Load(ctx context.Context) (*Job, error) {
	root, err := checkout()
	if err != nil {
		return nil, err
	}
	job := &Job{dir: filepath.Join(root, "release", "jobs", Name)}
	spec, err := ruby(ctx, "-ryaml", "-rjson", "-e", "puts JSON.generate(YAML.load_file(ARGV[0]))", filepath.Join(job.dir, "spec"))
	if err != nil {
		return nil, fmt.Errorf("reading the job's spec: %w", err)
	}
	if err := json.Unmarshal(spec, job); err != nil {
		return nil, fmt.Errorf("reading the job's spec: %w", err)
	}
	job.renderer, err = readRenderer(ctx, root)
	return job, err
}

// checkout is the directory above us that holds go.mod.
func checkout() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod above the working directory")
		}
	}
}

// ruby runs the interpreter that the CLI would find, and returns what it prints.
func ruby(ctx context.Context, arguments ...string) ([]byte, error) {
	out, err := exec.CommandContext(ctx, "ruby", arguments...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("ruby: %w\n%s", err, exit.Stderr)
	}
	return out, err
}
