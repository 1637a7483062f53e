package proxy

import (
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"bosh-aws-cpi/integration/emulator/query"
)

// Bucket is a token bucket: a call takes a token; without one it is throttled.
type Bucket struct {
	Size   float64 // tokens it holds, and starts with
	Refill float64 // tokens a second
}

// Limits of EC2 for one region of one account; each action has its bucket.
// A zero Bucket does not limit.
type Limits struct {
	Describe Bucket            // actions that start with Describe
	Mutating Bucket            // all others
	Actions  map[string]Bucket // actions with a bucket of their own kind
}

// EC2Limits are the documented defaults of EC2.
func EC2Limits() Limits {
	return Limits{
		Describe: Bucket{Size: 100, Refill: 20},
		Mutating: Bucket{Size: 50, Refill: 5},
		Actions: map[string]Bucket{
			"RunInstances":       {Size: 5, Refill: 2},
			"TerminateInstances": {Size: 100, Refill: 5},
		},
	}
}

// Faster are the same limits at a clock that runs that many times faster.
func (l Limits) Faster(times float64) Limits {
	faster := func(b Bucket) Bucket { return Bucket{b.Size, b.Refill * times} }
	actions := map[string]Bucket{}
	for action, bucket := range l.Actions {
		actions[action] = faster(bucket)
	}
	return Limits{faster(l.Describe), faster(l.Mutating), actions}
}

// Of is the bucket kind of an action.
func (l Limits) Of(action string) Bucket {
	if bucket, ok := l.Actions[action]; ok {
		return bucket
	}
	if strings.HasPrefix(action, "Describe") {
		return l.Describe
	}
	return l.Mutating
}

// Throttle sets limits, with full buckets; the zero Limits are none.
func (p *Proxy) Throttle(limits Limits) {
	p.limiter.mu.Lock()
	defer p.limiter.mu.Unlock()
	p.limiter.limits = limits
	p.limiter.levels = map[string]*level{}
}

type limiter struct {
	mu     sync.Mutex
	limits Limits
	levels map[string]*level // by region and action
}

type level struct {
	tokens float64
	at     time.Time
}

// admit takes a token if there is one.
func (l *limiter) admit(call *Call) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	bucket := l.limits.Of(call.Action)
	if call.Service != query.EC2 || bucket == (Bucket{}) {
		return true
	}
	now := time.Now()
	key := call.Region + " " + call.Action
	at := l.levels[key]
	if at == nil {
		at = &level{tokens: bucket.Size, at: now}
		l.levels[key] = at
	}
	at.tokens = min(bucket.Size, at.tokens+now.Sub(at.at).Seconds()*bucket.Refill)
	at.at = now
	if at.tokens < 1 {
		return false
	}
	at.tokens--
	return true
}

// Latency is what a call takes on top: at least Min, at most Max.
type Latency struct{ Min, Max time.Duration }

// SetLatency sets latencies by action; the action "" stands for all others.
func (p *Proxy) SetLatency(byAction map[string]Latency) {
	p.latency.mu.Lock()
	defer p.latency.mu.Unlock()
	p.latency.byAction = byAction
	p.latency.random = rand.New(rand.NewPCG(1, 2)) // the same run again, the same latencies
}

type latency struct {
	mu       sync.Mutex
	byAction map[string]Latency
	random   *rand.Rand
}

func (l *latency) wait(x *exchange) { pause(x, l.of(x.Action)) }

func (l *latency) of(action string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	span, ok := l.byAction[action]
	if !ok {
		span = l.byAction[""]
	}
	if span.Max <= span.Min {
		return span.Min
	}
	return span.Min + time.Duration(l.random.Int64N(int64(span.Max-span.Min)))
}
