package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
)

// source says what a release is built from.
type source struct {
	version, commit string
	modified        bool
}

// readSource asks git for the commit, and for the version when none is given. A
// file that git does not know is a change, too: it may be a part of a package.
func readSource(ctx context.Context, root, version string) (source, error) {
	commit, err := git(ctx, root, "rev-parse", "HEAD")
	if err != nil {
		return source{}, err
	}
	changes, err := git(ctx, root, "status", "--porcelain")
	if err != nil {
		return source{}, err
	}
	from := source{version: version, commit: commit, modified: changes != ""}
	if from.version == "" {
		from.version = defaultVersion(ctx, root, from)
	}
	return from, nil
}

func defaultVersion(ctx context.Context, root string, from source) string {
	tag, err := git(ctx, root, "describe", "--tags", "--exact-match")
	if err == nil && !from.modified {
		return strings.TrimPrefix(tag, "v")
	}
	version := "0.0.0-dev." + from.commit[:12]
	if from.modified {
		version += ".modified"
	}
	return version
}

// describe is the file SOURCE of the release.
func (s source) describe(sums []string) []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s %s\ncommit %s", name, s.version, s.commit)
	if s.modified {
		text.WriteString(" with uncommitted changes")
	}
	fmt.Fprintf(&text, "\n%s\n\n%s\n", runtime.Version(), strings.Join(sums, "\n"))
	return text.Bytes()
}

func git(ctx context.Context, root string, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", append([]string{"-C", root}, arguments...)...)
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(arguments, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
