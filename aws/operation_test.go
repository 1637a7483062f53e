package aws

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("One AWS call", func() {
	newOperation := func(name string, maxRetries int) *operation {
		c, _ := offline(maxRetries)
		return &operation{client: c, name: name}
	}
	// granted counts the retries that a failure is granted, up to 200.
	granted := func(o *operation, err error) int {
		for n := range 200 {
			if !o.IsErrorRetryable(err) {
				return n
			}
		}
		return 200
	}

	It("sets no limit of attempts beside its own", func() {
		Expect(newOperation("DescribeVolumes", 8).MaxAttempts()).To(BeZero())
	})

	DescribeTable("is tried again after a failure as often as max_retries says",
		func(err error) {
			Expect(granted(newOperation("DescribeVolumes", 0), err)).To(Equal(0))
			Expect(granted(newOperation("DescribeVolumes", 3), err)).To(Equal(3))
		},
		Entry("an internal error", answered(500, "InternalError")),
		Entry("429", answered(429, "")),
		Entry("503", answered(503, "Unavailable")),
		Entry("a reset", unsent(onNetwork("read", syscall.ECONNRESET))),
		Entry("a refused connection", unsent(onNetwork("dial", syscall.ECONNREFUSED))),
		Entry("a proxy's error page", unsent(&unexpectedAnswer{status: 502})),
	)

	DescribeTable("is never tried again",
		func(err error) { Expect(granted(newOperation("RunInstances", 8), err)).To(Equal(0)) },
		Entry("without capacity", answered(500, "InsufficientInstanceCapacity")),
		Entry("beyond a limit", answered(400, "VcpuLimitExceeded")),
		Entry("when AWS refuses it", answered(400, "InvalidParameterValue")),
		Entry("when HTML comes back as if all were well", unsent(&unexpectedAnswer{status: 200})),
	)

	Context("while AWS throttles", func() {
		throttling := answered(503, "RequestLimitExceeded")

		It("is tried again however few retries a failure has", func() {
			Expect(granted(newOperation("DescribeVolumes", 0), throttling)).To(Equal(200))
		})

		It("does not use up the retries of a failure", func() {
			o := newOperation("DescribeVolumes", 1)
			Expect(granted(o, throttling)).To(Equal(200))
			Expect(granted(o, answered(500, "InternalError"))).To(Equal(1))
		})

		It("is given up after an hour", func() {
			o := newOperation("DescribeVolumes", 8)
			o.client.timing.Scale = 1
			Expect(o.IsErrorRetryable(throttling)).To(BeTrue())
			o.throttledSince = time.Now().Add(-59 * time.Minute)
			Expect(o.IsErrorRetryable(throttling)).To(BeTrue())
			o.throttledSince = time.Now().Add(-61 * time.Minute)
			Expect(o.IsErrorRetryable(throttling)).To(BeFalse())
		})
	})

	DescribeTable("that would make a second one is not made again blindly",
		func(name string) {
			Expect(granted(newOperation(name, 8), unsent(onNetwork("read", syscall.ECONNRESET)))).To(Equal(0), "the answer was lost")
			Expect(granted(newOperation(name, 8), answered(500, "InternalError"))).To(Equal(0), "AWS failed at work")
			Expect(granted(newOperation(name, 8), unsent(onNetwork("dial", syscall.ECONNREFUSED)))).To(Equal(8), "it was never sent")
			Expect(granted(newOperation(name, 8), answered(503, "RequestLimitExceeded"))).To(Equal(200), "it was not let in")
		},
		Entry(nil, "CreateSnapshot"), Entry(nil, "RegisterImage"), Entry(nil, "CreateSubnet"), Entry(nil, "ModifyVolume"),
		Entry(nil, "AttachVolume"), Entry(nil, "AssociateAddress"), Entry(nil, "CreateRoute"),
	)

	DescribeTable("with a ClientToken is made again",
		func(name string) {
			Expect(granted(newOperation(name, 8), unsent(onNetwork("read", syscall.ECONNRESET)))).To(Equal(8))
		},
		Entry(nil, "RunInstances"), Entry(nil, "CreateVolume"), Entry(nil, "CreateNetworkInterface"), Entry(nil, "CopyImage"),
	)

	DescribeTable("changes something or not",
		func(name string, changes bool) { Expect((&operation{name: name}).changes()).To(Equal(changes)) },
		Entry(nil, "DescribeInstances", false), Entry(nil, "GetConsoleOutput", false), Entry(nil, "ListSnapshotBlocks", false),
		Entry(nil, "RunInstances", true), Entry(nil, "CreateTags", true), Entry(nil, "AssumeRole", true),
	)

	It("pauses longer from try to try, and tells so", func() {
		c, log := offline(8)
		o := &operation{client: c, name: "DescribeVolumes", resources: "vol-1"}
		longest := func() time.Duration {
			o.faults++
			var most time.Duration
			for range 300 {
				pause, err := o.RetryDelay(0, answered(500, "InternalError"))
				Expect(err).NotTo(HaveOccurred())
				most = max(most, pause)
			}
			return most
		}
		first, second, third := longest(), longest(), longest()
		Expect(second).To(BeNumerically(">", first))
		Expect(third).To(BeNumerically(">", second))
		Expect(log.String()).To(ContainSubstring("DescribeVolumes vol-1: trying again in "))
		Expect(c.Figures()).NotTo(ContainSubstring(" 0.0 s waited"))
	})
})

var _ = Describe("AWS, called", func() {
	const volume = `<volumeSet><item><volumeId>vol-1</volumeId><status>available</status></item></volumeSet>`
	// failing answers so many times with an error, then with a volume.
	failing := func(times int, fail func(http.ResponseWriter)) *endpointOfAWS {
		return newEndpoint(func(w http.ResponseWriter, sent url.Values, number int) {
			if number <= times {
				fail(w)
				return
			}
			reply(w, sent.Get("Action"), volume)
		})
	}
	as := func(status int, code string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { refuse(w, status, code) }
	}
	ctx := context.Background()

	It("answers in the end although it throttles more often than max_retries", func() {
		e := failing(12, as(503, "RequestLimitExceeded"))
		c, log := e.client(retries(0))
		found, err := c.Volume(ctx, "vol-1")
		Expect(err).NotTo(HaveOccurred())
		Expect(found.State).To(Equal(VolumeAvailable))
		Expect(e.actions()).To(HaveLen(13))
		Expect(c.Figures()).To(HavePrefix("13 AWS calls, 12 throttled, "))
		Expect(strings.Count(log.String(), "trying again in")).To(Equal(12))
	})

	DescribeTable("is called again when it fails",
		func(fail func(http.ResponseWriter)) {
			e := failing(2, fail)
			c, _ := e.client(retries(2))
			_, err := c.Volume(ctx, "vol-1")
			Expect(err).NotTo(HaveOccurred())
			Expect(e.actions()).To(HaveLen(3))
		},
		Entry("inside", as(500, "InternalError")),
		Entry("as overloaded", as(503, "Unavailable")),
		Entry("with 429", as(429, "TooMany")),
		Entry("by hanging up", hangUp),
		Entry("by breaking off", breakOff),
		Entry("as a proxy does", func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusBadGateway)
			fmt.Fprint(w, "<html><body>Bad gateway</body></html>")
		}),
	)

	It("is called max_retries times more and no more", func() {
		e := failing(99, as(500, "InternalError"))
		c, _ := e.client(retries(2))
		_, err := c.Volume(ctx, "vol-1")
		Expect(err).To(MatchError(ContainSubstring("InternalError: because (AWS request id aws-1)")))
		Expect(e.actions()).To(HaveLen(3))
	})

	It("is called again when nobody listens", func() {
		c, log := newEndpoint(nil).client(retries(2), func(s *Settings) { s.EC2Endpoint = "http://127.0.0.1:1" })
		_, err := c.Volume(ctx, "vol-1")
		Expect(err).To(MatchError(ContainSubstring("connection refused")))
		Expect(IsPassing(err)).To(BeTrue())
		Expect(IsMaybe(err)).To(BeFalse())
		Expect(log.String()).To(ContainSubstring("attempt 3"))
	})

	It("may have done what it refuses in the end, when an earlier answer was lost", func() {
		e := newEndpoint(func(w http.ResponseWriter, sent url.Values, number int) {
			switch {
			case sent.Get("Action") == "DescribeVolumes":
				reply(w, "DescribeVolumes", `<volumeSet><item><volumeId>vol-1</volumeId><createTime>`+time.Now().UTC().Format(time.RFC3339)+`</createTime></item></volumeSet>`)
			case number == 1:
				hangUp(w)
			default:
				refuse(w, 400, "VolumeLimitExceeded")
			}
		})
		c, _ := e.client()
		Expect(c.CreateVolume(ctx, VolumeSpec{AvailabilityZone: "us-east-1a", SizeGiB: 1, Tags: Tags{RequestTag: "r-1"}})).To(Equal("vol-1"))
		Expect(e.actions()).To(Equal([]string{"CreateVolume", "CreateVolume", "DescribeVolumes"}))
	})

	It("is called once when it refuses", func() {
		e := failing(99, as(400, "InvalidVolume.NotFound"))
		c, _ := e.client()
		_, err := c.Volume(ctx, "vol-1")
		Expect(IsNotFound(err)).To(BeTrue())
		Expect(e.actions()).To(HaveLen(1))
	})

	It("is called once when HTML comes back for an answer, and the error says what answered", func() {
		e := newEndpoint(func(w http.ResponseWriter, _ url.Values, _ int) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, "<!DOCTYPE html>\n<title>Log in</title>")
		})
		c, _ := e.client()
		_, err := c.Volume(ctx, "vol-1")
		Expect(err).To(MatchError(And(
			ContainSubstring(strings.TrimPrefix(e.url, "http://")+" answered HTTP status 200"), ContainSubstring("text/html"),
			ContainSubstring("<!DOCTYPE html> <title>Log in"), ContainSubstring("check the endpoint and any proxy"),
		)))
		Expect(e.actions()).To(HaveLen(1))
	})

	It("learns who calls, once, in each attempt", func() {
		e := failing(2, as(500, "InternalError"))
		c, _ := e.client(retries(2))
		_, err := c.Volume(ctx, "vol-1")
		Expect(err).NotTo(HaveOccurred())
		Expect(e.headers).To(HaveLen(3))
		for _, header := range e.headers {
			Expect(header.Get("User-Agent")).To(HaveSuffix(" bosh-aws-cpi/1.2 director/d-1 request/r-1"))
			Expect(strings.Count(header.Get("User-Agent"), "director/")).To(Equal(1))
		}
	})

	It("is logged with call, resource, outcome, milliseconds, attempt and AWS's request id", func() {
		e := failing(1, as(500, "InternalError"))
		c, log := e.client(retries(1))
		_, err := c.Volume(ctx, "vol-1")
		Expect(err).NotTo(HaveOccurred())
		Expect(log.String()).To(MatchRegexp(`INFO - DescribeVolumes vol-1: InternalError, \d+ ms, attempt 1, AWS request id aws-1\n`))
		Expect(log.String()).To(MatchRegexp(`INFO - DescribeVolumes vol-1: ok, \d+ ms, attempt 2, AWS request id aws-2\n`))
	})

	It("gets the same ClientToken in each attempt of one call, and another one in the next", func() {
		e := newEndpoint(func(w http.ResponseWriter, sent url.Values, number int) {
			if number == 1 {
				refuse(w, 500, "InternalError")
				return
			}
			reply(w, sent.Get("Action"), `<volumeId>vol-1</volumeId>`)
		})
		c, _ := e.client()
		for range 2 {
			_, err := c.CreateVolume(ctx, VolumeSpec{AvailabilityZone: "us-east-1a", SizeGiB: 1, Type: "gp3"})
			Expect(err).NotTo(HaveOccurred())
		}
		var tokens []string
		for _, request := range e.requests {
			tokens = append(tokens, request.Get("ClientToken"))
		}
		Expect(tokens).To(HaveLen(3))
		Expect(tokens[0]).To(And(Equal(tokens[1]), Not(BeEmpty())))
		Expect(tokens[2]).NotTo(Equal(tokens[0]))
	})

	It("is not left in the middle of a change by a signal: its answer tells what to undo", func() {
		interrupted, interrupt := context.WithCancel(ctx)
		e := newEndpoint(func(w http.ResponseWriter, sent url.Values, _ int) {
			interrupt()
			reply(w, sent.Get("Action"), `<volumeId>vol-1</volumeId>`)
		})
		c, _ := e.client()
		Expect(c.CreateVolume(interrupted, VolumeSpec{AvailabilityZone: "us-east-1a", SizeGiB: 1})).To(Equal("vol-1"))
	})

	It("is not called again after a signal", func() {
		interrupted, interrupt := context.WithCancel(ctx)
		e := newEndpoint(func(w http.ResponseWriter, _ url.Values, _ int) {
			interrupt()
			refuse(w, 500, "InternalError")
		})
		c, _ := e.client()
		_, err := c.CreateVolume(interrupted, VolumeSpec{AvailabilityZone: "us-east-1a", SizeGiB: 1})
		Expect(err).To(HaveOccurred())
		made := slices.DeleteFunc(e.actions(), func(action string) bool { return action != "CreateVolume" })
		Expect(made).To(HaveLen(1))
	})
})
