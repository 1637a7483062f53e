package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// verdict is what is wrong with a case: nothing, if it is as specified.
type verdict struct {
	played
	deviations []string
	leaks      []string // what is left and not told
	invalid    bool
}

func (v verdict) asSpecified() bool { return len(v.deviations) == 0 }

// judge holds a case against the contract.
func judge(p played, spotless clean) verdict {
	v := verdict{played: p}
	switch {
	case p.hung:
		v.deviate("the call ended within %s", hangBound)
	case p.fault.kills:
		v.judgeKilled(spotless)
	default:
		v.judgeAnswer(p.fault.expected(p.scenario, p.at), spotless)
	}
	return v
}

func (v *verdict) deviate(format string, operands ...any) {
	v.deviations = append(v.deviations, fmt.Sprintf(format, operands...))
}

func (v *verdict) judgeAnswer(expected expectation, spotless clean) {
	if v.outcome.Invalid != nil || v.outcome.ExitCode != 0 {
		v.invalid = true
		v.deviate("one valid response and exit code 0, not %v, exit code %d", v.outcome.Invalid, v.outcome.ExitCode)
		return
	}
	if v.outcome.Response.Error == nil {
		if len(expected.kinds) > 0 && !expected.maySucceed {
			v.deviate("an error %s", strings.Join(expected.kinds, " or "))
		}
		v.judgeSuccess(expected, spotless)
		return
	}
	v.judgeError(expected)
	v.judgeAccount(spotless)
}

// judgeSuccess: exactly what the clean run left is there, nothing twice.
func (v *verdict) judgeSuccess(expected expectation, spotless clean) {
	got, want := kindsOf(v.diff), kindsOf(spotless.diff)
	if got != want && !(expected.mayBeIdle && isLess(v.diff, spotless.diff)) {
		v.leaks = append(v.leaks, v.diff...)
		v.deviate("after a success the account has changed by %s, not by %s", orNothing(want), orNothing(got))
	}
}

func (v *verdict) judgeError(expected expectation) {
	answer := v.outcome.Response.Error
	if len(expected.kinds) == 0 {
		v.deviate("a success")
		return
	}
	if !slices.Contains(expected.kinds, answer.Type) {
		v.deviate("type %s", strings.Join(expected.kinds, " or "))
	}
	if answer.OKToRetry != expected.retry {
		v.deviate("ok_to_retry %t", expected.retry)
	}
	for _, word := range expected.says {
		if !strings.Contains(answer.Message, word) {
			v.deviate("a message with %q", word)
		}
	}
}

// judgeAccount: a failed call has left nothing that it does not name. One that
// takes something away may have got as far as that.
func (v *verdict) judgeAccount(spotless clean) {
	for _, line := range v.diff {
		told := v.isTold(line)
		taken := !v.scenario.creates && slices.ContainsFunc(spotless.diff, func(clean string) bool { return kindOf(clean) == kindOf(line) })
		if !told && !taken {
			v.leaks = append(v.leaks, line)
		}
	}
	if len(v.leaks) > 0 {
		v.deviate("the account as it was before")
	}
}

// isTold says whether the message names an entry of the difference among what
// could not be undone, or the instance with which it comes and goes.
func (v *verdict) isTold(line string) bool {
	_, left, _ := strings.Cut(v.outcome.Response.Error.Message, "could not be ")
	kind, id, _ := strings.Cut(line[2:], " ")
	switch kind {
	case "address", "route": // where it is now does not matter
		return !slices.ContainsFunc(strings.Fields(strings.Split(id, " -> ")[0]), func(word string) bool { return !strings.Contains(left, word) })
	case "attachment", "target", "elb":
		id = id[strings.LastIndex(id, " ")+1:]
	case "volume":
		id = cmp.Or(v.holderOf(id), id)
	case "network-interface":
		if len(v.calls.Of("CreateNetworkInterface")) == 0 {
			id = "instance i-" // which made it
		}
	}
	return strings.Contains(left, id)
}

// holderOf is the instance to which a new volume is attached, "" for none.
func (v *verdict) holderOf(volume string) string {
	for _, line := range v.diff {
		if instance, is := strings.CutPrefix(line, "+ attachment "+volume+" -> "); is {
			return instance
		}
	}
	return ""
}

// kindOf is an entry of a difference without its id: "+ volume".
func kindOf(line string) string {
	fields := strings.Fields(line)
	return strings.Join(fields[:min(2, len(fields))], " ")
}

// kindsOf counts a difference: "1 address gone, 1 instance, 2 volume".
func kindsOf(diff []string) string {
	var parts []string
	for kind, number := range countKinds(diff) {
		gone, is := strings.CutPrefix(kind, "- ")
		if is {
			gone += " gone"
		}
		parts = append(parts, fmt.Sprintf("%d %s", number, strings.TrimPrefix(gone, "+ ")))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// isLess says that a difference has nothing that the other has not.
func isLess(diff, other []string) bool {
	most := countKinds(other)
	for kind, number := range countKinds(diff) {
		if number > most[kind] {
			return false
		}
	}
	return true
}

func countKinds(diff []string) map[string]int {
	count := map[string]int{}
	for _, line := range diff {
		count[kindOf(line)]++
	}
	return count
}

func orNothing(kinds string) string {
	if kinds == "" {
		return "nothing"
	}
	return kinds
}
