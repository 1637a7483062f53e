package aws

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// answered is the SDK's error for an AWS error code.
func answered(status int, code string) error {
	return withStatus(status, &smithy.GenericAPIError{Code: code, Message: "because"})
}

func withStatus(status int, err error) error { return sdkError(status, "aws-1", err) }

// unsent is the SDK's error for a request that failed on its way: it has a
// response, too, with status 0.
func unsent(err error) error {
	return sdkError(0, "", &smithyhttp.RequestSendError{Err: &url.Error{Op: "Post", URL: "https://ec2", Err: err}})
}

func sdkError(status int, requestID string, err error) error {
	return &smithy.OperationError{ServiceID: "EC2", OperationName: "DescribeVolumes", Err: &awshttp.ResponseError{
		RequestID:     requestID,
		ResponseError: &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}}, Err: err},
	}}
}

func onNetwork(operation string, err error) error {
	return &net.OpError{Op: operation, Net: "tcp", Err: os.NewSyscallError(operation, err)}
}

var _ = Describe("A failed attempt", func() {
	DescribeTable("is throttling", func(code string, status int) {
		err := answered(status, code)
		Expect(classify(err)).To(Equal(throttled))
		Expect(isUncertain(err)).To(BeFalse(), "what is throttled did not happen")
	},
		Entry(nil, "RequestLimitExceeded", 503),
		Entry(nil, "Throttling", 400),
		Entry(nil, "ThrottlingException", 400),
		Entry(nil, "RequestThrottled", 400),
		Entry(nil, "RequestThrottledException", 400),
		Entry(nil, "EC2ThrottledException", 503),
		Entry(nil, "SlowDown", 503),
	)

	DescribeTable("is a refusal that no retry gets round", func(code string, status int) {
		err := answered(status, code)
		Expect(classify(err)).To(Equal(permanent))
		Expect(isUncertain(err)).To(BeFalse())
		Expect(IsCapacity(failure(err, ""))).To(BeTrue())
		Expect(IsPassing(failure(err, ""))).To(BeFalse())
	},
		Entry(nil, "InsufficientInstanceCapacity", 500),
		Entry(nil, "InsufficientHostCapacity", 500),
		Entry(nil, "InsufficientReservedInstanceCapacity", 500),
		Entry(nil, "SpotMaxPriceTooLow", 400),
		Entry(nil, "MaxSpotInstanceCountExceeded", 400),
		Entry(nil, "Unsupported", 400),
		Entry(nil, "InstanceLimitExceeded", 400),
		Entry(nil, "VcpuLimitExceeded", 400),
	)

	const certain, uncertain = false, true

	DescribeTable("is classified for the retry, and is certain or may have been carried out",
		func(err error, expected fault, maybe bool) {
			Expect(classify(err)).To(Equal(expected))
			Expect(isUncertain(err)).To(Equal(maybe))
			Expect(IsMaybe(failure(err, "volume vol-1"))).To(Equal(maybe))
			Expect(IsPassing(failure(err, "volume vol-1"))).To(Equal(expected != permanent))
		},
		Entry("a refusal", answered(400, "InvalidVolume.NotFound"), permanent, certain),
		Entry("a missing permission", answered(403, "UnauthorizedOperation"), permanent, certain),
		Entry("an internal error of AWS", answered(500, "InternalError"), transient, uncertain),
		Entry("an unknown error of AWS", answered(500, "Whatever"), transient, uncertain),
		Entry("a gateway's error", answered(502, ""), transient, uncertain),
		Entry("unavailable", answered(503, "Unavailable"), transient, uncertain),
		Entry("a gateway that waited too long", answered(504, ""), transient, uncertain),
		Entry("too many requests, without a throttling code", answered(429, "Other"), transient, uncertain),
		Entry("a connection that was reset", unsent(onNetwork("read", syscall.ECONNRESET)), transient, uncertain),
		Entry("a broken pipe", unsent(onNetwork("write", syscall.EPIPE)), transient, uncertain),
		Entry("a connection that was closed without an answer", unsent(io.EOF), transient, uncertain),
		Entry("a timeout", unsent(os.ErrDeadlineExceeded), transient, uncertain),
		Entry("an answer that broke off", withStatus(200, fmt.Errorf("decoding: %w", io.ErrUnexpectedEOF)), transient, uncertain),
		Entry("an answer that broke off and cannot be read", withStatus(200, &smithy.DeserializationError{Err: io.ErrUnexpectedEOF}), transient, uncertain),
		Entry("an answer that is garbage", withStatus(200, &smithy.DeserializationError{Err: errors.New("XML syntax error")}), permanent, uncertain),
		Entry("a connection that was refused", unsent(onNetwork("dial", syscall.ECONNREFUSED)), transient, certain),
		Entry("a host that nobody knows", unsent(&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", IsNotFound: true}}), transient, certain),
		Entry("a certificate that nobody vouches for", unsent(&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}), permanent, certain),
		Entry("HTML with status 200", unsent(&unexpectedAnswer{status: 200}), permanent, uncertain),
		Entry("HTML with status 403", unsent(&unexpectedAnswer{status: 403}), permanent, uncertain),
		Entry("HTML with status 503", unsent(&unexpectedAnswer{status: 503}), transient, uncertain),
		Entry("a call that was cancelled", &smithy.OperationError{Err: &smithy.CanceledError{Err: errors.New("context canceled")}}, permanent, certain),
		Entry("a fault of our own", errors.New("bad parameter"), permanent, certain),
	)
})

var _ = Describe("A failed call", func() {
	It("tells call, resource, AWS's code, message and request id", func() {
		err := failure(answered(400, "InvalidVolume.NotFound"), "volume vol-1")
		Expect(err).To(MatchError("DescribeVolumes (volume vol-1): InvalidVolume.NotFound: because (AWS request id aws-1)"))
		Expect(Code(err)).To(Equal("InvalidVolume.NotFound"))
		Expect(errors.Unwrap(err)).To(BeAssignableToTypeOf(&smithy.OperationError{}))
	})

	It("tells what happened to the connection when no AWS answered", func() {
		err := failure(unsent(onNetwork("dial", syscall.ECONNREFUSED)), "volume vol-1")
		Expect(err).To(MatchError(And(HavePrefix("DescribeVolumes (volume vol-1): "), ContainSubstring("connection refused"))))
		Expect(Code(err)).To(BeEmpty())
	})

	It("tells what answered instead of AWS", func() {
		err := failure(unsent(&unexpectedAnswer{host: "proxy:3128", status: 403, contentType: "text/html", start: "<html>no"}), "volume vol-1")
		Expect(err).To(MatchError(`DescribeVolumes (volume vol-1): proxy:3128 answered HTTP status 403 with "text/html" instead of an AWS response (it begins: "<html>no"); check the endpoint and any proxy on the way`))
	})

	It("does without what is not known", func() {
		Expect(failure(errors.New("why"), "")).To(MatchError("AWS call: why"))
		Expect(&Error{Action: "RunInstances", Code: "X", Message: "y"}).To(MatchError("RunInstances: X: y"))
	})

	It("has its code inside other errors, too", func() {
		err := fmt.Errorf("outside: %w", failure(answered(400, "IncorrectState"), ""))
		Expect(HasCode(err, "VolumeInUse", "IncorrectState")).To(BeTrue())
		Expect(HasCode(err, "VolumeInUse")).To(BeFalse())
		Expect(HasCode(errors.New("x"), "")).To(BeFalse())
		Expect(HasCode(nil, "IncorrectState")).To(BeFalse())
	})

	DescribeTable("says that AWS does not know a resource",
		func(code string, unknown bool) {
			Expect(IsNotFound(&Error{Code: code})).To(Equal(unknown))
			Expect(IsNotFound(answered(400, code))).To(Equal(unknown))
		},
		Entry("an instance", "InvalidInstanceID.NotFound", true),
		Entry("an id that cannot be one", "InvalidInstanceID.Malformed", true),
		Entry("a volume", "InvalidVolume.NotFound", true),
		Entry("a target group", "TargetGroupNotFound", true),
		Entry("a load balancer", "LoadBalancerNotFound", true),
		Entry("a resource of EBS", "ResourceNotFoundException", true),
		Entry("something else", "IncorrectState", false),
		Entry("no code", "", false),
	)

	DescribeTable("says that an id is none, although EC2 calls it an invalid value",
		func(message, code string) {
			err := failure(withStatus(400, &smithy.GenericAPIError{Code: "InvalidParameterValue", Message: message}), "")
			Expect(Code(err)).To(Equal(code))
			Expect(IsNotFound(err)).To(Equal(code != "InvalidParameterValue"))
		},
		Entry("a volume's", "Value (x) for parameter volumes is invalid. Expected: 'vol-...'.", "InvalidVolumeID.Malformed"),
		Entry("a snapshot's", "Value (x) for parameter snapshotId is invalid. Expected: 'snap-...'.", "InvalidSnapshotID.Malformed"),
		Entry("an instance's", "Value (x) for parameter instanceId is invalid. Expected: 'i-...'.", "InvalidInstanceID.Malformed"),
		Entry("a subnet's", "Value (x) for parameter subnetId is invalid. Expected: 'subnet-...'.", "InvalidSubnetID.Malformed"),
		Entry("no id", "Value (/dev/sdf) for parameter device is invalid. /dev/sdf is already in use", "InvalidParameterValue"),
	)

	DescribeTable("says that a spot launch was refused as such",
		func(code string, refused bool) { Expect(IsSpotRefusal(&Error{Code: code})).To(Equal(refused)) },
		Entry(nil, "SpotMaxPriceTooLow", true),
		Entry(nil, "MaxSpotInstanceCountExceeded", true),
		Entry(nil, "InsufficientInstanceCapacity", true),
		Entry(nil, "InvalidParameterValue", false),
		Entry(nil, "VcpuLimitExceeded", false),
		Entry(nil, "UnauthorizedOperation", false),
	)

	DescribeTable("says that a permission is missing",
		func(code string, missing bool) { Expect(IsPermission(&Error{Code: code})).To(Equal(missing)) },
		Entry(nil, "UnauthorizedOperation", true),
		Entry(nil, "AccessDenied", true),
		Entry(nil, "AccessDeniedException", true),
		Entry(nil, "AuthFailure", false),
	)

	DescribeTable("says that an address is taken",
		func(code string, taken bool) { Expect(IsAddressInUse(&Error{Code: code})).To(Equal(taken)) },
		Entry(nil, "InvalidIPAddress.InUse", true),
		Entry(nil, "InvalidNetworkInterface.InUse", false),
	)

	DescribeTable("says of a state that was not reached whether another try may help",
		func(err error, passing bool) { Expect(IsPassing(err)).To(Equal(passing)) },
		Entry("not in time", &Error{late: true}, true),
		Entry("AWS failed inside", &Error{Code: "InternalError"}, true),
		Entry("no capacity", &Error{Code: "InsufficientInstanceCapacity"}, false),
		Entry("the account's fault", &Error{Code: "Client.InternalError"}, false),
		Entry("no reason", &Error{}, false),
		Entry("no error of AWS", errors.New("x"), false),
	)
})
