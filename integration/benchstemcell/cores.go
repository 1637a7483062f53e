package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
)

// separate gives the emulator a core of its own, and all others to this process
// and the CPI that it starts: AWS does not take turns with the CPI either. It
// says in words how the cores are shared.
func separate(ctx context.Context, emulator int) string {
	cores := runtime.NumCPU()
	if cores < 2 {
		return "emulator and CPI share the only core"
	}
	if err := pin(ctx, emulator, "0"); err != nil {
		return fmt.Sprintf("emulator and CPI share %d cores (%s)", cores, err)
	}
	if err := pin(ctx, os.Getpid(), fmt.Sprintf("1-%d", cores-1)); err != nil {
		return fmt.Sprintf("the emulator has one of %d cores (%s)", cores, err)
	}
	return fmt.Sprintf("the emulator has one core of %d for itself", cores)
}

// pin keeps all threads of a process on some cores, and with them what they
// start. taskset is a part of util-linux; macOS has nothing like it.
func pin(ctx context.Context, process int, cores string) error {
	return exec.CommandContext(ctx, "taskset", "-a", "-p", "-c", cores, strconv.Itoa(process)).Run()
}
