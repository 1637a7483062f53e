package director

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"bosh-aws-cpi/integration/release/job"
)

// Machine is a Director's VM, as far as the CPI sees it.
type Machine struct {
	Command []string // starts bin/cpi
	How     string   // for people
}

// vcap is the user that jobs run as under bpm: the agent gives rendered files to
// root and this group.
const vcap = 1000

// NewMachine installs the release's job and package for a Director. With exports,
// bin/cpi exports these variables, as an operator may add them.
//
// On Linux, as root, bin/cpi is run where a Director has it, below /var/vcap of a
// mount namespace of its own, by the user vcap. Elsewhere its /var/vcap is replaced
// by a folder.
func NewMachine(ctx context.Context, theJob *job.Job, dir, executable string, properties map[string]any, exports ...string) (Machine, error) {
	root := filepath.Join(dir, "vcap")
	if err := os.Mkdir(root, 0o755); err != nil {
		return Machine{}, err
	}
	if _, err := theJob.Install(ctx, root, executable, properties); err != nil {
		return Machine{}, err
	}
	if err := edit(job.Script(root), func(script string) string {
		for _, each := range exports {
			script = strings.Replace(script, "\npackages=", "\nexport "+each+"\npackages=", 1)
		}
		return script
	}); err != nil {
		return Machine{}, err
	}
	if command := inNamespace(root); command != nil {
		return Machine{command, "below /var/vcap, as user vcap"}, giveToVCAP(filepath.Join(root, "jobs"))
	}
	return Machine{[]string{job.Script(root)}, "below a folder instead of /var/vcap"}, edit(job.Script(root), func(script string) string {
		return strings.ReplaceAll(script, "/var/vcap", root)
	})
}

// inNamespace is the command that runs bin/cpi in a mount namespace where root is
// /var/vcap; nil where there is none to be had.
func inNamespace(root string) []string {
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		return nil
	}
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		return nil
	}
	prefix := []string{unshare, "--mount", "--propagation", "private", "/bin/sh", "-c",
		`mount -t tmpfs none /var && mkdir /var/vcap && mount --bind "$0" /var/vcap &&
		exec setpriv --reuid 1000 --regid 1000 --clear-groups "$@"`, root}
	if exec.Command(prefix[0], append(prefix[1:], "/bin/true")...).Run() != nil {
		return nil
	}
	return append(prefix, "/var/vcap/jobs/aws_cpi/bin/cpi")
}

func giveToVCAP(dir string) error {
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chown(path, 0, vcap))
	})
}

func edit(path string, change func(string) string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(change(string(content))), info.Mode())
}
