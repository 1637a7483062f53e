package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// linked is a package that is linked into an executable, as go list tells it.
type linked struct {
	ImportPath string
	Dir        string
	Standard   bool
	Module     *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// collectLicenses copies the licences and notices of all that is linked in, from
// each package's folder up to its module's: some modules hold code of others.
func collectLicenses(ctx context.Context, root, dir string) error {
	modules := map[string]bool{}
	for _, platform := range platforms {
		packages, err := listLinked(ctx, root, platform)
		if err != nil {
			return err
		}
		for _, each := range packages {
			if each.Standard || each.Module == nil || each.Module.Main {
				continue
			}
			name := each.Module.Path + "@" + each.Module.Version
			found, err := copyLicenses(each.Dir, each.Module.Dir, filepath.Join(dir, name))
			if err != nil {
				return err
			}
			modules[name] = modules[name] || found > 0
		}
	}
	for name, licensed := range modules {
		if !licensed {
			return fmt.Errorf("%s is linked in and has no licence", name)
		}
	}
	fmt.Printf("\nlicences of %d modules and of Go\n", len(modules))
	return copyGoLicense(ctx, dir)
}

func listLinked(ctx context.Context, root string, platform platform) ([]linked, error) {
	list := exec.CommandContext(ctx, "go", "list", "-deps", "-json=ImportPath,Dir,Standard,Module", "./cmd/aws_cpi")
	list.Dir, list.Env, list.Stderr = root, platform.environment(), os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var packages []linked
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var each linked
		if err := decoder.Decode(&each); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		packages = append(packages, each)
	}
}

func copyGoLicense(ctx context.Context, dir string) error {
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	from := strings.TrimSpace(string(goroot))
	found, err := copyLicenses(from, from, filepath.Join(dir, runtime.Version()))
	if err == nil && found == 0 {
		return fmt.Errorf("the licence of Go is not in %s", from)
	}
	return err
}

// copyLicenses looks in dir and the folders above it, up to top, and returns how
// many files it found.
func copyLicenses(dir, top, target string) (int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	below, err := filepath.Rel(top, dir)
	if err != nil || strings.HasPrefix(below, "..") {
		return 0, fmt.Errorf("%s is not in %s", dir, top)
	}
	found := 0
	for _, entry := range entries {
		if entry.IsDir() || !isLicense(entry.Name()) {
			continue
		}
		found++
		if err := copyFile(filepath.Join(dir, entry.Name()), filepath.Join(target, below, entry.Name())); err != nil {
			return found, err
		}
	}
	if dir == top {
		return found, nil
	}
	above, err := copyLicenses(filepath.Dir(dir), top, target)
	return found + above, err
}

func isLicense(file string) bool {
	file = strings.ToUpper(file)
	for _, start := range []string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "PATENTS"} {
		if strings.HasPrefix(file, start) && !strings.HasSuffix(file, ".GO") {
			return true
		}
	}
	return false
}
