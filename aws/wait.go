package aws

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// tellEvery is how often a long wait says in the log that it goes on.
const tellEvery = 30 * time.Second

// wait polls until poll says that it is done, fails, or limit has passed. What
// is waited for is named in the log and in the error. Once AWS has throttled a
// poll, they are at least throttledPoll apart.
func (c *Client) wait(ctx context.Context, action, what string, limit time.Duration, poll func(context.Context) (done bool, err error)) error {
	started := time.Now()
	limit = c.timing.scaled(limit)
	told := c.timing.scaled(tellEvery)
	pause, sparing := firstPoll, false
	for {
		if err := c.sleep(ctx, c.timing.scaled(pause)); err != nil {
			return &Error{Action: action, Resource: what, Message: "no longer waited for", cause: err}
		}
		throttledBefore := c.figures.throttledSoFar()
		done, err := poll(ctx)
		if done || err != nil {
			return err
		}
		waited := time.Since(started)
		if waited > limit {
			return &Error{Action: action, Resource: what, late: true, Message: fmt.Sprintf("not reached within %s", limit.Round(time.Second))}
		}
		if waited > told {
			c.infof("still waiting for %s, for %.0f s so far", what, waited.Seconds())
			told = waited + c.timing.scaled(tellEvery)
		}
		pause = pollInterval(c.timing.unscaled(waited))
		if sparing = sparing || c.figures.throttledSoFar() > throttledBefore; sparing {
			pause = max(pause, jitter(throttledPoll))
		}
	}
}

// waitFromNow is wait for what may be so already: the first poll comes at once.
func (c *Client) waitFromNow(ctx context.Context, action, what string, limit time.Duration, poll func(context.Context) (done bool, err error)) error {
	if done, err := poll(ctx); done || err != nil {
		return err
	}
	return c.wait(ctx, action, what, limit, poll)
}

// Pause waits a second, before something is tried again that AWS refused and
// shows no reason for.
func (c *Client) Pause(ctx context.Context) error {
	return c.sleep(ctx, c.timing.scaled(jitter(time.Second)))
}

func (c *Client) sleep(ctx context.Context, pause time.Duration) error {
	c.figures.wait(pause)
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// graceTries bounds how often a call about a resource that the caller named is
// made while AWS does not know the resource: another process may have made it
// a moment ago. With pauses of 1 s and 2 s it costs an unknown one 3 s.
const graceTries = 3

// graced makes a call about a resource that the caller named.
func (c *Client) graced(ctx context.Context, call func() error) error {
	for try := 1; ; try++ {
		err := call()
		if !IsNotFound(err) || strings.HasSuffix(Code(err), ".Malformed") || try == graceTries {
			return err
		}
		if sleepErr := c.sleep(ctx, c.timing.scaled(time.Duration(try)*time.Second)); sleepErr != nil {
			return err
		}
	}
}

// visible makes a call about a resource that this CPI call made moments ago:
// while AWS answers that it does not know it (with the given code), the call is
// made again, for limitVisible. What is not known by then is an *Error for which
// IsPassing holds and IsNotFound does not: it is nothing that the caller named.
func (c *Client) visible(ctx context.Context, code string, call func() error) error {
	deadline := time.Now().Add(c.timing.scaled(limitVisible))
	for {
		err := call()
		if !HasCode(err, code) {
			return err
		}
		if time.Now().After(deadline) {
			return neverSeen(err)
		}
		c.infof("what was just made is not visible yet (%s)", code)
		if sleepErr := c.sleep(ctx, c.timing.scaled(jitter(time.Second))); sleepErr != nil {
			return err
		}
	}
}

// neverSeen is the error of a resource that AWS said it had made and did not
// know a minute later.
func neverSeen(err error) error {
	unseen := &Error{Message: err.Error()}
	if failed := (*Error)(nil); errors.As(err, &failed) {
		*unseen = *failed
		unseen.Message = fmt.Sprintf("AWS made it and does not know it yet, after %s: %s: %s", limitVisible, failed.Code, failed.Message)
	}
	unseen.Code, unseen.cause, unseen.late = "", nil, true
	return unseen
}
