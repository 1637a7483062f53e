package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// platform is where an executable runs; packages/aws_cpi/packaging finds it by
// these names.
type platform struct{ system, machine string }

// platforms are those of Director VMs and of the machines that run create-env.
var platforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"},
	{"darwin", "amd64"}, {"darwin", "arm64"},
}

// environment makes the go command work for the platform, without cgo: a static
// executable runs on every stemcell.
func (p platform) environment() []string {
	return append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.system, "GOARCH="+p.machine)
}

// buildExecutables returns a line for each executable, as sha256sum prints it.
// The same commit gives the same bytes with the same Go, in whatever folder:
// neither paths nor build ids nor the state of the checkout go into them.
func buildExecutables(ctx context.Context, root, dir, version string) ([]string, error) {
	var sums []string
	for _, platform := range platforms {
		file := "aws_cpi-" + platform.system + "-" + platform.machine
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false",
			"-ldflags", "-s -w -buildid= -X main.version="+version,
			"-o", filepath.Join(dir, file), "./cmd/aws_cpi")
		build.Dir, build.Env, build.Stdout, build.Stderr = root, platform.environment(), os.Stderr, os.Stderr
		if err := build.Run(); err != nil {
			return nil, fmt.Errorf("building %s: %w", file, err)
		}
		content, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return nil, err
		}
		sums = append(sums, fmt.Sprintf("%x  bin/%s", sha256.Sum256(content), file))
		fmt.Printf("%s  %.1f MB\n", sums[len(sums)-1], megabytes(int64(len(content))))
	}
	return sums, nil
}

func megabytes(bytes int64) float64 { return float64(bytes) / 1e6 }
