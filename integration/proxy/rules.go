package proxy

import "sync"

// Rule says what happens to which calls.
//
//	p.Add(proxy.Rule{Action: "RunInstances", Times: 1, Do: proxy.DropReply()})
//
// Every rule that matches a call takes part in it, in the order of adding; one
// that answers the call ends it.
type Rule struct {
	Service string          // "" is any
	Action  string          // "" is any
	When    func(Call) bool // nil is always
	Nth     int             // the first match it takes part in; 0 and 1 are the first
	Times   int             // how many it takes part in; 0 is all
	Do      Effect
}

// Added is a rule at work.
type Added struct {
	rules   *rules
	rule    Rule
	matches int
	hits    int
	removed bool
}

// Hits tells in how many calls the rule has taken part.
func (a *Added) Hits() int {
	a.rules.mu.Lock()
	defer a.rules.mu.Unlock()
	return a.hits
}

// Remove takes the rule away; calls on their way are not affected.
func (a *Added) Remove() {
	a.rules.mu.Lock()
	defer a.rules.mu.Unlock()
	a.removed = true
}

// Add puts a rule to work.
func (p *Proxy) Add(rule Rule) *Added {
	p.rules.mu.Lock()
	defer p.rules.mu.Unlock()
	added := &Added{rules: &p.rules, rule: rule}
	p.rules.added = append(p.rules.added, added)
	return added
}

// ClearRules takes all rules away.
func (p *Proxy) ClearRules() {
	p.rules.mu.Lock()
	defer p.rules.mu.Unlock()
	p.rules.added = nil
}

type rules struct {
	mu    sync.Mutex
	added []*Added
}

// match counts the call for every rule that is about it, and returns what the
// rules do to it.
func (r *rules) match(call Call) []Effect {
	r.mu.Lock()
	defer r.mu.Unlock()
	var effects []Effect
	for _, a := range r.added {
		if a.removed || !a.rule.isAbout(call) {
			continue
		}
		a.matches++
		if a.matches < a.rule.Nth || (a.rule.Times > 0 && a.hits >= a.rule.Times) {
			continue
		}
		a.hits++
		effects = append(effects, a.rule.Do)
	}
	return effects
}

func (r Rule) isAbout(call Call) bool {
	return (r.Service == "" || r.Service == call.Service) &&
		(r.Action == "" || r.Action == call.Action) &&
		(r.When == nil || r.When(call))
}
