package proxy

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"

	"bosh-aws-cpi/integration/emulator/query"
)

// pass is what most calls need: the emulator's answer.
func pass(p *Proxy, x *exchange) *answer { return p.send(x, x.body) }

// send sends the call to the emulator, which must be held. It goes on when the
// caller goes away: AWS would not notice either.
func (p *Proxy) send(x *exchange, body []byte) *answer {
	address := p.options.Upstream + x.Path
	if x.Service == EBS && len(x.Params) > 0 {
		address += "?" + x.Params.Encode()
	}
	request, err := http.NewRequestWithContext(p.closing, x.Method, address, bytes.NewReader(body))
	if err != nil {
		return unreachable(x, err)
	}
	for name, values := range x.Header {
		request.Header[name] = values
	}
	request.Header.Set("Authorization", x.auth)
	if x.Service != EBS {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	}
	response, err := p.client.Do(request)
	if err != nil {
		return unreachable(x, err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return unreachable(x, err)
	}
	return &answer{status: response.StatusCode, header: header(x, response.Header), body: withRequestID(x, content)}
}

// header of the emulator's answer, as far as a caller can care.
func header(x *exchange, from http.Header) http.Header {
	to := http.Header{}
	for name, values := range from {
		if name == "Content-Type" || strings.HasPrefix(name, "X-Amz-") || strings.HasPrefix(name, "X-Amzn-") {
			to[name] = values
		}
	}
	to.Set("X-Amzn-Requestid", requestID(x.Call))
	return to
}

// withRequestID puts a request id of its own into every answer: moto always
// says "request-id" to EC2 calls, where AWS never says the same twice.
func withRequestID(x *exchange, content []byte) []byte {
	if x.Service != query.EC2 {
		return content
	}
	tail := max(0, len(content)-200) // it comes at the end
	return append(content[:tail:tail], bytes.Replace(content[tail:], []byte(">request-id<"), []byte(">"+requestID(x.Call)+"<"), 1)...)
}

func unreachable(x *exchange, err error) *answer {
	a := Failure{http.StatusBadGateway, "EmulatorUnreachable", err.Error()}.render(x.Call, "no emulator")
	if x.ctx.Err() != nil {
		a.drop = true
	}
	return a
}

// sendForm sends the call with other parameters than the recorded ones.
func (p *Proxy) sendForm(x *exchange, form url.Values) *answer {
	return p.send(x, []byte(form.Encode()))
}

// ask puts a question of our own to the emulator, in the name of the caller.
// It is not recorded. The emulator must be held.
func (p *Proxy) ask(x *exchange, service, action string, params ...string) (*query.Node, error) {
	client := query.Client{Endpoint: p.options.Upstream, Region: x.Region, AccessKey: x.AccessKey, HTTP: p.client}
	return client.Do(p.closing, service, action, params...)
}
