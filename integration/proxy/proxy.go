// Package proxy is an HTTP server between a CPI and the AWS emulator. It
// records every call, makes true what the emulator does not tell as AWS does,
// and causes on demand what AWS is known for: delay, throttling, late states,
// eventual consistency, lost requests and replies, errors of all kinds.
//
// A call passes these stations, each of which may answer it:
//
//	record → rules → latency → throttle → client tokens → fresh resources
//	hidden → AWS's own checks → emulator → states as AWS shows them → rules
package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// Options of Start.
type Options struct {
	Upstream string // base URL of the emulator

	// Verbatim passes the emulator's answers as they are. Without it (AWS-like,
	// the default) calls are checked and answered as AWS does where the
	// emulator is known to differ (see the truths in this package): what a
	// call starts is still going on in its reply (pending, creating,
	// attaching, detaching, shutting-down, modifying) and done at the next
	// look, unless Delays say later. A modification stays at optimizing.
	Verbatim bool

	KeepAnswers   bool // record bodies of answers
	DiscardBlocks bool // check EBS blocks and do not store them: they cannot be read back
}

// Proxy is a running proxy. All its methods may be called at any time by
// anyone.
type Proxy struct {
	URL string // what to configure as endpoint, for every service

	options  Options
	server   *http.Server
	client   *http.Client
	closing  context.Context // ends with Close: hanging calls with it
	shut     context.CancelFunc
	recorder recorder
	rules    rules
	limiter  limiter
	latency  latency
	tokens   tokens
	hidden   hidden
	states   states
	world    world
	uploads  uploads

	// emulator is held while the emulator works for a call. It works on one
	// request at a time anyway (and its threads step on each other's toes if
	// they get more), and so that a check and the change it is for are one.
	emulator sync.Mutex
}

// Start runs a proxy on a free loopback port.
func Start(options Options) (*Proxy, error) {
	upstream, err := url.Parse(options.Upstream)
	if err != nil || upstream.Host == "" {
		return nil, fmt.Errorf("the emulator's URL %q is none", options.Upstream)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting the proxy: %w", err)
	}
	closing, shut := context.WithCancel(context.Background())
	p := &Proxy{
		URL:     "http://" + listener.Addr().String(),
		options: options,
		closing: closing,
		shut:    shut,
		// moto closes its connections after every answer: nothing to keep.
		client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}},
	}
	p.states.forget()
	p.world.forget()
	p.uploads.forget()
	p.server = &http.Server{
		Handler:           http.HandlerFunc(p.handle),
		ReadHeaderTimeout: time.Minute,
		BaseContext:       func(net.Listener) context.Context { return closing },
	}
	go func() {
		if err := p.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			panic(fmt.Sprintf("the proxy stopped serving: %v", err)) // nobody could tell why calls fail
		}
	}()
	return p, nil
}

// Close ends the proxy and drops what it is still answering.
func (p *Proxy) Close() {
	p.shut()
	p.states.forget()
	_ = p.server.Close()
}

// Reset takes the proxy back to its start: nothing recorded, no rules, limits,
// delays or memory. Use it whenever the emulator is reset.
func (p *Proxy) Reset() {
	p.Clear()
	p.ClearRules()
	p.Throttle(Limits{})
	p.SetLatency(nil)
	p.SetDelays(Delays{})
	p.Hide(Hiding{})
	p.tokens.forget()
	p.hidden.forget()
	p.states.forget()
	p.world.forget()
	p.uploads.forget()
}

// exchange is one call on its way through the proxy.
type exchange struct {
	*Call
	proxy  *Proxy
	ctx    context.Context // ends when the caller goes away or the proxy closes
	body   []byte
	auth   string
	answer *answer // once there is one
}

func (p *Proxy) handle(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(r)
	if err != nil {
		return // the caller went away while it was asking
	}
	x := &exchange{Call: newCall(r, body), proxy: p, ctx: r.Context(), body: body, auth: r.Header.Get("Authorization")}
	p.recorder.begin(x.Call)
	noteInLedger(*x.Call)
	p.run(x)
	p.recorder.end(x.Call, x.answer, p.options.KeepAnswers)
	if x.answer.drop {
		drop(w)
		return
	}
	for name, values := range x.answer.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(x.answer.body)))
	w.WriteHeader(x.answer.status)
	_, _ = w.Write(x.answer.body) // the caller may have gone
}

func readBody(r *http.Request) ([]byte, error) {
	var body bytes.Buffer
	if r.ContentLength > 0 {
		body.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	_, err := io.Copy(&body, r.Body)
	return body.Bytes(), err
}

// run leads a call through the stations until it has its answer.
func (p *Proxy) run(x *exchange) {
	effects := p.rules.match(p.recorder.copyOf(x.Call))
	for _, effect := range effects {
		if effect.before != nil {
			effect.before(x)
		}
		if x.answer != nil {
			return
		}
	}
	p.latency.wait(x)
	if p.limiter.admit(x.Call) {
		x.answer = p.tokens.once(x, p.serve)
	} else {
		x.answer = throttled(x.Service).render(x.Call, "throttled")
	}
	for _, effect := range effects {
		if effect.after != nil {
			effect.after(x)
		}
	}
}

// serve has the call answered by the emulator, with all that AWS adds to it.
func (p *Proxy) serve(x *exchange) *answer {
	if failure := p.hidden.check(x.Call); failure != nil {
		return failure.render(x.Call, "hidden")
	}
	p.emulator.Lock()
	defer p.emulator.Unlock()
	truth := truths[x.Service+" "+x.Action]
	if p.options.Verbatim || truth == nil {
		truth = pass
	}
	if !p.options.Verbatim {
		if refused := checkIDs(x); refused != nil {
			return refused
		}
	}
	a := truth(p, x)
	p.hidden.note(x.Call, a)
	return a
}

// drop closes the connection in a way that the caller sees as a reset.
func drop(w http.ResponseWriter) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // closes it as well
	}
	if tcp, ok := connection.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // RST instead of FIN
	}
	_ = connection.Close()
}
