package proxy

import (
	"slices"
	"sync"
	"time"
)

// Log is a run of recorded calls, in order of arrival.
type Log []Call

// Actions are the names of the calls in order, repeated tries included.
func (l Log) Actions() []string {
	actions := make([]string, len(l))
	for i, call := range l {
		actions[i] = call.Action
	}
	return actions
}

// Of are the calls of these actions.
func (l Log) Of(actions ...string) Log {
	return l.Where(func(c Call) bool { return slices.Contains(actions, c.Action) })
}

// Where are the calls that the predicate says yes to.
func (l Log) Where(is func(Call) bool) Log {
	var chosen Log
	for _, call := range l {
		if is(call) {
			chosen = append(chosen, call)
		}
	}
	return chosen
}

// Count tells how often each action was called.
func (l Log) Count() map[string]int {
	count := map[string]int{}
	for _, call := range l {
		count[call.Action]++
	}
	return count
}

// recorder keeps the calls. It is safe for use by many.
type recorder struct {
	mu    sync.Mutex
	calls []*Call
	seq   int
}

func (r *recorder) begin(call *Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seq++
	call.Seq = r.seq
	call.Start = time.Now()
	r.calls = append(r.calls, call)
}

func (r *recorder) end(call *Call, a *answer, keep bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	call.Duration = time.Since(call.Start)
	call.Status = a.status
	call.Fault = a.fault
	if a.drop {
		call.Status = -1
		return
	}
	call.Code = a.errorCode()
	if keep {
		call.Answer = a.body
	}
}

func (r *recorder) since(mark int) Log {
	r.mu.Lock()
	defer r.mu.Unlock()
	var log Log
	for _, call := range r.calls {
		if call.Seq > mark {
			log = append(log, *call)
		}
	}
	return log
}

// copyOf is a copy that later changes do not touch.
func (r *recorder) copyOf(call *Call) Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return *call
}

// Calls are all calls since the start or the last Clear.
func (p *Proxy) Calls() Log { return p.recorder.since(0) }

// Since are the calls that came after a mark.
func (p *Proxy) Since(mark int) Log { return p.recorder.since(mark) }

// Actions are the names of all calls in order.
func (p *Proxy) Actions() []string { return p.Calls().Actions() }

// Mark is the place in the record where it stands now.
func (p *Proxy) Mark() int {
	p.recorder.mu.Lock()
	defer p.recorder.mu.Unlock()
	return p.recorder.seq
}

// Clear forgets the recorded calls, and nothing else.
func (p *Proxy) Clear() {
	p.recorder.mu.Lock()
	defer p.recorder.mu.Unlock()
	p.recorder.calls = nil
}
