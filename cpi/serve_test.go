package cpi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	boshlog "github.com/cloudfoundry/bosh-utils/logger"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/cpi"
)

const callDo = `{"method":"do","arguments":[],"context":{"request_id":"req-7"}}`

var _ = Describe("An answer", func() {
	DescribeTable("carries the method's result",
		func(result any, wire string) {
			answer := serve(callDo, returning("do", result, nil))
			Expect(answer.err).To(BeNil())
			Expect(string(answer.result)).To(Equal(wire))
		},
		Entry("nothing", nil, `null`),
		Entry("false", false, `false`),
		Entry("a string", "vm-1", `"vm-1"`),
		Entry("an empty list", []string{}, `[]`),
		Entry("what was sent with line breaks in it, on one line", json.RawMessage("{\n \"b\": [1,\r\n 2]\n}"), `{"b":[1,2]}`),
	)

	DescribeTable("carries the method's error",
		func(err error, kind cpi.ErrorType, message string, retry bool) {
			answer := serve(callDo, returning("do", "half done", err))
			Expect(answer.err.Type).To(Equal(kind))
			Expect(answer.err.Message).To(Equal(message))
			Expect(*answer.err.OKToRetry).To(Equal(retry))
		},
		Entry("typed", cpi.Errorf(cpi.VMNotFound, "VM %s is gone", "i-1"), cpi.VMNotFound, "VM i-1 is gone", false),
		Entry("to be retried", &cpi.Error{Type: cpi.VMCreationFailed, Message: "busy", OKToRetry: true}, cpi.VMCreationFailed, "busy", true),
		Entry("typed, inside another", fmt.Errorf("outside: %w", cpi.Errorf(cpi.DiskNotFound, "no disk")), cpi.DiskNotFound, "no disk", false),
		Entry("typed, with a cause", cpi.Errorf(cpi.CloudError, "failed: %w", errors.New("timeout")), cpi.CloudError, "failed: timeout", false),
		Entry("that nobody mapped: a fault of the CPI", errors.New("eh?"), cpi.CpiError, "eh?", false),
	)

	Context("when a method panics", func() {
		panicking := func(value any) cpi.Method {
			return cpi.NewMethod("do", func(context.Context, *cpi.Call, struct{}) (any, error) { panic(value) })
		}

		DescribeTable("is a CpiError", func(value any, told string) {
			answer := serve(callDo, panicking(value))
			Expect(answer.err.Type).To(Equal(cpi.CpiError))
			Expect(answer.err.Message).To(ContainSubstring(told))
			Expect(answer.err.Message).To(ContainSubstring("please report it"))
			Expect(answer.log).To(HavePrefix("do req-7: failed in "))
		},
			Entry("with a text", "oh no", "oh no"),
			Entry("with an error", errors.New("oh dear"), "oh dear"),
			Entry("with a typed error", cpi.Errorf(cpi.VMNotFound, "odd"), "odd"),
		)

		It("has the stack in the log", func() {
			Expect(serve(callDo, panicking("x")).stderr).To(ContainSubstring("serve_test.go"))
		})
	})

	It("is a CpiError when a version's conversion panics", func() {
		api := cpi.API{
			Methods:  []cpi.Method{returning("do", "text", nil)},
			Versions: []cpi.Version{{Number: 1, Results: map[string]func(any) any{"do": func(newer any) any { return newer.(int) }}}, {Number: 2}},
		}
		Expect(serveAPI(context.Background(), strings.NewReader(callDo), api).err.Type).To(Equal(cpi.CpiError))
	})

	DescribeTable("is a CpiError when the result has no JSON form",
		func(result any) {
			answer := serve(callDo, returning("do", result, nil))
			Expect(answer.err.Type).To(Equal(cpi.CpiError))
			Expect(answer.err.Message).To(ContainSubstring("the result has no JSON form"))
		},
		Entry("a function", func() {}),
		Entry("infinity", math.Inf(1)),
		Entry("broken JSON", json.RawMessage(`{`)),
	)

	It("that nobody can read is the caller's to know", func() {
		load := func() (cpi.API, boshlog.LogLevel, error) { return threeVersions(), boshlog.LevelNone, nil }
		reader, writer := io.Pipe()
		Expect(reader.Close()).To(Succeed())
		Expect(cpi.Serve(context.Background(), load, strings.NewReader(callDo), writer, io.Discard)).To(MatchError(io.ErrClosedPipe))
	})
})

var _ = Describe("The configuration", func() {
	loading := func(err error) cpi.Load {
		return func() (cpi.API, boshlog.LogLevel, error) { return cpi.API{}, boshlog.LevelInfo, err }
	}

	DescribeTable("that cannot be loaded is answered as a CpiError",
		func(err error, message string) {
			answer := serveLoaded(context.Background(), strings.NewReader(callDo), loading(err))
			Expect(answer.err.Type).To(Equal(cpi.CpiError))
			Expect(answer.err.Message).To(Equal(message))
			Expect(answer.log).To(HavePrefix("do req-7: failed in "))
		},
		Entry("typed", cpi.Errorf(cpi.CpiError, "aws.region is missing"), "aws.region is missing"),
		Entry("untyped", errors.New("no such file"), "no such file"),
	)

	It("that makes the CPI panic is answered as a CpiError", func() {
		load := func() (cpi.API, boshlog.LogLevel, error) { panic("while loading") }
		answer := serveLoaded(context.Background(), strings.NewReader(callDo), load)
		Expect(answer.err.Type).To(Equal(cpi.CpiError))
		Expect(answer.err.Message).To(ContainSubstring("while loading"))
	})

	It("is no matter for a request that is malformed", func() {
		answer := serveLoaded(context.Background(), strings.NewReader(`{`), loading(errors.New("no such file")))
		Expect(answer.err.Type).To(Equal(cpi.InvalidCall))
	})
})

var _ = Describe("A version of the API", func() {
	api := cpi.API{
		Methods: []cpi.Method{returning("do", "newest", nil), returning("same", "always", nil)},
		Versions: []cpi.Version{
			{Number: 1, Results: map[string]func(any) any{"do": func(newer any) any { return newer.(string) + ", as 1 has it" }}},
			{Number: 2, Results: map[string]func(any) any{"do": func(newer any) any { return newer.(string) + ", as 2 has it" }}},
			{Number: 3},
		},
	}

	DescribeTable("has its own results, made from the next newer version's",
		func(method string, version int, result string) {
			answer := serveAPI(context.Background(), strings.NewReader(fmt.Sprintf(`{"method":%q,"arguments":[],"api_version":%d}`, method, version)), api)
			Expect(answer.result).To(MatchJSON(fmt.Sprintf("%q", result)))
		},
		Entry("1", "do", 1, "newest, as 2 has it, as 1 has it"),
		Entry("2", "do", 2, "newest, as 2 has it"),
		Entry("3", "do", 3, "newest"),
		Entry("one that is newer than all", "do", 9, "newest"),
		Entry("1, where nothing differs", "same", 1, "always"),
	)
})

var _ = Describe("A signal", func() {
	signal := errors.New("interrupted by SIGTERM")

	// interruptedIn serves a method that a signal interrupts and that then ends
	// with an error.
	interruptedIn := func(end func(context.Context) error) exchange {
		GinkgoHelper()
		ctx, cancel := context.WithCancelCause(context.Background())
		method := cpi.NewMethod("do", func(ctx context.Context, _ *cpi.Call, _ struct{}) (any, error) {
			cancel(signal)
			<-ctx.Done()
			return nil, end(ctx)
		})
		return serveAPI(ctx, strings.NewReader(callDo), threeVersions(method))
	}

	It("is named in the answer, with what the method says", func() {
		answer := interruptedIn(func(context.Context) error {
			return &cpi.Error{Type: cpi.VMCreationFailed, Message: "no VM was made", OKToRetry: true}
		})
		Expect(answer.err.Type).To(Equal(cpi.VMCreationFailed))
		Expect(answer.err.Message).To(Equal("interrupted by SIGTERM: no VM was made"))
		Expect(*answer.err.OKToRetry).To(BeTrue())
	})

	It("is no fault of the CPI", func() {
		answer := interruptedIn(func(ctx context.Context) error { return ctx.Err() })
		Expect(answer.err.Type).To(Equal(cpi.CloudError))
		Expect(answer.err.Message).To(Equal("interrupted by SIGTERM: context canceled"))
	})

	It("does not spoil a method that is done", func() {
		ctx, cancel := context.WithCancelCause(context.Background())
		method := cpi.NewMethod("do", func(context.Context, *cpi.Call, struct{}) (any, error) {
			cancel(signal)
			return "done", nil
		})
		answer := serveAPI(ctx, strings.NewReader(callDo), threeVersions(method))
		Expect(answer.err).To(BeNil())
		Expect(answer.result).To(MatchJSON(`"done"`))
	})

	It("is answered even while the request is awaited", func() {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(signal)
		stdin, neverClosed := io.Pipe()
		defer neverClosed.Close()
		answer := serveAPI(ctx, stdin, threeVersions())
		Expect(answer.err.Type).To(Equal(cpi.CloudError))
		Expect(answer.err.Message).To(Equal("interrupted by SIGTERM while waiting for a request on stdin"))
	})
})

var _ = Describe("The log", func() {
	Describe("in the answer", func() {
		It("sums a success up in one line", func() {
			Expect(serve(callDo, returning("do", nil, nil)).log).To(MatchRegexp(`^do req-7: done in \d+\.\d\d s$`))
		})

		It("tells what the method did", func() {
			method := cpi.NewMethod("do", func(_ context.Context, call *cpi.Call, _ struct{}) (any, error) {
				call.Figures = func() string { return "3 calls" }
				return nil, nil
			})
			Expect(serve(callDo, method).log).To(MatchRegexp(`^do req-7: done in \d+\.\d\d s, 3 calls$`))
		})

		It("sums a failure up and tells the chain of its causes, once each", func() {
			root := errors.New("connection reset")
			middle := fmt.Errorf("DescribeVolumes: %w", root)
			answer := serve(callDo, returning("do", nil, &cpi.Error{Type: cpi.CloudError, Message: "the disk cannot be found", Cause: middle}))
			Expect(strings.Split(answer.log, "\n")).To(HaveExactElements(
				MatchRegexp(`^do req-7: failed in \d+\.\d\d s$`),
				Equal("the disk cannot be found"),
				Equal("  caused by: DescribeVolumes: connection reset"),
			))
			Expect(answer.err.Message).To(Equal("the disk cannot be found"), "the causes are not in the message")
		})

		It("is there for a request that cannot be read", func() {
			Expect(serve(`nonsense`).log).To(MatchRegexp(`(?s)^request cpi-[a-z2-7]{12}: failed in \d+\.\d\d s\nthe request is not valid JSON`))
		})
	})

	Describe("on stderr", func() {
		logging := cpi.NewMethod("do", func(_ context.Context, call *cpi.Call, _ struct{}) (any, error) {
			call.Logger.Debug(call.Tag, "a debug line")
			call.Logger.Info(call.Tag, "an info line")
			call.Logger.Warn(call.Tag, "a warning")
			return nil, cpi.Errorf(cpi.CloudError, "refused: %w", errors.New("why"))
		})
		lines := func(stderr string) []string { return strings.Split(strings.TrimSuffix(stderr, "\n"), "\n") }

		It("has method and request id in every line", func() {
			all := lines(serve(callDo, logging).stderr)
			Expect(len(all)).To(BeNumerically(">=", 5))
			Expect(all).To(HaveEach(HavePrefix("[do req-7] ")))
		})

		It("has the id that was made when the caller sent none", func() {
			var id string
			method := cpi.NewMethod("do", func(_ context.Context, call *cpi.Call, _ struct{}) (any, error) {
				id = call.RequestID
				return nil, errors.New("failed")
			})
			all := lines(serve(`{"method":"do","arguments":[]}`, method).stderr)
			Expect(all).To(HaveEach(HavePrefix("[do " + id + "] ")))
		})

		It("has an id even when the request cannot be read", func() {
			Expect(lines(serve(`nonsense`).stderr)).To(HaveEach(MatchRegexp(`^\[cpi-[a-z2-7]{12}\] `)))
		})

		It("tells an error with its type and causes, and closes with the summary", func() {
			all := lines(serve(callDo, logging).stderr)
			Expect(all[len(all)-2]).To(ContainSubstring("ERROR - Bosh::Clouds::CloudError: refused: why"))
			Expect(all[len(all)-1]).To(MatchRegexp(`INFO - do req-7: failed in \d+\.\d\d s$`))
		})

		DescribeTable("is as detailed as the configuration says",
			func(level boshlog.LogLevel, expected ...string) {
				load := func() (cpi.API, boshlog.LogLevel, error) { return threeVersions(logging), level, nil }
				stderr := serveLoaded(context.Background(), strings.NewReader(callDo), load).stderr
				for _, line := range []string{"a debug line", "an info line", "a warning", "refused"} {
					if contains(expected, line) {
						Expect(stderr).To(ContainSubstring(line))
					} else {
						Expect(stderr).NotTo(ContainSubstring(line))
					}
				}
			},
			Entry("debug", boshlog.LevelDebug, "a debug line", "an info line", "a warning", "refused"),
			Entry("info", boshlog.LevelInfo, "an info line", "a warning", "refused"),
			Entry("warn", boshlog.LevelWarn, "a warning", "refused"),
			Entry("error", boshlog.LevelError, "refused"),
			Entry("none", boshlog.LevelNone),
		)
	})
})

func contains(list []string, one string) bool {
	for _, each := range list {
		if each == one {
			return true
		}
	}
	return false
}
