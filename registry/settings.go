package registry

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// MaxUserDataBytes is what EC2 takes, before the encoding (EC2 User Guide,
// "Run commands on your Linux instance at launch").
const MaxUserDataBytes = 16 << 10

// Fields are top-level keys of the agent's settings, in the order in which they
// are written.
type Fields []Field

// Field is a key and a value with a JSON form.
type Field struct {
	Key   string
	Value any
}

// Settings are what an agent learns about its VM.
type Settings struct {
	// VMName is a name of the VM's own, "vm-<uuid>".
	VMName  string
	AgentID string
	// Networks are those of the request, with what DHCP and the agent need.
	Networks any
	Disks    Disks
	// Env is the request's env as it was sent; nil when there was none.
	Env json.RawMessage
	// Agent are the keys of the configuration's agent section.
	Agent Fields
	// DNS are the name servers of the first manual network that has any.
	DNS json.RawMessage
	// Registry is the registry of the configuration, if any.
	Registry Server
}

// Disks tells the agent where its disks are.
type Disks struct {
	System       string            `json:"system"`
	Ephemeral    string            `json:"ephemeral,omitempty"`
	RawEphemeral []Disk            `json:"raw_ephemeral,omitempty"`
	Persistent   map[string]string `json:"persistent"`
}

// Disk is a disk that the agent finds by its path.
type Disk struct {
	Path string `json:"path"`
}

type endpoint struct {
	Endpoint string `json:"endpoint"`
}

type nameservers struct {
	Nameserver json.RawMessage `json:"nameserver"`
}

// Full returns what the agent needs in all, without DNS: the content of the
// registry.
func (s Settings) Full() Fields {
	fields := Fields{
		{"vm", map[string]string{"name": s.VMName}},
		{"agent_id", s.AgentID},
		{"networks", s.Networks},
		{"disks", s.Disks},
	}
	if s.Env != nil {
		fields = append(fields, Field{"env", s.Env})
	}
	return append(fields, s.Agent...)
}

// UserData returns the user data of an agent that asks no registry: all there
// is. An endpoint of a registry that is configured all the same goes along, as
// it is, with its credentials: agents expect them there.
func (s Settings) UserData() Fields {
	fields := s.Full()
	if s.DNS != nil {
		fields = append(fields, Field{"dns", nameservers{s.DNS}})
	}
	if s.Registry.Configured() {
		fields = append(fields, Field{"registry", endpoint{s.Registry.Endpoint}})
	}
	return fields
}

// RegistryUserData returns the user data of an agent that asks the registry for
// the rest.
func (s Settings) RegistryUserData() Fields {
	fields := Fields{{"registry", endpoint{s.Registry.Endpoint}}}
	if s.DNS != nil {
		fields = append(fields, Field{"dns", nameservers{s.DNS}})
	}
	return append(fields, Field{"networks", s.Networks})
}

// MarshalJSON writes the fields as an object, in their order. Of a key that is
// there twice the last one holds, in its own place.
func (f Fields) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, field := range f {
		if f.repeated(i) {
			continue
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		key, err := json.Marshal(field.Key)
		if err != nil {
			return nil, fmt.Errorf("a key has no JSON form")
		}
		value, err := json.Marshal(field.Value)
		if err != nil {
			return nil, fmt.Errorf("%s has no JSON form", field.Key)
		}
		out.Write(key)
		out.WriteByte(':')
		out.Write(value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

func (f Fields) repeated(i int) bool {
	for _, later := range f[i+1:] {
		if later.Key == f[i].Key {
			return true
		}
	}
	return false
}
