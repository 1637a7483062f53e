package proxy

import (
	"net/http"
	"slices"
	"sync"

	"bosh-aws-cpi/integration/emulator/query"
)

// tokened are the calls for which AWS honours a client token: the same token
// again is the same answer again, and nothing happens twice. On other calls a
// parameter ClientToken means nothing.
var tokened = map[string][]string{
	query.EC2: {"RunInstances", "CreateVolume", "CreateNetworkInterface", "CopyImage"},
	EBS:       {"StartSnapshot"},
}

type tokens struct {
	mu   sync.Mutex
	used map[string]*use // by region, action and token
}

// use is a call made with a token.
type use struct {
	params string
	answer *answer // nil if the call did not succeed: the token is free again
	done   chan struct{}
}

func clientToken(x *exchange) string {
	if x.proxy.options.Verbatim || !slices.Contains(tokened[x.Service], x.Action) {
		return ""
	}
	if x.Service == EBS {
		token, _ := x.JSON["ClientToken"].(string)
		return token
	}
	return x.Param("ClientToken")
}

// once serves the call unless one with the same token was served already.
func (t *tokens) once(x *exchange, serve func(*exchange) *answer) *answer {
	token := clientToken(x)
	if token == "" {
		return serve(x)
	}
	for {
		first, mine := t.claim(x, token)
		if mine {
			a := serve(x)
			t.settle(x, token, first, a)
			return a
		}
		if first.params != x.canonical() {
			return mismatch(x).render(x.Call, "token reused")
		}
		select {
		case <-first.done:
		case <-x.ctx.Done():
			return &answer{drop: true, fault: "caller gone"}
		}
		if first.answer != nil {
			return x.proxy.replay(x, first.answer)
		}
	}
}

func (t *tokens) claim(x *exchange, token string) (first *use, mine bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := x.Region + " " + x.Action + " " + token
	if first = t.used[key]; first != nil {
		return first, false
	}
	if t.used == nil {
		t.used = map[string]*use{}
	}
	first = &use{params: x.canonical(), done: make(chan struct{})}
	t.used[key] = first
	return first, true
}

func (t *tokens) settle(x *exchange, token string, first *use, a *answer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a.ok() {
		first.answer = a
	} else {
		delete(t.used, x.Region+" "+x.Action+" "+token)
	}
	close(first.done)
}

func (t *tokens) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.used = nil
}

// canonical are the parameters of the call, comparable.
func (x *exchange) canonical() string {
	if x.Service == EBS {
		return string(x.body)
	}
	return x.Params.Encode()
}

func mismatch(x *exchange) Failure {
	if x.Service == EBS {
		return Failure{http.StatusConflict, "ConflictException",
			"The request uses the same client token as a previous, but non-identical request."}
	}
	return Failure{http.StatusBadRequest, "IdempotentParameterMismatch",
		"The client token you have provided is associated with a resource that has different parameters."}
}

// replay gives the first answer again. Where the instance it speaks of is gone
// by now, AWS refuses rather than to show a dead one as new.
func (p *Proxy) replay(x *exchange, first *answer) *answer {
	if x.Action == "RunInstances" {
		if root, err := query.Parse(first.body); err == nil {
			for _, item := range root.All("instancesSet/item") {
				if p.world.isTerminated(item.Value("instanceId")) {
					return Failure{http.StatusBadRequest, "IdempotentInstanceTerminated",
						"The instance that was launched with this client token has been terminated."}.render(x.Call, "token reused")
				}
			}
		}
	}
	again := *first
	again.fault = "replayed"
	return &again
}
