package main

import (
	"fmt"
	"time"

	"bosh-aws-cpi/integration/proxy"
)

// least is the least time in which a method can be done for so many VMs: its
// scarcest action is limited to what the bucket holds and what flows in, and
// then the last call takes what a call takes that is alone.
func (r result) least(size int) time.Duration {
	_, wait := r.scarcest(size)
	return wait + r.alone.wall
}

// scarcest is the action that the limits hold up longest, and how long.
func (r result) scarcest(size int) (scarcest string, longest time.Duration) {
	limits := proxy.EC2Limits()
	for action, calls := range r.alone.calls {
		bucket := limits.Of(action)
		lacking := float64(size*calls) - bucket.Size
		wait := time.Duration(lacking / bucket.Refill * float64(time.Second))
		if wait > longest {
			scarcest, longest = action, wait
		}
	}
	return scarcest, longest
}

func (r result) reason(size int) string {
	action, wait := r.scarcest(size)
	if action == "" {
		return fmt.Sprintf("no bucket runs dry; %.1f s a call alone", r.alone.wall.Seconds())
	}
	return fmt.Sprintf("%.1f s for the tokens of %s, %.1f s a call alone", wait.Seconds(), action, r.alone.wall.Seconds())
}
