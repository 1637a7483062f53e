//go:build unix && !linux

package emulator

import "syscall"

// processAttributes gives the child its own process group, which Stop signals
// as a whole. Only Linux can tie its life to ours.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
