package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"bosh-aws-cpi/integration/driver"
)

// compileLimit is how long the CPI may take to "compile".
const compileLimit = 5

// checkFirst looks at what an operator's and a Director's machine have got.
func (e *environment) checkFirst(result ran) error {
	seconds, err := compileSeconds(result.output)
	if err != nil {
		return err
	}
	fmt.Printf("      the CLI compiled the CPI in %d s\n", seconds)
	if seconds >= compileLimit {
		return fmt.Errorf("compiling the CPI took %d s", seconds)
	}
	return errors.Join(e.checkOperator(), e.checkDirector())
}

// checkOperator: the CLI removes the rendered configuration when it has done its
// work, so that no secret stays in its home.
func (e *environment) checkOperator() error {
	return filepath.WalkDir(e.cli.home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if err == nil && bytes.Contains(content, []byte(driver.SecretKey)) {
			err = fmt.Errorf("%s holds the secret access key", path)
		}
		return err
	})
}

// checkDirector runs the CPI that the agent has put onto the Director's VM.
func (e *environment) checkDirector() error {
	root := filepath.Join(e.host.only(), "vcap")
	if err := hasMode(filepath.Join(root, "jobs/aws_cpi/config/cpi.json"), 0o640); err != nil {
		return err
	}
	if err := hasMode(filepath.Join(root, "jobs/aws_cpi/bin/cpi"), 0o750); err != nil {
		return err
	}
	cpi := exec.Command(filepath.Join(root, "jobs/aws_cpi/bin/cpi"))
	cpi.Stdin = strings.NewReader(`{"method":"has_vm","arguments":["i-00000000000000000"],"context":{"director_uuid":"d"},"api_version":2}`)
	cpi.Env = []string{"PATH=" + os.Getenv("PATH"), "BOSH_JOBS_DIR=" + root + "/jobs", "BOSH_PACKAGES_DIR=" + root + "/packages"}
	var stderr bytes.Buffer
	cpi.Stderr = &stderr
	out, err := cpi.Output()
	if err != nil || !strings.HasPrefix(string(out), `{"result":false,`) {
		return fmt.Errorf("the CPI on the Director's VM: %s %w\n%s", out, err, &stderr)
	}
	return nil
}

// checkUpdated finds the changed property on the Director's VM.
func (e *environment) checkUpdated(ran) error {
	content, err := os.ReadFile(filepath.Join(e.host.only(), "vcap/jobs/aws_cpi/config/cpi.json"))
	if err == nil && !strings.Contains(string(content), `"max_retries": 4`) {
		err = fmt.Errorf("the changed property is not in the Director's cpi.json")
	}
	return err
}

func hasMode(path string, mode fs.FileMode) error {
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm() != mode {
		err = fmt.Errorf("%s has mode %s, not %s", path, info.Mode().Perm(), mode)
	}
	return err
}
