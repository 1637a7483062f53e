package aws

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("The time between two polls", func() {
	const draws = 300

	DescribeTable("varies by 10 % about",
		func(waited, expected time.Duration) {
			least, most := time.Hour, time.Duration(0)
			for range draws {
				pause := pollInterval(waited)
				Expect(pause).To(BeNumerically(">=", expected*9/10))
				Expect(pause).To(BeNumerically("<=", expected*11/10))
				least, most = min(least, pause), max(most, pause)
			}
			Expect(most-least).To(BeNumerically(">", expected/10), "the processes of a Director keep apart")
		},
		Entry("a second, at first", time.Duration(0), time.Second),
		Entry("a second, before 15 s", 15*time.Second-1, time.Second),
		Entry("2 s, from 15 s on", 15*time.Second, 2*time.Second),
		Entry("2 s, before 30 s", 30*time.Second-1, 2*time.Second),
		Entry("2 s, at 30 s", 30*time.Second, 2*time.Second),
		Entry("5 s, after a minute", time.Minute, 5*time.Second),
		Entry("10 s, after two minutes", 2*time.Minute, 10*time.Second),
		Entry("10 s, after an hour", time.Hour, 10*time.Second),
	)

	It("lets a state be noticed within 1.5 s during the first 15 s", func() {
		for waited := time.Duration(0); waited < 15*time.Second; waited += 100 * time.Millisecond {
			Expect(pollInterval(waited)).To(BeNumerically("<", 1500*time.Millisecond))
		}
		Expect(firstPoll).To(BeNumerically("<", 1500*time.Millisecond))
	})
})

var _ = Describe("The pause before another try", func() {
	DescribeTable("lies anywhere up to a limit that doubles from 0.3 s to 30 s",
		func(n int, limit time.Duration) {
			var most time.Duration
			low := 0
			for range 2000 {
				pause := backoff(n)
				Expect(pause).To(BeNumerically(">=", 0))
				Expect(pause).To(BeNumerically("<=", limit))
				most = max(most, pause)
				if pause < limit/2 {
					low++
				}
			}
			Expect(most).To(BeNumerically(">", limit*9/10))
			Expect(low).To(BeNumerically("~", 1000, 200), "it is spread evenly")
		},
		Entry("0", 0, 300*time.Millisecond),
		Entry("1", 1, 600*time.Millisecond),
		Entry("2", 2, 1200*time.Millisecond),
		Entry("6", 6, 19200*time.Millisecond),
		Entry("7", 7, 30*time.Second),
		Entry("40", 40, 30*time.Second),
		Entry("1000", 1000, 30*time.Second),
	)
})

var _ = Describe("The pause before a throttled call is made again", func() {
	// longest of many is close to the limit, which none is beyond.
	longest := func(n int, held time.Duration) (most time.Duration) {
		for range 2000 {
			most = max(most, throttledBackoff(n, held))
		}
		return most
	}

	DescribeTable("is bounded by the tries so far, and by 3 s or a tenth of the time that was lost",
		func(n int, held, limit time.Duration) {
			Expect(longest(n, held)).To(And(BeNumerically(">", limit*9/10), BeNumerically("<=", limit)))
		},
		Entry("the first", 0, time.Duration(0), 300*time.Millisecond),
		Entry("the third", 2, time.Second, 1200*time.Millisecond),
		Entry("the third, late", 2, time.Hour, 1200*time.Millisecond),
		Entry("the tenth, early", 9, 10*time.Second, 3*time.Second),
		Entry("after 50 s", 30, 50*time.Second, 5*time.Second),
		Entry("after 5 min", 60, 5*time.Minute, 30*time.Second),
		Entry("after 59 min", 300, 59*time.Minute, 30*time.Second),
	)
})

var _ = Describe("Waiting for a state", func() {
	ctx := context.Background()

	It("ends as soon as it is reached", func() {
		c, _ := offline(0)
		polls := 0
		Expect(c.wait(ctx, "AttachVolume", "vol-1", time.Minute, func(context.Context) (bool, error) {
			polls++
			return polls == 3, nil
		})).To(Succeed())
		Expect(polls).To(Equal(3))
	})

	It("ends with the failure of a poll", func() {
		c, _ := offline(0)
		failed := errors.New("gone")
		Expect(c.wait(ctx, "AttachVolume", "vol-1", time.Minute, func(context.Context) (bool, error) { return false, failed })).To(Equal(failed))
	})

	It("ends when the time is up, which another try may get round", virtually(func() {
		c, _ := patient()
		started := time.Now()
		err := c.wait(ctx, "AttachVolume", "volume vol-1 to be attached", 20*time.Second, func(context.Context) (bool, error) { return false, nil })
		Expect(err).To(MatchError("AttachVolume (volume vol-1 to be attached): not reached within 20s"))
		Expect(IsPassing(err)).To(BeTrue())
		Expect(time.Since(started)).To(BeNumerically("~", 20*time.Second, 3*time.Second), "but for the last pause")
	}))

	It("ends at a signal, whose name is the cause", func() {
		c, _ := offline(0)
		interrupted, interrupt := context.WithCancelCause(ctx)
		signal := errors.New("interrupted by SIGTERM")
		err := c.wait(interrupted, "AttachVolume", "vol-1", time.Hour, func(context.Context) (bool, error) {
			interrupt(signal)
			return false, nil
		})
		Expect(err).To(MatchError(signal))
		Expect(IsPassing(err)).To(BeFalse())
	})

	It("tells about every 30 s that it goes on", virtually(func() {
		c, log := patient()
		started := time.Now()
		_ = c.wait(ctx, "AttachVolume", "vol-1", time.Hour, func(context.Context) (bool, error) {
			return time.Since(started) > 75*time.Second, nil
		})
		Expect(strings.Count(log.String(), "still waiting for vol-1")).To(Equal(2))
	}))

	It("says nothing when it is short", func() {
		c, log := offline(0)
		Expect(c.wait(ctx, "AttachVolume", "vol-1", time.Hour, func(context.Context) (bool, error) { return true, nil })).To(Succeed())
		Expect(log.String()).To(BeEmpty())
	})

	It("polls every 5 s once AWS has throttled a poll", virtually(func() {
		slept := func(throttled ...int) time.Duration {
			c, _ := patient()
			polls := 0
			Expect(c.wait(ctx, "AttachVolume", "vol-1", time.Hour, func(context.Context) (bool, error) {
				polls++
				c.figures.call(slices.Contains(throttled, polls))
				return polls == 4, nil
			})).To(Succeed())
			return c.figures.waited
		}
		// Half a second and three pauses, less or more 10 %.
		Expect(slept()).To(BeNumerically("~", 3500*time.Millisecond, 350*time.Millisecond))
		Expect(slept(1)).To(BeNumerically("~", 15500*time.Millisecond, 1550*time.Millisecond))
		Expect(slept(2, 3)).To(BeNumerically("~", 11500*time.Millisecond, 1150*time.Millisecond))
	}))
})

var _ = Describe("A resource that AWS does not know", func() {
	ctx := context.Background()
	unknown := &Error{Code: "InvalidVolume.NotFound"}
	// answers returns these errors call by call, the last one for ever.
	answers := func(errs ...error) (call func() error, made *int) {
		made = new(int)
		return func() error {
			*made++
			return errs[min(*made, len(errs))-1]
		}, made
	}

	Context("and that the caller named", func() {
		It("is asked for three times, 3 s in all", virtually(func() {
			c, _ := patient()
			started := time.Now()
			call, made := answers(unknown)
			Expect(c.graced(ctx, call)).To(Equal(unknown))
			Expect(*made).To(Equal(3))
			Expect(c.figures.waited).To(Equal(3 * time.Second))
			Expect(time.Since(started)).To(Equal(3 * time.Second))
		}))

		It("may appear meanwhile", func() {
			c, _ := offline(0)
			call, made := answers(unknown, nil)
			Expect(c.graced(ctx, call)).To(Succeed())
			Expect(*made).To(Equal(2))
		})

		DescribeTable("is asked for once when asking again cannot help",
			func(err error) {
				c, _ := offline(0)
				call, made := answers(err)
				_ = c.graced(ctx, call)
				Expect(*made).To(Equal(1))
			},
			Entry("no id", &Error{Code: "InvalidInstanceID.Malformed"}),
			Entry("another failure", &Error{Code: "UnauthorizedOperation"}),
			Entry("no failure", nil),
		)
	})

	Context("and that this call made", func() {
		It("is asked for until it appears", func() {
			c, log := offline(0)
			call, made := answers(unknown, unknown, unknown, unknown, unknown, nil)
			Expect(c.visible(ctx, "InvalidVolume.NotFound", call)).To(Succeed())
			Expect(*made).To(Equal(6))
			Expect(log.String()).To(ContainSubstring("not visible yet (InvalidVolume.NotFound)"))
		})

		It("is asked for during about a minute", virtually(func() {
			c, _ := patient()
			call, made := answers(unknown)
			started := time.Now()
			err := c.visible(ctx, "InvalidVolume.NotFound", call)
			Expect(err).To(MatchError(ContainSubstring("does not know it yet, after 1m0s: InvalidVolume.NotFound")))
			Expect(IsNotFound(err)).To(BeFalse(), "nobody named it")
			Expect(IsPassing(err)).To(BeTrue())
			Expect(time.Since(started)).To(BeNumerically("~", time.Minute, 2*time.Second))
			Expect(*made).To(BeNumerically("~", 61, 6), "about once a second")
		}))

		DescribeTable("is asked for once when something else is wrong",
			func(err error) {
				c, _ := offline(0)
				call, made := answers(err)
				_ = c.visible(ctx, "InvalidVolume.NotFound", call)
				Expect(*made).To(Equal(1))
			},
			Entry("another resource", &Error{Code: "InvalidInstanceID.NotFound"}),
			Entry("another failure", errors.New("x")),
		)
	})

	It("is no longer asked for after a signal", func() {
		interrupted, interrupt := context.WithCancel(ctx)
		interrupt()
		c, _ := offline(0)
		c.timing.Scale = 1
		call, made := answers(unknown)
		Expect(c.graced(interrupted, call)).To(Equal(unknown))
		Expect(c.visible(interrupted, "InvalidVolume.NotFound", call)).To(Equal(unknown))
		Expect(*made).To(Equal(2))
	})
})

var _ = Describe("A call whose answer was lost", func() {
	ctx := context.Background()
	lost := &Error{Action: "CreateSnapshot", Message: "reset", Maybe: true}
	refused := &Error{Action: "CreateSnapshot", Code: "InvalidVolume.NotFound"}

	// calls is a call that fails so often with err, then makes "made".
	calls := func(times int, err error) (call func() (string, error), made *int) {
		made = new(int)
		return func() (string, error) {
			if *made++; *made <= times {
				return "", err
			}
			return "made", nil
		}, made
	}
	// finds shows "found" at look n, from 1 on; never when n is 0.
	finds := func(n int) (find[string], *int) {
		looked := new(int)
		return func(context.Context) (string, bool, error) {
			*looked++
			return "found", *looked == n, nil
		}, looked
	}

	It("has no effect to look for when its answer came", func() {
		c, _ := offline(8)
		for _, err := range []error{nil, refused} {
			call, made := calls(1, err)
			find, looked := finds(1)
			_, got := recovered(ctx, c, call, find)
			if err == nil {
				Expect(got).NotTo(HaveOccurred())
			} else {
				Expect(got).To(Equal(err))
			}
			Expect(*made).To(Equal(1))
			Expect(*looked).To(BeZero())
		}
	})

	It("has its effect looked for, and what is found is the result", func() {
		c, log := offline(8)
		call, made := calls(9, lost)
		find, looked := finds(1)
		Expect(recovered(ctx, c, call, find)).To(Equal("found"))
		Expect(*made).To(Equal(1))
		Expect(*looked).To(Equal(1))
		Expect(log.String()).To(ContainSubstring("the answer was lost, looking whether it happened: CreateSnapshot: reset"))
	})

	It("may show its effect late", func() {
		c, _ := offline(8)
		call, _ := calls(9, lost)
		find, looked := finds(3)
		Expect(recovered(ctx, c, call, find)).To(Equal("found"))
		Expect(*looked).To(Equal(3))
	})

	It("is a failure when there is nothing to be found, or looking fails", func() {
		c, _ := offline(8)
		call, made := calls(9, lost)
		find, looked := finds(0)
		_, err := recovered(ctx, c, call, find)
		Expect(err).To(Equal(lost))
		Expect(*looked).To(Equal(3))

		_, err = recovered(ctx, c, call, func(context.Context) (string, bool, error) { return "", false, errors.New("no permission") })
		Expect(err).To(Equal(lost))
		Expect(*made).To(Equal(2))
	})

	It("is looked for even after a signal: what it made has to be undone", func() {
		interrupted, interrupt := context.WithCancel(ctx)
		interrupt()
		c, _ := offline(8)
		call, _ := calls(9, lost)
		Expect(recovered(interrupted, c, call, func(ctx context.Context) (string, bool, error) { return "found", ctx.Err() == nil, nil })).To(Equal("found"))
	})

	Context("that takes no ClientToken", func() {
		It("is made again only when it is known not to have happened", func() {
			c, _ := offline(8)
			call, made := calls(2, lost)
			find, looked := finds(0)
			Expect(once(ctx, c, call, find)).To(Equal("made"))
			Expect(*made).To(Equal(3))
			Expect(*looked).To(Equal(6), "three looks after each lost answer")
		})

		It("is not made again when it happened", func() {
			c, _ := offline(8)
			call, made := calls(9, lost)
			find, _ := finds(2)
			Expect(once(ctx, c, call, find)).To(Equal("found"))
			Expect(*made).To(Equal(1))
		})

		It("is made again at most max_retries times", func() {
			c, _ := offline(2)
			call, made := calls(99, lost)
			find, _ := finds(0)
			_, err := once(ctx, c, call, find)
			Expect(err).To(Equal(lost))
			Expect(*made).To(Equal(3))
		})

		It("is not made again when AWS refuses it, or after a signal", func() {
			c, _ := offline(8)
			find, _ := finds(0)
			call, made := calls(99, refused)
			_, err := once(ctx, c, call, find)
			Expect(err).To(Equal(refused))
			Expect(*made).To(Equal(1))

			interrupted, interrupt := context.WithCancel(ctx)
			interrupt()
			call, made = calls(99, lost)
			_, err = once(interrupted, c, call, find)
			Expect(err).To(Equal(lost))
			Expect(*made).To(Equal(1))
		})
	})
})
