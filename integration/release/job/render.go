package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// cliModule is where the CLI's renderer is; its version is in .ci/bosh-tools.
const cliModule = "github.com/cloudfoundry/bosh-cli/v7"

// readRenderer takes the CLI's renderer, a Ruby program in a Go constant, from
// the CLI's source.
func readRenderer(ctx context.Context, root string) (string, error) {
	download := exec.CommandContext(ctx, "go", "mod", "download", "-json", cliModule)
	download.Dir = filepath.Join(root, ".ci", "bosh-tools")
	out, err := download.Output()
	if err != nil {
		return "", fmt.Errorf("downloading the bosh CLI's source: %w", err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		return "", fmt.Errorf("downloading the bosh CLI's source: %w", err)
	}
	path := filepath.Join(module.Dir, "templatescompiler", "erbrenderer", "template_evaluation_context_rb.go")
	source, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return "", fmt.Errorf("the bosh CLI's renderer: %w", err)
	}
	program := ""
	ast.Inspect(source, func(node ast.Node) bool {
		if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			program, err = strconv.Unquote(literal.Value)
		}
		return err == nil
	})
	if err == nil && program == "" {
		err = errors.New("there is no program in it")
	}
	return program, err
}

// Render renders all templates into a folder, with the properties of a manifest
// in nested form, and returns the rendered files by the paths of the spec.
func (j *Job) Render(ctx context.Context, properties map[string]any, dir string) (map[string]string, error) {
	scratch, err := os.MkdirTemp("", "render-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	program, facts := filepath.Join(scratch, "render.rb"), filepath.Join(scratch, "context.json")
	if err := os.WriteFile(program, []byte(j.renderer), 0o600); err != nil {
		return nil, err
	}
	if err := j.writeContext(facts, properties); err != nil {
		return nil, err
	}
	rendered := map[string]string{}
	for template, to := range j.Templates {
		path := filepath.Join(dir, to)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		if _, err := ruby(ctx, program, facts, filepath.Join(j.dir, "templates", template), path); err != nil {
			return nil, err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		rendered[to] = string(content)
	}
	return rendered, nil
}

// writeContext writes what the CLI tells its renderer.
func (j *Job) writeContext(path string, properties map[string]any) error {
	defaults := map[string]any{}
	for name, property := range j.Properties {
		defaults[name] = property.Default
	}
	context, err := json.Marshal(map[string]any{
		"index": 0, "id": "0", "az": "unknown", "bootstrap": true, "deployment": "bosh",
		"job": map[string]any{"name": Name}, "networks": map[string]any{"default": map[string]any{"ip": ""}},
		"global_properties": map[string]any{}, "cluster_properties": map[string]any{},
		"job_properties": properties, "default_properties": defaults,
	})
	if err != nil {
		return err
	}
	return os.WriteFile(path, context, 0o600)
}

// Nest makes the nested form of properties from their dotted names.
func Nest(properties map[string]any) map[string]any {
	nested := map[string]any{}
	for name, value := range properties {
		keys := strings.Split(name, ".")
		into := nested
		for _, key := range keys[:len(keys)-1] {
			if _, ok := into[key].(map[string]any); !ok {
				into[key] = map[string]any{}
			}
			into = into[key].(map[string]any)
		}
		into[keys[len(keys)-1]] = value
	}
	return nested
}
