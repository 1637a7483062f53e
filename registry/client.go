package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Server is the `registry` section of the configuration.
type Server struct {
	// Endpoint is the registry's URL as agents use it, often with credentials.
	Endpoint string `json:"endpoint"`
	User     string `json:"user"`
	Password string `json:"password"`
}

// Configured says whether there is a registry.
func (s Server) Configured() bool { return s.Endpoint != "" }

// Validate checks the endpoint; its error does not show it.
func (s Server) Validate() error {
	parsed, err := url.Parse(s.Endpoint)
	if err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") {
		return errors.New("registry.endpoint: expected an http(s) URL")
	}
	return nil
}

// HTTPClient is what the registry is reached with.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

// Client reads and writes agents' settings in the registry.
type Client struct {
	server Server
	http   HTTPClient
	// pause is the time before the second try; it doubles from try to try.
	pause time.Duration
}

// tries is how often a request is made: the registry is one small server, which
// may be restarted under us.
const tries = 5

// maxSettings bounds an answer; settings are tens of KiB.
const maxSettings = 16 << 20

// NewClient makes a client of a registry that is configured and valid. scale
// multiplies the pauses between tries: 1 in production.
func NewClient(server Server, client HTTPClient, scale float64) *Client {
	return &Client{server, client, time.Duration(float64(500*time.Millisecond) * scale)}
}

// Put writes the settings of an instance (1 PUT).
func (c *Client) Put(ctx context.Context, instance string, settings any) error {
	body, err := json.Marshal(settings)
	if err != nil {
		return errors.New("the agent's settings have no JSON form")
	}
	_, err = c.request(ctx, http.MethodPut, instance, body)
	return err
}

// Delete removes the settings of an instance; that there are none is no error
// (1 DELETE).
func (c *Client) Delete(ctx context.Context, instance string) error {
	_, err := c.request(ctx, http.MethodDelete, instance, nil)
	if errors.Is(err, errNoSettings) {
		return nil
	}
	return err
}

// SetDisk tells an agent where a persistent disk is (1 GET, 1 PUT).
func (c *Client) SetDisk(ctx context.Context, instance, disk, hint string) error {
	return c.updateDisks(ctx, instance, func(persistent map[string]json.RawMessage) {
		persistent[disk], _ = json.Marshal(hint)
	})
}

// RemoveDisk makes an agent forget a persistent disk (1 GET, 1 PUT). Without
// settings there is nothing to forget.
func (c *Client) RemoveDisk(ctx context.Context, instance, disk string) error {
	err := c.updateDisks(ctx, instance, func(persistent map[string]json.RawMessage) { delete(persistent, disk) })
	if errors.Is(err, errNoSettings) {
		return nil
	}
	return err
}

// updateDisks changes disks.persistent and leaves all else as it is.
func (c *Client) updateDisks(ctx context.Context, instance string, change func(map[string]json.RawMessage)) error {
	answer, err := c.request(ctx, http.MethodGet, instance, nil)
	if err != nil {
		return err
	}
	settings, disks, persistent := map[string]json.RawMessage{}, map[string]json.RawMessage{}, map[string]json.RawMessage{}
	var envelope struct {
		Settings string `json:"settings"`
	}
	if json.Unmarshal(answer, &envelope) != nil || json.Unmarshal([]byte(envelope.Settings), &settings) != nil {
		return fmt.Errorf("the registry's settings of %s are not JSON", instance)
	}
	if unmarshalPart(settings, "disks", &disks) != nil || unmarshalPart(disks, "persistent", &persistent) != nil {
		return fmt.Errorf("the disks in the registry's settings of %s are not an object", instance)
	}
	change(persistent)
	disks["persistent"], _ = json.Marshal(persistent)
	settings["disks"], _ = json.Marshal(disks)
	return c.Put(ctx, instance, settings)
}

func unmarshalPart(of map[string]json.RawMessage, key string, into *map[string]json.RawMessage) error {
	raw, found := of[key]
	if !found {
		return nil
	}
	err := json.Unmarshal(raw, into)
	if *into == nil { // null
		*into = map[string]json.RawMessage{}
	}
	return err
}

var errNoSettings = errors.New("the registry has no settings of this instance")

// request makes one request, again when the registry cannot be reached or is at
// fault itself: each of the three verbs does the same when it is repeated.
func (c *Client) request(ctx context.Context, verb, instance string, body []byte) ([]byte, error) {
	pause := c.pause
	for try := 1; ; try++ {
		answer, again, err := c.try(ctx, verb, instance, body)
		if err == nil || !again || try == tries {
			return answer, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(pause):
			pause *= 2
		}
	}
}

func (c *Client) try(ctx context.Context, verb, instance string, body []byte) (answer []byte, again bool, err error) {
	address, err := url.Parse(c.server.Endpoint)
	if err != nil {
		return nil, false, errors.New("registry.endpoint is not a URL")
	}
	user := address.User
	address.User = nil
	request, err := http.NewRequestWithContext(ctx, verb, address.JoinPath("instances", instance, "settings").String(), bytes.NewReader(body))
	if err != nil {
		return nil, false, fmt.Errorf("the registry cannot be asked for the settings of %s", instance)
	}
	request.Header.Set("Content-Type", "application/json")
	if c.server.User != "" {
		request.SetBasicAuth(c.server.User, c.server.Password)
	} else if user != nil {
		password, _ := user.Password()
		request.SetBasicAuth(user.Username(), password)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, ctx.Err() == nil, fmt.Errorf("the registry at %s cannot be reached: %w", address.Host, err)
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(response.Body, maxSettings))
	switch {
	case err != nil:
		return nil, true, fmt.Errorf("the registry at %s broke its answer off: %w", address.Host, err)
	case response.StatusCode == http.StatusNotFound:
		return nil, false, errNoSettings
	case response.StatusCode >= 300:
		return nil, response.StatusCode >= 500, fmt.Errorf("the registry at %s answered HTTP status %d to %s of the settings of %s; check registry.user and registry.password",
			address.Host, response.StatusCode, verb, instance)
	}
	if bytes.HasPrefix(bytes.TrimSpace(answer), []byte("<")) {
		return nil, false, fmt.Errorf("the registry at %s answered with %q instead of JSON; check registry.endpoint and any proxy on the way",
			address.Host, response.Header.Get("Content-Type"))
	}
	return answer, false, nil
}
