package badrequests_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/emulator"
	"bosh-aws-cpi/integration/proxy"
)

// The error types, without the Director's prefix. That of invalidCall has none.
const (
	invalidCall      = "InvalidCall"
	cloudError       = "CloudError"
	cpiError         = "CpiError"
	notImplemented   = "NotImplemented"
	notSupported     = "NotSupported"
	vmNotFound       = "VMNotFound"
	vmCreationFailed = "VMCreationFailed"
	diskNotFound     = "DiskNotFound"
	diskNotAttached  = "DiskNotAttached"
	noDiskSpace      = "NoDiskSpace"
	networkNotFound  = "NetworkNotFound"
)

// bad is a bad request and what must come of it. In its texts {vm}, {disk} and
// the like stand for the account's; see world.furnish.
type bad struct {
	what string // what is wrong with it

	method    string
	arguments []any
	request   string // instead of a method: the bytes to send

	caller func(*driver.CPI)    // how it is called, if not as usual
	config func(*driver.Config) // what is configured, if not the usual
	file   *string              // instead: the content of the configuration file

	rules []proxy.Rule // what AWS answers, if not what the emulator does

	kind   string   // of the error
	says   []string // what the message must contain
	retry  bool     // ok_to_retry
	undone bool     // something is made and removed again: AWS refuses late

	sample bool // one of many alike, which are one line of the table
}

// object is a JSON object whose keys need no order.
type object = map[string]any

// as sends a request as another version of the API.
func as(api, stemcell int) func(*driver.CPI) {
	return func(cpi *driver.CPI) { cpi.APIVersion, cpi.StemcellAPIVersion = api, stemcell }
}

// refusing has AWS refuse an action.
func refusing(action string, status int, code, message string) []proxy.Rule {
	return []proxy.Rule{{Action: action, Do: proxy.Fail(status, code, message)}}
}

// answer is a line of the table that the suite prints.
type answer struct {
	order                       int
	method, what, kind, message string
	sample                      bool
}

var (
	answers []answer
	known   int // how many requests are described
)

// refuses describes requests that are refused after AWS was asked, or by AWS.
func refuses(all ...bad) { describe(all, false) }

// refusesUnasked describes requests of which everything that is wrong can be
// told from the request and the configuration: no AWS call is made at all.
func refusesUnasked(all ...bad) { describe(all, true) }

func describe(all []bad, unasked bool) {
	for _, b := range all {
		known++
		order := known
		It(b.name()+": "+b.what, func(ctx SpecContext) {
			for _, rule := range b.rules {
				w.proxy.Add(rule)
			}
			DeferCleanup(w.proxy.ClearRules)
			mark := w.proxy.Mark()
			outcome := w.send(ctx, b)
			calls := w.proxy.Since(mark)
			answers = append(answers, answerOf(order, b, outcome))
			if vm := outcome.VM(); b.method == "create_vm" && vm != "" { // or all after it would fail, too
				defer w.send(ctx, bad{method: "delete_vm", arguments: []any{vm}})
			}

			b.expectAnswer(outcome)
			if unasked {
				Expect(calls.Actions()).To(BeEmpty(), "nothing had to be asked")
			}
			if !b.undone {
				Expect(calls.Where(changed).Actions()).To(BeEmpty(), "calls that changed something")
			}
			Expect(w.registry.Content()).To(BeEmpty())
			if len(calls) > 0 {
				after := w.inventory(ctx)
				left := emulator.Diff(w.before, after)
				w.before = after // the next one is judged by itself
				Expect(left).To(BeEmpty(), "what changed in the account")
			}
		})
	}
}

func (b bad) expectAnswer(outcome driver.Outcome) {
	GinkgoHelper()
	told := fmt.Sprintf("stdout: %s\nstderr: %s", outcome.Stdout, outcome.Stderr)
	Expect(outcome.Invalid).NotTo(HaveOccurred(), told)
	Expect(outcome.ExitCode).To(Equal(0), told)
	Expect(outcome.ErrorType()).To(Equal(fullType(b.kind)), told)
	for _, word := range b.says {
		Expect(outcome.Response.Error.Message).To(ContainSubstring(w.names.Replace(word)))
	}
	if b.method != "" && b.kind != cpiError && b.kind != notImplemented {
		Expect(outcome.Response.Error.Message).To(ContainSubstring(b.method))
	}
	Expect(outcome.Response.Error.OKToRetry).To(Equal(b.retry), "ok_to_retry; "+told)
	Expect(outcome.Response.Log).To(ContainSubstring("failed in"))
	Expect(told).NotTo(ContainSubstring("fault of its own"))
	Expect(told).NotTo(ContainSubstring("goroutine "))
}

// changed says that a call changed something: it succeeded, or may have.
func changed(call proxy.Call) bool {
	for _, reading := range []string{"Describe", "Get", "List", "AssumeRole"} {
		if strings.HasPrefix(call.Action, reading) {
			return false
		}
	}
	return call.Succeeded() || call.Status <= 0
}

func (b bad) name() string {
	if b.method == "" {
		return "(request)"
	}
	return shortened(b.method, 32)
}

func fullType(kind string) string {
	if kind == invalidCall {
		return kind
	}
	return "Bosh::Clouds::" + kind
}

func answerOf(order int, b bad, outcome driver.Outcome) answer {
	a := answer{order: order, method: b.name(), what: b.what, kind: "(none)", sample: b.sample}
	if failed := outcome.Response.Error; failed != nil {
		a.kind = strings.TrimPrefix(failed.Type, "Bosh::Clouds::")
		a.message = strings.TrimPrefix(failed.Message, b.method+": ")
		a.message = configPath.ReplaceAllString(a.message, "configuration file: ")
	}
	return a
}

// configPath takes more room in a message than what it is about.
var configPath = regexp.MustCompile(`configuration file \S+\.json: `)

// table is the summary of a run: a line for each bad request, and one for all
// the samples of a method.
func table(all []answer) string {
	if len(all) == 0 {
		return ""
	}
	lines := joined(all)
	widths := [3]int{}
	for _, a := range lines {
		for i, cell := range []string{a.method, a.what, a.kind} {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, "\n%d bad requests, and how they are answered:\n", len(all))
	for _, a := range lines {
		fmt.Fprintf(&out, "%-*s  %-*s  %-*s  %s\n", widths[0], a.method, widths[1], a.what, widths[2], a.kind, shortened(a.message, 110))
	}
	return out.String()
}

// joined are the answers in order, those to samples of the same method and
// with the same type of error as one.
func joined(all []answer) []answer {
	slices.SortFunc(all, func(a, b answer) int { return a.order - b.order })
	var lines []answer
	count := map[string]int{}
	for _, a := range all {
		key := a.method + " " + a.kind
		if a.sample {
			count[key]++
		}
		if !a.sample || count[key] == 1 {
			lines = append(lines, a)
		}
	}
	for i, a := range lines {
		if more := count[a.method+" "+a.kind] - 1; a.sample && more > 0 {
			lines[i].what += fmt.Sprintf(", and %d more such", more)
		}
	}
	return lines
}

// shortened keeps a text to its first words, in one line.
func shortened(message string, most int) string {
	text := []rune(strings.Join(strings.Fields(message), " "))
	if len(text) > most {
		return string(text[:most-3]) + "..."
	}
	return string(text)
}
