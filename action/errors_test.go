package action

import (
	"context"
	"errors"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/aws"
	"bosh-aws-cpi/cpi"
)

var _ = Describe("An error of AWS", func() {
	of := func(code string) error {
		return &aws.Error{Action: "SomeCall", Resource: "thing x-1", Code: code, Message: "because", RequestID: "aws-1"}
	}

	DescribeTable("is answered with the Director's type",
		func(code string, kind cpi.ErrorType) {
			Expect(answered("do_it", of(code))).To(beTyped(kind, HavePrefix("do_it: SomeCall (thing x-1): "+code+": because (AWS request id aws-1)")))
			Expect(answered("do_it", fmt.Errorf("outside: %w", of(code)))).To(beTyped(kind, HavePrefix("do_it: outside: SomeCall")))
		},
		Entry(nil, "InvalidInstanceID.NotFound", cpi.VMNotFound),
		Entry(nil, "InvalidInstanceID.Malformed", cpi.VMNotFound),
		Entry(nil, "InvalidVolume.NotFound", cpi.DiskNotFound),
		Entry(nil, "InvalidVolumeID.Malformed", cpi.DiskNotFound),
		Entry(nil, "InvalidSnapshot.NotFound", cpi.DiskNotFound),
		Entry(nil, "InvalidSubnetID.NotFound", cpi.NetworkNotFound),
		Entry(nil, "VolumeLimitExceeded", cpi.NoDiskSpace),
		Entry(nil, "UnauthorizedOperation", cpi.CloudError),
		Entry(nil, "InvalidAMIID.NotFound", cpi.CloudError),
		Entry(nil, "InsufficientInstanceCapacity", cpi.CloudError),
		Entry(nil, "WhoKnows", cpi.CloudError),
	)

	DescribeTable("is answered with what to do about it",
		func(code, remedy string) {
			Expect(answered("do_it", of(code))).To(MatchError(HaveSuffix("; " + remedy)))
		},
		Entry(nil, "UnauthorizedOperation", "the IAM policy of the CPI's credentials lacks this action or the resource"),
		Entry(nil, "InsufficientInstanceCapacity", "use another availability zone or instance type, or try later"),
		Entry(nil, "InvalidKeyPair.NotFound", "check key_name and aws.default_key_name"),
		Entry(nil, "SpotMaxPriceTooLow", "raise spot_bid_price, or set spot_ondemand_fallback"),
	)

	It("keeps its cause for the log", func() {
		cause := of("X")
		Expect(errors.Unwrap(answered("do_it", cause))).To(BeIdenticalTo(cause))
	})

	It("that is answered already passes as it is", func() {
		typed := &cpi.Error{Type: cpi.DiskNotAttached, Message: "elsewhere", OKToRetry: true}
		Expect(answered("do_it", typed)).To(BeIdenticalTo(typed))
	})

	It("that nobody foresaw is a CloudError", func() {
		Expect(answered("do_it", errors.New("odd"))).To(beTyped(cpi.CloudError, "do_it: odd"))
	})

	Describe("in create_vm", func() {
		DescribeTable("tells the Director whether to try again",
			func(err error, kind cpi.ErrorType, retry bool) {
				failed := creationFailed("create_vm", err)
				Expect(failed).To(beTyped(kind, Not(BeEmpty())))
				Expect(failed.(*cpi.Error).OKToRetry).To(Equal(retry))
			},
			Entry("no capacity", of("InsufficientInstanceCapacity"), cpi.VMCreationFailed, false),
			Entry("no capacity, of a host", of("InsufficientHostCapacity"), cpi.VMCreationFailed, false),
			Entry("no capacity, reserved", of("InsufficientReservedInstanceCapacity"), cpi.VMCreationFailed, false),
			Entry("a spot price too low", of("SpotMaxPriceTooLow"), cpi.VMCreationFailed, false),
			Entry("too many spot instances", of("MaxSpotInstanceCountExceeded"), cpi.VMCreationFailed, false),
			Entry("unsupported", of("Unsupported"), cpi.VMCreationFailed, false),
			Entry("a limit of instances", of("InstanceLimitExceeded"), cpi.VMCreationFailed, false),
			Entry("a limit of vCPUs", of("VcpuLimitExceeded"), cpi.VMCreationFailed, false),
			Entry("a missing permission", of("UnauthorizedOperation"), cpi.VMCreationFailed, false),
			Entry("AWS failed inside", of("InternalError"), cpi.VMCreationFailed, true),
			Entry("the account's key cannot be used", of("Client.InternalError"), cpi.VMCreationFailed, false),
			Entry("an unknown subnet", of("InvalidSubnetID.NotFound"), cpi.NetworkNotFound, false),
			Entry("an unknown disk", of("InvalidVolume.NotFound"), cpi.DiskNotFound, false),
			Entry("no room for a disk", of("VolumeLimitExceeded"), cpi.NoDiskSpace, false),
			Entry("bad cloud properties", invalid("create_vm", "key_name: wrong"), cpi.CloudError, false),
			Entry("a fault of the CPI", cpi.Errorf(cpi.CpiError, "panic"), cpi.CpiError, false),
			Entry("what is typed for it already", cpi.Errorf(cpi.VMCreationFailed, "no image"), cpi.VMCreationFailed, false),
		)
	})
})

var _ = Describe("Undoing a failed call", func() {
	cause := &aws.Error{Action: "RunInstances", Code: "InsufficientInstanceCapacity", Message: "no room"}
	var (
		log  fmt.Stringer
		made undo
		done []string
	)
	BeforeEach(func() {
		session, buffer := testSession("create_vm", Config{})
		log, made, done = buffer, undo{s: session}, nil
	})
	// step is one that does, and fails with err.
	step := func(what string, err error) (string, func(context.Context) error) {
		return what, func(context.Context) error {
			done = append(done, what)
			return err
		}
	}

	It("goes from the newest to the oldest and answers the cause", func() {
		made.add(step("network interface eni-1", nil))
		made.add(step("network interface eni-2", nil))
		made.add(step("instance i-1", nil))
		Expect(made.run(context.Background(), cause)).To(BeIdenticalTo(error(cause)))
		Expect(done).To(Equal([]string{"instance i-1", "network interface eni-2", "network interface eni-1"}))
		Expect(log.String()).To(ContainSubstring("undone: instance i-1"))
	})

	It("does nothing when nothing was made", func() {
		Expect(made.run(context.Background(), cause)).To(BeIdenticalTo(error(cause)))
		Expect(log.String()).To(BeEmpty())
	})

	It("does not stop at a step that fails, and tells what stays behind", func() {
		made.add(step("network interface eni-1", errors.New("in use")))
		made.add(step("network interface eni-2", nil))
		made.add(step("instance i-1", errors.New("protected")))
		err := made.run(context.Background(), cause)
		Expect(done).To(HaveLen(3))
		Expect(err).To(MatchError(cause.Error() + "; and this could not be undone and must be removed or put right by hand: instance i-1 (protected); network interface eni-1 (in use)"))
		Expect(aws.HasCode(err, "InsufficientInstanceCapacity")).To(BeTrue(), "the first cause is still known")
		Expect(creationFailed("create_vm", err)).To(beTyped(cpi.VMCreationFailed, And(ContainSubstring("no room"), ContainSubstring("instance i-1 (protected)"))))
	})

	It("keeps the type of the cause beside what stays behind", func() {
		made.add(step("instance i-1", errors.New("protected")))
		typed := &cpi.Error{Type: cpi.VMCreationFailed, Message: "address taken", OKToRetry: true}
		err := made.run(context.Background(), typed)
		Expect(err).To(beTyped(cpi.VMCreationFailed, And(HavePrefix("address taken; and this could not be undone"), ContainSubstring("instance i-1 (protected)"))))
		Expect(err.(*cpi.Error).OKToRetry).To(BeTrue())
		Expect(typed.Message).To(Equal("address taken"))
	})

	It("goes on after a signal, within a time limit of its own", func() {
		interrupted, interrupt := context.WithCancel(context.Background())
		interrupt()
		made.add("network interface eni-1", func(ctx context.Context) error {
			done = append(done, "network interface eni-1")
			return ctx.Err()
		})
		made.add("instance i-1", func(ctx context.Context) error {
			Expect(ctx.Err()).NotTo(HaveOccurred())
			_, limited := ctx.Deadline()
			Expect(limited).To(BeTrue())
			<-ctx.Done()
			return ctx.Err()
		})
		started := time.Now()
		Expect(made.run(interrupted, cause)).To(MatchError(ContainSubstring("instance i-1 (context deadline exceeded); network interface eni-1")))
		Expect(time.Since(started)).To(BeNumerically("<", 5*time.Second))
		Expect(done).To(HaveLen(1), "what comes after the limit is tried all the same")
	})

	DescribeTable("includes a step unless it was certainly refused",
		func(err error, included bool) {
			got := made.addUnlessRefused(err, "route", func(context.Context) error { return nil })
			Expect(errors.Is(got, err)).To(BeTrue())
			Expect(made.steps).To(HaveLen(map[bool]int{true: 1, false: 0}[included]))
		},
		Entry("done", nil, true),
		Entry("its answer lost", &aws.Error{Maybe: true}, true),
		Entry("refused", &aws.Error{Code: "InvalidRouteTableID.NotFound"}, false),
	)
})

var _ = Describe("Tasks side by side", func() {
	It("are all waited for, and the first error counts", func() {
		s, _ := testSession("create_vm", Config{})
		first := errors.New("first")
		ended := make(chan error, 2)
		waiting := func(ctx context.Context) error {
			<-ctx.Done()
			ended <- ctx.Err()
			return ctx.Err()
		}
		Expect(s.concurrently(context.Background(), waiting, func(context.Context) error { return first }, waiting)).To(BeIdenticalTo(first))
		Expect(ended).To(HaveLen(2))
	})

	It("may all succeed, or be none", func() {
		s, _ := testSession("create_vm", Config{})
		Expect(s.concurrently(context.Background())).To(Succeed())
		Expect(s.concurrently(context.Background(), func(context.Context) error { return nil })).To(Succeed())
	})

	It("are an error when one panics", func() {
		s, log := testSession("create_vm", Config{})
		err := s.concurrently(context.Background(), func(context.Context) error { panic("oh no") })
		Expect(err).To(beTyped(cpi.CpiError, And(HavePrefix("create_vm: "), ContainSubstring("oh no"))))
		Expect(log.String()).To(ContainSubstring("errors_test.go"), "the stack is in the log")
	})
})
