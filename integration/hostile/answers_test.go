package hostile_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/driver"
)

// The error types that are met here.
const (
	invalidCall    = "InvalidCall"
	cloudError     = "Bosh::Clouds::CloudError"
	cpiError       = "Bosh::Clouds::CpiError"
	notImplemented = "Bosh::Clouds::NotImplemented"
)

// What no surroundings may make of a call. A hang would last until the spec's
// own limit; these are far above all that was ever seen.
const (
	mostSeconds = 60
	mostMiB     = 256
	specLimit   = 3 * time.Minute
)

// answer is a line of the table.
type answer struct {
	place      string // where it is described: specs run in a random order
	what, says string
	seconds    float64
	mib        float64
}

var answers []answer

// note puts a call into the table and holds it against the bounds of time and
// memory.
func note(what, says string, outcome driver.Outcome) {
	GinkgoHelper()
	line := answer{place(CurrentSpecReport()), what, says, outcome.Wall.Seconds(), float64(outcome.Memory) / (1 << 20)}
	answers = append(answers, line)
	Expect(line.seconds).To(BeNumerically("<", mostSeconds))
	Expect(line.mib).To(BeNumerically("<", mostMiB))
}

func place(spec SpecReport) string {
	container := spec.ContainerHierarchyLocations[0]
	return fmt.Sprintf("%s:%05d", container.FileName, container.LineNumber)
}

// answered expects exactly one valid response, whatever it says.
func answered(what string, outcome driver.Outcome) {
	GinkgoHelper()
	says := "success"
	if failed := outcome.Response.Error; failed != nil {
		says = strings.TrimPrefix(failed.Type, "Bosh::Clouds::") + ": " + failed.Message
	} else if outcome.Invalid != nil {
		says = "INVALID: " + outcome.Invalid.Error()
	}
	note(what, says, outcome)
	Expect(outcome.Invalid).NotTo(HaveOccurred(), "stderr: %.4000s", outcome.Stderr)
	Expect(outcome.ExitCode).To(BeZero())
	Expect(utf8.Valid(outcome.Stdout)).To(BeTrue(), "the response is not valid UTF-8: %.2000q", outcome.Stdout)
	Expect(len(outcome.Response.Log)+len(outcome.Stderr)).To(BeNumerically("<", 64<<10), "the Director stores it")
}

// succeeds expects success.
func succeeds(what string, outcome driver.Outcome) {
	GinkgoHelper()
	answered(what, outcome)
	Expect(outcome.Err()).NotTo(HaveOccurred(), "stderr: %.4000s", outcome.Stderr)
}

// refuses expects an error of a type whose message says all these things, and
// is no longer than an operator can read.
func refuses(what string, outcome driver.Outcome, kind string, says ...string) {
	GinkgoHelper()
	answered(what, outcome)
	failed := outcome.Response.Error
	Expect(failed).NotTo(BeNil(), "it succeeded: %.2000s", outcome.Response.Result)
	Expect(failed.Type).To(Equal(kind), failed.Message)
	for _, text := range says {
		Expect(failed.Message).To(ContainSubstring(text))
	}
	Expect(len(failed.Message)).To(BeNumerically("<", 4<<10))
}

// table is the summary of a run.
func table(all []answer) string {
	slices.SortStableFunc(all, func(a, b answer) int { return strings.Compare(a.place, b.place) })
	width := 0
	for _, line := range all {
		width = max(width, utf8.RuneCountInString(line.what))
	}
	var out strings.Builder
	fmt.Fprintf(&out, "\n%-*s  %7s  %8s  %s\n", width, "surroundings", "seconds", "peak MiB", "answer")
	for _, line := range all {
		fmt.Fprintf(&out, "%-*s  %7.2f  %8.1f  %s\n", width, line.what, line.seconds, line.mib, shortened(line.says))
	}
	return out.String()
}

// configPath and port differ from run to run.
var (
	configPath = regexp.MustCompile(`configuration file \S+\.json`)
	port       = regexp.MustCompile(`127\.0\.0\.1:\d+`)
)

func shortened(text string) string {
	const most = 150
	text = configPath.ReplaceAllString(text, "configuration file")
	text = strings.Join(strings.Fields(port.ReplaceAllString(text, "127.0.0.1")), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return text
}

func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}
