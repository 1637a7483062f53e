package job

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Install lays out below root what an agent lays out below /var/vcap: the rendered
// job with the agent's file modes, and the package with the executable. It returns
// the rendered files by the paths of the spec.
func (j *Job) Install(ctx context.Context, root, executable string, properties map[string]any) (map[string]string, error) {
	dir := filepath.Join(root, "jobs", Name)
	rendered, err := j.Render(ctx, properties, dir)
	if err != nil {
		return nil, err
	}
	if err := setModes(dir); err != nil {
		return nil, err
	}
	content, err := os.ReadFile(executable)
	if err != nil {
		return nil, err
	}
	bin := filepath.Join(root, "packages", Name, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return nil, err
	}
	return rendered, os.WriteFile(filepath.Join(bin, Name), content, 0o755)
}

// setModes sets the modes that the agent gives to rendered files.
func setModes(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o640)
		if entry.IsDir() || strings.HasPrefix(path, filepath.Join(dir, "bin")+string(filepath.Separator)) {
			mode = 0o750
		}
		return os.Chmod(path, mode)
	})
}

// Environment makes bin/cpi look below root instead of /var/vcap, as the CLI does.
func Environment(root string) []string {
	return []string{
		"BOSH_PACKAGES_DIR=" + filepath.Join(root, "packages"), "BOSH_JOBS_DIR=" + filepath.Join(root, "jobs"),
	}
}

// Script is the path of bin/cpi below root.
func Script(root string) string { return filepath.Join(root, "jobs", Name, "bin", "cpi") }
