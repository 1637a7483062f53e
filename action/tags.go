package action

import (
	"bytes"
	"encoding/json"

	"bosh-aws-cpi/aws"
	"bosh-aws-cpi/cpi"
)

// EC2 takes 128 and 256 characters; today's CPI cuts one earlier, and keys that
// are cut the same way are found again.
const (
	maxTagKey   = 127
	maxTagValue = 255
)

// tagsFrom turns metadata, or an operator's tags, into tags: nulls are left
// out, what is no string is written as JSON, and what is too long is cut. Of
// keys that are alike after that the last one holds.
func tagsFrom(object cpi.Object) aws.Tags {
	tags := aws.Tags{}
	for _, member := range object.Members() {
		value, null := tagValue(member.Value)
		if null || member.Key == "" {
			continue
		}
		tags[cut(member.Key, maxTagKey)] = cut(value, maxTagValue)
	}
	return tags
}

func tagValue(raw json.RawMessage) (value string, null bool) {
	if json.Unmarshal(raw, &value) == nil && !bytes.Equal(raw, []byte("null")) {
		return value, false
	}
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return "", true
	}
	return compact.String(), compact.String() == "null"
}

func cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most])
	}
	return text
}

// environmentTags returns env.bosh.tags, the tags that an operator gave a
// deployment.
func environmentTags(method string, env cpi.Object) (aws.Tags, error) {
	var known struct {
		Bosh struct {
			Tags cpi.Object `json:"tags"`
		} `json:"bosh"`
	}
	// The values of env are secret: of what is wrong only the key is told.
	if err := decodeProperties(method, "env", env, &known); err != nil {
		return nil, err
	}
	return tagsFrom(known.Bosh.Tags), nil
}
