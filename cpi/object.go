package cpi

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Member is one key of an Object with its value as it was sent.
type Member struct {
	Key   string
	Value json.RawMessage
}

// Object is a JSON object that keeps the order of its keys and the wire form
// of its values: the order of a VM's networks decides the order of its NICs,
// and what goes through to the agent goes through unchanged.
type Object struct {
	members []Member
}

// Members returns the members in order.
func (o Object) Members() []Member { return o.members }

// Len returns how many members there are.
func (o Object) Len() int { return len(o.members) }

// Get returns the value of a key.
func (o Object) Get(key string) (json.RawMessage, bool) {
	for _, member := range o.members {
		if member.Key == key {
			return member.Value, true
		}
	}
	return nil, false
}

// With returns the object with a key set: in its place when it is there,
// behind all others when it is not. The receiver stays as it was. It panics
// when the value has no JSON form, which is a fault in the program.
func (o Object) With(key string, value any) Object {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("%s has no JSON form: %v", key, err))
	}
	members := append([]Member(nil), o.members...)
	for i := range members {
		if members[i].Key == key {
			members[i].Value = raw
			return Object{members}
		}
	}
	return Object{append(members, Member{key, raw})}
}

// Merged returns the object with every member of another one set, each as With
// sets one, in one go.
func (o Object) Merged(more Object) Object {
	members := append([]Member(nil), o.members...)
	positions := make(map[string]int, len(members))
	for at, member := range members {
		positions[member.Key] = at
	}
	for _, member := range more.members {
		if at, there := positions[member.Key]; there {
			members[at].Value = member.Value
			continue
		}
		positions[member.Key] = len(members)
		members = append(members, member)
	}
	return Object{members}
}

// Without returns the object less some keys. The receiver stays as it was.
func (o Object) Without(keys ...string) Object {
	var members []Member
	for _, member := range o.members {
		if !contains(keys, member.Key) {
			members = append(members, member)
		}
	}
	return Object{members}
}

func contains(keys []string, key string) bool {
	for _, k := range keys {
		if k == key {
			return true
		}
	}
	return false
}

// UnmarshalJSON reads an object; null is the empty one. Of a key that stands
// twice the last value holds, as everywhere in JSON.
func (o *Object) UnmarshalJSON(data []byte) error {
	o.members = nil
	decoder := json.NewDecoder(bytes.NewReader(data))
	opening, err := decoder.Token()
	if err != nil {
		return err
	}
	if opening == nil {
		return nil
	}
	if opening != json.Delim('{') {
		return &json.UnmarshalTypeError{Value: kindOf(data), Type: objectType}
	}
	positions := map[string]int{}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return err
		}
		name := key.(string)
		if at, seen := positions[name]; seen {
			o.members[at].Value = value
			continue
		}
		positions[name] = len(o.members)
		o.members = append(o.members, Member{name, value})
	}
	return nil
}

// MarshalJSON writes the members in order.
func (o Object) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, member := range o.members {
		if i > 0 {
			out.WriteByte(',')
		}
		key, err := json.Marshal(member.Key)
		if err != nil {
			return nil, err
		}
		out.Write(key)
		out.WriteByte(':')
		out.Write(member.Value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// Decode reads the object into a struct with JSON tags; unknown keys are
// ignored. Its error names the key, what was expected and what came, never the
// value, which may be a secret.
func (o Object) Decode(into any) error {
	data, err := o.MarshalJSON()
	if err != nil {
		return err
	}
	return describe(json.Unmarshal(data, into))
}
