package action

import (
	"context"
	"runtime/debug"
	"sync"

	"bosh-aws-cpi/cpi"
)

// concurrently runs tasks side by side and returns the first error, at which
// the context of the others ends. It waits for all of them. A panic in one is
// an error of that one: it must not end the process without an answer.
func (s *session) concurrently(ctx context.Context, tasks ...func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var group sync.WaitGroup
	var once sync.Once
	var first error
	for _, task := range tasks {
		group.Go(func() {
			if err := s.guarded(ctx, task); err != nil {
				once.Do(func() {
					first = err
					cancel()
				})
			}
		})
	}
	group.Wait()
	return first
}

func (s *session) guarded(ctx context.Context, task func(context.Context) error) (err error) {
	defer func() {
		if failure := recover(); failure != nil {
			s.Logger.Error(s.Tag, "panic: %v\n%s", failure, debug.Stack())
			err = cpi.Errorf(cpi.CpiError, "%s: the CPI failed by a fault of its own: %v; please report it with the task's debug log", s.Method, failure)
		}
	}()
	return task(ctx)
}
