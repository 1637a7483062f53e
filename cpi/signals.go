package cpi

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Signals returns a context that ends at the first SIGTERM, SIGINT or SIGHUP,
// with the signal as its cause. Further ones are ignored: the clean-up they
// would cut short has its own time limit. A write to a pipe that nobody reads
// becomes an error instead of the process's silent end.
func Signals() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.Background())
	caught := make(chan os.Signal, 1)
	ending := []os.Signal{syscall.SIGTERM, syscall.SIGINT}
	if !signal.Ignored(syscall.SIGHUP) {
		ending = append(ending, syscall.SIGHUP)
	}
	signal.Notify(caught, ending...)
	signal.Ignore(syscall.SIGPIPE)
	go func() {
		select {
		case received := <-caught:
			cancel(fmt.Errorf("interrupted by %s", name(received)))
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}

func name(received os.Signal) string {
	switch received {
	case syscall.SIGTERM:
		return "SIGTERM"
	case syscall.SIGHUP:
		return "SIGHUP"
	default:
		return "SIGINT"
	}
}
