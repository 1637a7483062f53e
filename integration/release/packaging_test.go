package release_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("the package", func() {
	// compile runs the packaging script as CLI and agent do, on a machine that says
	// of itself what uname prints, and returns the folder and what was printed.
	compile := func(ctx SpecContext, system, machine string) (string, string, error) {
		packaging, err := filepath.Abs("../../release/packages/aws_cpi/packaging")
		Expect(err).NotTo(HaveOccurred())
		dir := GinkgoT().TempDir()
		source, target, tools := filepath.Join(dir, "source"), filepath.Join(dir, "target"), filepath.Join(dir, "tools")
		files := map[string]string{
			filepath.Join(tools, "uname"):                       fmt.Sprintf("#!/bin/sh\ncase $1 in -s) echo %s ;; -m) echo %s ;; esac\n", system, machine),
			filepath.Join(source, "aws_cpi/SOURCE"):             "commit",
			filepath.Join(source, "aws_cpi/licenses/x/COPYING"): "licence",
		}
		for _, platform := range []string{"linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64"} {
			files[filepath.Join(source, "aws_cpi/bin/aws_cpi-"+platform)] = platform
		}
		for path, content := range files {
			Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
			Expect(os.WriteFile(path, []byte(content), 0o755)).To(Succeed())
		}
		command := exec.CommandContext(ctx, "bash", "-x", packaging)
		command.Dir = source
		command.Env = []string{"PATH=" + tools + ":" + os.Getenv("PATH"), "BOSH_INSTALL_TARGET=" + target}
		out, err := command.CombinedOutput()
		return target, string(out), err
	}

	DescribeTable("takes the executable of the platform",
		func(ctx SpecContext, system, machine, platform string) {
			target, out, err := compile(ctx, system, machine)
			Expect(err).NotTo(HaveOccurred(), out)
			content, err := os.ReadFile(filepath.Join(target, "bin/aws_cpi"))
			Expect(err).NotTo(HaveOccurred())
			Expect(string(content)).To(Equal(platform))
			Expect(filepath.Join(target, "SOURCE")).To(BeARegularFile())
			Expect(filepath.Join(target, "licenses/x/COPYING")).To(BeARegularFile())
		},
		Entry(nil, "Linux", "x86_64", "linux-amd64"),
		Entry(nil, "Linux", "aarch64", "linux-arm64"),
		Entry(nil, "Darwin", "x86_64", "darwin-amd64"),
		Entry(nil, "Darwin", "arm64", "darwin-arm64"),
	)

	DescribeTable("says what it does not run on",
		func(ctx SpecContext, system, machine string) {
			_, out, err := compile(ctx, system, machine)
			Expect(err).To(HaveOccurred())
			Expect(out).To(ContainSubstring("bosh-aws-cpi does not run on " + system + " " + machine))
			Expect(out).To(ContainSubstring("linux-arm64"))
		},
		Entry(nil, "Linux", "ppc64le"),
		Entry(nil, "SunOS", "x86_64"),
	)
})
