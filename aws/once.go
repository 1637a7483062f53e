package aws

import (
	"context"
	"time"
)

// find looks for what a call made whose answer was lost.
type find[T any] func(context.Context) (made T, found bool, err error)

// looks is how often a call's effect is looked for, a second apart: EC2 may
// show it late.
const looks = 3

// recovered makes a call that creates something. When the call fails and may
// have been carried out all the same, its effect is looked for: what is found
// is the result, as if the answer had arrived.
func recovered[T any](ctx context.Context, c *Client, call func() (T, error), find find[T]) (T, error) {
	result, err := call()
	if err == nil || !IsMaybe(err) {
		return result, err
	}
	c.warnf("the answer was lost, looking whether it happened: %s", err)
	// A signal must not stop the look: what it would find has to be undone.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.timing.scaled(limitVisible)+c.timing.HTTP)
	defer cancel()
	for look := 1; look <= looks; look++ {
		if sleepErr := c.sleep(ctx, c.timing.scaled(time.Second)); sleepErr != nil {
			break
		}
		made, found, findErr := find(ctx)
		if findErr != nil {
			c.warnf("looking failed: %s", findErr)
			break
		}
		if found {
			return made, nil
		}
	}
	return result, err
}

// once makes a call of lookFirst: when its answer was lost and it did not
// happen, it is made again, at most max_retries times.
func once[T any](ctx context.Context, c *Client, call func() (T, error), find find[T]) (T, error) {
	for try := 0; ; try++ {
		result, err := recovered(ctx, c, call, find)
		if err == nil || !IsMaybe(err) || try >= c.maxRetries || ctx.Err() != nil {
			return result, err
		}
		if sleepErr := c.sleep(ctx, c.timing.scaled(backoff(try))); sleepErr != nil {
			return result, err
		}
	}
}
