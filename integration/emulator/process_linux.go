package emulator

import "syscall"

// processAttributes gives the child its own process group, which Stop signals
// as a whole, and has the kernel kill it if we die without calling Stop.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
