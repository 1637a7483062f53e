package hostile_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/heavyimage"
)

// within returns the caller with the executable started by a shell script that
// makes the surroundings and ends with the words `exec "$cpi" "$1"`, to which a
// redirection may be added.
func within(cpi driver.CPI, script string) driver.CPI {
	GinkgoHelper()
	path := filepath.Join(GinkgoT().TempDir(), "aws_cpi")
	text := fmt.Sprintf("#!/bin/sh\ncpi='%s'\n%s\n", cpi.Path, script)
	Expect(os.WriteFile(path, []byte(text), 0o700)).To(Succeed())
	cpi.Path = path
	return cpi
}

const run = `exec "$cpi" "$1"`

// heavyStemcell writes a small heavy stemcell and returns create_stemcell's
// arguments for it: the one method that works on a large file.
func heavyStemcell() []any {
	GinkgoHelper()
	path := filepath.Join(GinkgoT().TempDir(), "image")
	Expect(heavyimage.Spec{Bytes: 4 << 20}.Write(path)).To(Succeed())
	return []any{path, map[string]any{
		"name": "bosh-aws", "version": "1.1", "disk": 1024, "architecture": "x86_64",
		"virtualization_type": "hvm", "root_device_name": "/dev/xvda",
	}}
}

var _ = Describe("A process", func() {
	// all are the calls that would need a place to write, if any did.
	all := func(ctx SpecContext, what string, cpi driver.CPI) {
		GinkgoHelper()
		succeeds(what+": create_vm", cpi.Call(ctx, "create_vm", vmArguments(nil, nil)...))
		succeeds(what+": create_stemcell, heavy", cpi.Call(ctx, "create_stemcell", heavyStemcell()...))
	}

	It("needs no TMPDIR and no HOME", func(ctx SpecContext) {
		all(ctx, "neither TMPDIR nor HOME set", within(director(), "unset TMPDIR HOME\n"+run))
	}, SpecTimeout(specLimit))

	It("needs no directory to be there", func(ctx SpecContext) {
		gone := filepath.Join(scratch, "gone")
		cpi := within(director(), fmt.Sprintf("mkdir '%s' && cd '%s' && rmdir '%s' || exit 99\n%s", gone, gone, gone, run))
		cpi.Env = []string{"TMPDIR=" + gone, "HOME=" + gone}
		all(ctx, "TMPDIR, HOME and working directory gone", cpi)
	}, SpecTimeout(specLimit))

	It("needs no environment at all", func(ctx SpecContext) {
		succeeds("an empty environment", within(director(), `exec env -i "$cpi" "$1"`).Call(ctx, "create_vm", vmArguments(nil, nil)...))
	}, SpecTimeout(specLimit))

	It("writes nothing to the disk", func(ctx SpecContext) {
		// In a mount namespace of its own, so that it holds for root, too.
		script := `mount --make-rprivate / && mount -t tmpfs -o ro none "$2" && mount -o remount,bind,ro / || exit 98
cd "$2"; export TMPDIR="$2" HOME="$2"
(: > "$2/x") 2>/dev/null && exit 97; (: > "${0%/*}/x") 2>/dev/null && exit 97
` + run
		if exec.Command("unshare", "-m", "mount", "--make-rprivate", "/").Run() != nil {
			Skip("needs a mount namespace: Linux, and root")
		}
		outer := fmt.Sprintf(`exec unshare -m "$cpi" "$1" '%s'`, GinkgoT().TempDir())
		all(ctx, "every disk read-only", within(within(director(), script), outer))
	}, SpecTimeout(specLimit))

	It("does its work although nobody can read the log", func(ctx SpecContext) {
		succeeds("stderr closed", within(director(), run+" 2>&-").Call(ctx, "create_vm", vmArguments(nil, nil)...))
	}, SpecTimeout(specLimit))

	It("does its work although the reader of the log has gone", func(ctx SpecContext) {
		succeeds("stderr a pipe without a reader", within(director(), unread("2")).Call(ctx, "create_vm", vmArguments(nil, nil)...))
	}, SpecTimeout(specLimit))

	It("does its work although the disk of the log is full", func(ctx SpecContext) {
		needFull()
		succeeds("the disk of the log full", within(director(), run+" 2>/dev/full").Call(ctx, "create_vm", vmArguments(nil, nil)...))
	}, SpecTimeout(specLimit))

	// Without stdout there is no answer. What was made is told on stderr.
	unheard := func(what string, outcome driver.Outcome) {
		GinkgoHelper()
		note(what, fmt.Sprintf("(no answer can be given) exit code %d; stderr ends: %s", outcome.ExitCode, lastLine(outcome.Stderr)), outcome)
		Expect(outcome.Stdout).To(BeEmpty())
		Expect(string(outcome.Stderr)).To(MatchRegexp(`vol-[0-9a-f]+`))
	}
	unwritten := func(what string, outcome driver.Outcome) {
		GinkgoHelper()
		unheard(what, outcome)
		Expect(string(outcome.Stderr)).To(ContainSubstring("cannot be written to stdout"))
		Expect(outcome.ExitCode).To(Equal(1))
	}

	It("tells on stderr that nobody reads its answer", func(ctx SpecContext) {
		unwritten("stdout a pipe without a reader", within(director(), unread("1")).Call(ctx, "create_disk", 1024, map[string]any{}))
	}, SpecTimeout(specLimit))

	It("tells on stderr that its answer finds no room", func(ctx SpecContext) {
		needFull()
		unwritten("the disk of stdout full", within(director(), run+" >/dev/full").Call(ctx, "create_disk", 1024, map[string]any{}))
	}, SpecTimeout(specLimit))

	// Go opens /dev/null in its place, so that no file of the process becomes its
	// stdout: it cannot tell.
	It("tells on stderr what it made when stdout is closed", func(ctx SpecContext) {
		unheard("stdout closed", within(director(), run+" >&-").Call(ctx, "create_disk", 1024, map[string]any{}))
	}, SpecTimeout(specLimit))

	It("takes a closed stdin for an empty one", func(ctx SpecContext) {
		refuses("stdin closed", within(director(), run+" <&-").Call(ctx, "info"), invalidCall, "empty", "stdin")
	}, SpecTimeout(specLimit))

	It("does not read an endless stdin to its end", func(ctx SpecContext) {
		refuses("stdin without end", within(director(), run+" </dev/zero").Call(ctx, "info"), invalidCall, "16 MiB")
	}, SpecTimeout(specLimit))
})

// unread runs the executable with one of its streams a pipe whose reader has
// gone: a FIFO that is opened by both ends, and then by one.
func unread(stream string) string {
	return `mkfifo "$0.pipe" && exec 3<>"$0.pipe" ` + stream + `>"$0.pipe" 3<&- || exit 98` + "\n" + run
}

func needFull() {
	GinkgoHelper()
	if _, err := os.Stat("/dev/full"); err != nil {
		Skip("needs /dev/full")
	}
}
