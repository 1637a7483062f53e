package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// stageRelease lays out an empty release folder: what is in the checkout's, and
// no leftovers of an earlier build.
func stageRelease(root, dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	for _, folder := range []string{"jobs", "packages", "config"} {
		if err := os.CopyFS(filepath.Join(dir, folder), os.DirFS(filepath.Join(root, "release", folder))); err != nil {
			return err
		}
	}
	return copyFile(filepath.Join(root, "LICENSE"), filepath.Join(dir, "LICENSE"))
}

// pack makes the tarball and has the CLI read it again.
func pack(ctx context.Context, cli, dir, version, tarball string) error {
	if err := os.RemoveAll(tarball); err != nil {
		return err
	}
	// --force: the CLI takes the build's own files for changes.
	if _, err := bosh(ctx, cli, dir, "create-release", "--force", "--version", version, "--tarball", tarball); err != nil {
		return err
	}
	accepted, err := bosh(ctx, cli, dir, "--tty", "inspect-local-release", tarball)
	if err != nil {
		return err
	}
	fmt.Printf("\nbosh inspect-local-release:\n%s", accepted)
	// The CLI leaves it to its owner only.
	if err := os.Chmod(tarball, 0o644); err != nil {
		return err
	}
	info, err := os.Stat(tarball)
	if err != nil {
		return err
	}
	fmt.Printf("\n%s  %.1f MB\n", tarball, megabytes(info.Size()))
	return nil
}

// bosh runs the CLI with a home of its own, since it writes ~/.bosh on every call, and
// returns what it prints.
func bosh(ctx context.Context, cli, dir string, arguments ...string) ([]byte, error) {
	home, err := os.MkdirTemp("", "bosh-home-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(home)
	command := exec.CommandContext(ctx, cli, append([]string{"--non-interactive", "--no-color"}, arguments...)...)
	command.Dir = dir
	command.Env = append(os.Environ(), "HOME="+home)
	out, err := command.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("bosh %s: %w\n%s", strings.Join(arguments, " "), err, out)
	}
	return out, nil
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}
