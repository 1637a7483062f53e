package aws

import (
	"math/rand/v2"
	"time"
)

// Timing scales every wait, time limit and backoff, so that tests that make AWS
// slow need not be: 1 in production, 0.01 turns 10 minutes into 6 seconds.
type Timing struct {
	// Scale multiplies waits, their limits and backoffs.
	Scale float64
	// HTTP limits a single request from connecting to the last byte of the
	// answer. It is not scaled: a request takes its time in tests too.
	HTTP time.Duration
}

// DefaultTiming is what production runs with. RunInstances is the slowest call
// that the CPI makes and answers within seconds.
func DefaultTiming() Timing { return Timing{Scale: 1, HTTP: time.Minute} }

func (t Timing) scaled(d time.Duration) time.Duration {
	return time.Duration(float64(d) * t.Scale)
}

// unscaled is how long something that took d would take in production.
func (t Timing) unscaled(d time.Duration) time.Duration {
	return time.Duration(float64(d) / t.Scale)
}

// The longest that the CPI waits for a state. See docs/development.md.
const (
	limitInstanceRunning    = 10 * time.Minute
	limitInstanceTerminated = 15 * time.Minute
	limitVolumeAvailable    = 10 * time.Minute
	limitVolumeDeleted      = 10 * time.Minute
	limitAttachment         = 10 * time.Minute
	limitModification       = 30 * time.Minute
	limitImageCopy          = 90 * time.Minute
	limitSnapshotCompleted  = 60 * time.Minute
	limitImageRegistered    = 10 * time.Minute
	limitNetworkInterface   = 2 * time.Minute
	limitSubnetAvailable    = 2 * time.Minute
	// limitVisible is how long a resource that this call made may answer
	// `*.NotFound`: EC2 is eventually consistent.
	limitVisible = time.Minute
	// limitThrottled is how long in all one call is tried while AWS throttles.
	limitThrottled = time.Hour
)

// firstPoll is when a state is first asked for. A volume is available or
// attached in about a second; an earlier look would mostly be wasted.
const firstPoll = 500 * time.Millisecond

// throttledPoll is how far apart the polls of a wait are at least once AWS has
// throttled one of them: the Describe calls' bucket refills 20 times a second,
// which is enough for a hundred processes at this pace.
const throttledPoll = 5 * time.Second

// pollInterval is the pause before the next poll, when the wait has lasted
// this long: short while the state is due any moment, so that it is noticed
// within a second or two, and longer for what takes minutes. The jitter keeps
// the processes of one Director apart.
func pollInterval(waited time.Duration) time.Duration {
	var pause time.Duration
	switch {
	case waited < 15*time.Second:
		pause = time.Second
	case waited < 30*time.Second:
		pause = 2 * time.Second
	default:
		pause = min(2*time.Second+(waited-30*time.Second)/10, 10*time.Second)
	}
	return jitter(pause)
}

// jitter varies a duration by 10 % either way.
func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.9 + 0.2*rand.Float64()))
}

// The bounds of backoff: AWS refills a bucket of mutating calls 5 times a
// second, so the first pause is about one refill; the last leaves a crowd of
// processes several seconds each.
const (
	backoffFirst = 300 * time.Millisecond
	backoffMost  = 30 * time.Second
)

// backoff is the pause before try n+1 of a call that failed: exponential with
// full jitter, which spreads a crowd of processes evenly.
func backoff(n int) time.Duration { return anywhereUpTo(backoffCeiling(n)) }

func backoffCeiling(n int) time.Duration {
	if n < 7 { // 0.3 s * 2^7 is beyond the most
		return min(backoffFirst<<n, backoffMost)
	}
	return backoffMost
}

// throttledCeiling bounds the pause of a throttled call however soon backoff
// grows, until a tenth of the time that it has been held up is more.
const throttledCeiling = 3 * time.Second

// throttledBackoff is the pause before a call is made again that AWS has
// throttled n+1 times and held up for so long. AWS lets one of a crowd in
// whenever a token flows in, and no process sees how many others wait: with
// pauses that grow to 30 s in six tries, the last few of a crowd sleep while
// tokens lie unused. Bounded by a tenth of the time lost already, a pause
// never makes the whole much longer, and the longer a crowd takes, the less
// often each of it asks.
func throttledBackoff(n int, held time.Duration) time.Duration {
	return anywhereUpTo(min(backoffCeiling(n), max(throttledCeiling, held/10)))
}

func anywhereUpTo(ceiling time.Duration) time.Duration {
	return time.Duration(rand.Float64() * float64(ceiling))
}
