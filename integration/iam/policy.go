// Package iam holds docs/iam-policy.json against the AWS calls that the CPI was seen
// to make.
package iam

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// Policy is an IAM policy.
type Policy struct {
	Version   string
	Statement []Statement
}

// Statement is one feature's part of a policy.
type Statement struct {
	Sid       string
	Effect    string
	Action    oneOrMore
	Resource  oneOrMore
	Condition map[string]map[string]string
}

// oneOrMore is a string or a list of them.
type oneOrMore []string

// UnmarshalJSON takes both forms.
func (o *oneOrMore) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*o = oneOrMore{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(o))
}

// ReadPolicy reads a policy.
func ReadPolicy(path string) (Policy, error) {
	var policy Policy
	content, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(content, &policy)
	}
	if err != nil {
		return policy, fmt.Errorf("reading the policy: %w", err)
	}
	return policy, nil
}

// Allowed are all actions, each once, in order.
func (p Policy) Allowed() []string {
	var all []string
	for _, statement := range p.Statement {
		all = append(all, statement.Action...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Sids are the statements that allow an action.
func (p Policy) Sids(action string) []string {
	var sids []string
	for _, statement := range p.Statement {
		if slices.Contains(statement.Action, action) {
			sids = append(sids, statement.Sid)
		}
	}
	return sids
}
