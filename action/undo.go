package action

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"bosh-aws-cpi/aws"
	"bosh-aws-cpi/cpi"
)

// undoLimit is how long the undo of a failed call may take in all. Terminating
// an instance is the longest part: minutes.
const undoLimit = 15 * time.Minute

// undo remembers how to remove what a call made or to put back what it took.
type undo struct {
	s     *session
	mutex sync.Mutex
	steps []undoStep
}

type undoStep struct {
	what string // what stays behind if the step fails: "instance i-1"
	do   func(context.Context) error
}

// add remembers a step, to be done before those that are there.
func (u *undo) add(what string, do func(context.Context) error) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	u.steps = append(u.steps, undoStep{what, do})
}

// addUnlessRefused remembers how to undo a step that ended with err: one that
// succeeded, or one whose answer was lost. It passes err on.
func (u *undo) addUnlessRefused(err error, what string, do func(context.Context) error) error {
	if err == nil || aws.IsMaybe(err) {
		u.add(what, do)
	}
	return err
}

// run undoes everything, newest first, and returns the error that the call is
// answered with: the cause, and what could not be removed. It does not stop at
// a step that fails, and goes on when the call was interrupted: it has a time
// limit of its own.
func (u *undo) run(ctx context.Context, cause error) error {
	if len(u.steps) == 0 {
		return cause
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Duration(float64(undoLimit)*u.s.config.Timing.Scale)+u.s.config.Timing.HTTP)
	defer cancel()
	u.s.Logger.Warn(u.s.Tag, "undoing after: %s", cause)
	var left []string
	for i := len(u.steps) - 1; i >= 0; i-- {
		step := u.steps[i]
		if err := step.do(ctx); err != nil {
			u.s.Logger.Error(u.s.Tag, "undoing %s failed: %s", step.what, err)
			left = append(left, fmt.Sprintf("%s (%s)", step.what, err))
			continue
		}
		u.s.Logger.Info(u.s.Tag, "undone: %s", step.what)
	}
	if len(left) == 0 {
		return cause
	}
	return withLeftovers(cause, left)
}

// withLeftovers adds what could not be undone to the message of the cause and
// leaves its type as it is.
func withLeftovers(cause error, left []string) error {
	text := fmt.Sprintf("; and this could not be undone and must be removed or put right by hand: %s", strings.Join(left, "; "))
	var typed *cpi.Error
	if !errors.As(cause, &typed) {
		return fmt.Errorf("%w%s", cause, text)
	}
	more := *typed
	more.Message += text
	more.Cause = cause
	return &more
}
