package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// vm is one instance that runs: a real bosh-agent on the dummy platform, with a
// folder of its own for a root, and its instance's metadata.
type vm struct {
	dir      string
	metadata *metadata
	agent    *exec.Cmd
	ended    chan struct{}
}

// startVM boots an instance.
func startVM(agent, dir, instance string, userData []byte) (*vm, error) {
	metadata, err := serveMetadata(instance, userData)
	if err != nil {
		return nil, err
	}
	v := &vm{dir: dir, metadata: metadata, ended: make(chan struct{})}
	if err := v.boot(agent); err != nil {
		metadata.close()
		return nil, fmt.Errorf("booting %s: %w", instance, err)
	}
	return v, nil
}

func (v *vm) boot(agent string) error {
	for _, folder := range []string{"vcap/bosh", "tmp", "home"} {
		if err := os.MkdirAll(filepath.Join(v.dir, folder), 0o755); err != nil {
			return err
		}
	}
	config := filepath.Join(v.dir, "agent.json")
	if err := writeJSON(config, agentConfig(v.metadata.URL)); err != nil {
		return err
	}
	network := map[string]any{"ip": "127.0.0.1", "netmask": "255.0.0.0", "gateway": "127.0.0.1"}
	if err := writeJSON(filepath.Join(v.dir, "vcap/bosh/dummy-default-network-settings.json"), network); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(v.dir, "agent.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	v.agent = exec.Command(agent, "-P", "dummy", "-M", "dummy", "-b", filepath.Join(v.dir, "vcap"), "-C", config)
	v.agent.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + filepath.Join(v.dir, "tmp"), "HOME=" + filepath.Join(v.dir, "home")}
	v.agent.Stdout, v.agent.Stderr = log, log
	v.agent.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := v.agent.Start(); err != nil {
		return err
	}
	go func() {
		_ = v.agent.Wait() // killed, which is how a VM ends
		close(v.ended)
	}()
	return nil
}

func agentConfig(metadata string) map[string]any {
	return map[string]any{
		"Platform": map[string]any{"Linux": map[string]any{
			"DevicePathResolutionType": "virtio", "CreatePartitionIfNoEphemeralDisk": true, "ServiceManager": "systemd",
		}},
		"Infrastructure": map[string]any{"Settings": map[string]any{"Sources": []any{map[string]any{
			"Type": "HTTP", "URI": metadata, "UserDataPath": "/latest/user-data", "InstanceIDPath": "/latest/meta-data/instance-id",
			"SSHKeysPath": "/latest/meta-data/public-keys/0/openssh-key", "TokenPath": "/latest/api/token",
		}}}},
	}
}

// kill ends the agent and what it has started, and says what outlives it.
func (v *vm) kill() error {
	v.metadata.close()
	group := -v.agent.Process.Pid
	_ = syscall.Kill(group, syscall.SIGKILL) // gone already is as good
	select {
	case <-v.ended:
	case <-time.After(10 * time.Second):
		return fmt.Errorf("agent %d does not end", -group)
	}
	if err := syscall.Kill(group, 0); !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("something that agent %d started is still there", -group)
	}
	return nil
}

func writeJSON(path string, content any) error {
	text, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}
