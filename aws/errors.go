package aws

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Error is a failed AWS call, or a resource in a state from which it cannot
// get to the wanted one.
type Error struct {
	// Action is the AWS call, RunInstances for example.
	Action string
	// Resource is what the call was about, in words: "volume vol-1".
	Resource string
	// Code is AWS's error code; empty when no AWS answered.
	Code string
	// Message is AWS's own, or says what happened to the connection.
	Message string
	// RequestID is AWS's, for a support case.
	RequestID string
	// Maybe says that the call may have been carried out although it failed:
	// its answer was lost.
	Maybe bool
	late  bool // a state was not reached in time
	cause error
}

// Error tells what failed, on which resource and why.
func (e *Error) Error() string {
	var text strings.Builder
	text.WriteString(e.Action)
	if e.Resource != "" {
		fmt.Fprintf(&text, " (%s)", e.Resource)
	}
	text.WriteString(": ")
	if e.Code != "" {
		fmt.Fprintf(&text, "%s: ", e.Code)
	}
	text.WriteString(e.Message)
	if e.RequestID != "" {
		fmt.Fprintf(&text, " (AWS request id %s)", e.RequestID)
	}
	return text.String()
}

// Unwrap returns the SDK's error.
func (e *Error) Unwrap() error { return e.cause }

// failure turns an SDK error into an *Error about a resource.
func failure(err error, resource string) error {
	failed := &Error{Action: "AWS call", Resource: resource, Message: err.Error(), cause: err, Maybe: isUncertain(err)}
	var operation *smithy.OperationError
	if errors.As(err, &operation) {
		failed.Action = operation.OperationName
		failed.Message = operation.Err.Error()
	}
	var api smithy.APIError
	if errors.As(err, &api) {
		failed.Code = codeOf(api)
		failed.Message = api.ErrorMessage()
	}
	var send *smithyhttp.RequestSendError
	if errors.As(err, &send) {
		failed.Message = "no answer: " + send.Err.Error()
	}
	var untrusted *tls.CertificateVerificationError
	if errors.As(err, &untrusted) {
		failed.Message += "; trust its authority by aws.connection_options.ca_cert, or check the endpoint"
	}
	var unexpected *unexpectedAnswer
	if errors.As(err, &unexpected) {
		failed.Code, failed.Message = "", unexpected.Error()
	}
	var response *awshttp.ResponseError
	if errors.As(err, &response) {
		failed.RequestID = response.ServiceRequestID()
	}
	var unreadable *smithy.DeserializationError
	if errors.As(err, &unreadable) && failed.Code == "" && response != nil && response.Response.Request != nil {
		failed.Message = fmt.Sprintf("the answer of %s with HTTP status %d cannot be read: %s; check the endpoint and any proxy on the way",
			response.Response.Request.URL.Host, response.HTTPStatusCode(), unreadable.Err)
	}
	var credentials *credentialsError
	if errors.As(err, &credentials) {
		failed.tellCredentials(credentials)
	}
	return failed
}

// tellCredentials makes it an error of the call for credentials, if there was
// one: what they were needed for did not even begin.
func (e *Error) tellCredentials(err *credentialsError) {
	e.Maybe = false
	var operation *smithy.OperationError
	if errors.As(err, &operation) {
		e.Action = operation.OperationName
	}
	e.Message += "; " + err.check
}

// incomplete is the error of an answer without what it should have brought. What
// the call makes may be there all the same.
func incomplete(action, resource string) error {
	return &Error{Action: action, Resource: resource, Maybe: true, Message: "AWS answered without saying what it made"}
}

// malformedIDs are the codes for an id that is none, by the beginning that the
// id should have. EC2 has such codes, but answers InvalidParameterValue for an
// id of another kind.
var malformedIDs = map[string]string{
	"vol-": "InvalidVolumeID.Malformed", "snap-": "InvalidSnapshotID.Malformed",
	"i-": "InvalidInstanceID.Malformed", "subnet-": "InvalidSubnetID.Malformed",
}

func codeOf(err smithy.APIError) string {
	if err.ErrorCode() != "InvalidParameterValue" {
		return err.ErrorCode()
	}
	for beginning, code := range malformedIDs {
		if strings.Contains(err.ErrorMessage(), "is invalid. Expected: '"+beginning) {
			return code
		}
	}
	return err.ErrorCode()
}

// Code returns the AWS error code in err, or "".
func Code(err error) string {
	var failed *Error
	if errors.As(err, &failed) {
		return failed.Code
	}
	return apiCode(err)
}

func apiCode(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return codeOf(api)
	}
	return ""
}

// HasCode says whether err carries one of these AWS error codes.
func HasCode(err error, codes ...string) bool {
	code := Code(err)
	return code != "" && slices.Contains(codes, code)
}

// IsNotFound says that AWS does not know a resource, or that its id is not
// even well formed.
func IsNotFound(err error) bool {
	code := Code(err)
	return strings.HasSuffix(code, ".NotFound") || strings.HasSuffix(code, ".Malformed") ||
		strings.HasSuffix(code, "NotFoundException") || code == "TargetGroupNotFound" || code == "LoadBalancerNotFound"
}

// deleted is the outcome of a call that deletes: when an earlier attempt may
// have been carried out, what AWS no longer knows is deleted.
func deleted(err error) error {
	if IsNotFound(err) && IsMaybe(err) {
		return nil
	}
	return err
}

// IsMaybe says that the failed call may have been carried out.
func IsMaybe(err error) bool {
	var failed *Error
	return errors.As(err, &failed) && failed.Maybe
}

// throttleCodes are the ways in which AWS says "slower".
var throttleCodes = []string{
	"RequestLimitExceeded", "Throttling", "ThrottlingException", "RequestThrottled",
	"RequestThrottledException", "EC2ThrottledException", "SlowDown",
}

// capacityCodes are refusals that no retry of the same call gets round within
// minutes: AWS has no room, or the account's limit is reached. The capacity
// ones come with HTTP status 500.
var capacityCodes = []string{
	"InsufficientInstanceCapacity", "InsufficientHostCapacity", "InsufficientReservedInstanceCapacity",
	"InsufficientCapacity", "InsufficientFreeAddressesInSubnet", "Unsupported",
	"InstanceLimitExceeded", "VcpuLimitExceeded", "MaxSpotInstanceCountExceeded", "SpotMaxPriceTooLow",
}

// spotCodes are refusals of a spot launch that an on-demand launch does not meet.
var spotCodes = []string{
	"MaxSpotInstanceCountExceeded", "SpotMaxPriceTooLow", "InsufficientInstanceCapacity", "InsufficientCapacity",
	"InsufficientHostCapacity", "Unsupported", "UnsupportedOperation", "AuthFailure.ServiceLinkedRoleCreationNotPermitted",
	"InvalidSpotInstanceRequest", "SpotInstanceServiceUnavailable", "SpotInstanceTermination",
}

// IsCapacity says that AWS has no room or that a limit of the account is reached.
func IsCapacity(err error) bool { return HasCode(err, capacityCodes...) }

// IsSpotRefusal says that AWS refused a launch because it was a spot launch.
func IsSpotRefusal(err error) bool { return HasCode(err, spotCodes...) }

// IsAddressInUse says that a private address is held by another interface.
func IsAddressInUse(err error) bool {
	return HasCode(err, "InvalidIPAddress.InUse", "InvalidIpAddress.InUse")
}

// IsPermission says that the credentials lack a permission.
func IsPermission(err error) bool {
	return HasCode(err, "UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "UnauthorizedAccess")
}

// fault classifies a failed attempt for the retry policy.
type fault int

const (
	permanent fault = iota
	throttled
	transient
)

func classify(err error) fault {
	code := apiCode(err)
	switch {
	case slices.Contains(throttleCodes, code):
		return throttled
	case slices.Contains(capacityCodes, code):
		return permanent
	}
	var unexpected *unexpectedAnswer
	if errors.As(err, &unexpected) {
		return classifyStatus(unexpected.status)
	}
	var retryable interface{ RetryableError() bool }
	if errors.As(err, &retryable) && retryable.RetryableError() {
		return transient
	}
	var untrusted *tls.CertificateVerificationError
	if errors.As(err, &untrusted) {
		return permanent
	}
	// Before the status: the SDK gives a request without an answer the status 0.
	if isConnectionFault(err) {
		return transient
	}
	var response *smithyhttp.ResponseError
	if errors.As(err, &response) {
		return classifyStatus(response.HTTPStatusCode())
	}
	return permanent
}

func classifyStatus(status int) fault {
	if status >= 500 || status == http.StatusTooManyRequests {
		return transient
	}
	return permanent
}

// isConnectionFault says that no answer arrived, or not all of one.
func isConnectionFault(err error) bool {
	var send *smithyhttp.RequestSendError
	var network net.Error
	return errors.As(err, &send) || errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF)
}

// uncertainBefore marks the failure of a call of which an earlier attempt was
// uncertain: whatever the last one says, that one may have been carried out.
type uncertainBefore struct{ error }

func (u *uncertainBefore) Unwrap() error { return u.error }

// isUncertain says that a failed call may have been carried out: the answer
// was lost or cannot be read, or AWS failed while at work. A connection that
// was never made is certain.
func isUncertain(err error) bool {
	var earlier *uncertainBefore
	if errors.As(err, &earlier) {
		return true
	}
	var unexpected *unexpectedAnswer
	var unreadable *smithy.DeserializationError
	if errors.As(err, &unexpected) || (errors.As(err, &unreadable) && apiCode(err) == "") {
		return true
	}
	if slices.Contains(capacityCodes, apiCode(err)) || classify(err) != transient {
		return false
	}
	var dial *net.OpError
	return !errors.As(err, &dial) || dial.Op != "dial"
}

// passingCodes are failures inside AWS that another try may not meet.
var passingCodes = []string{"InternalError", "InternalFailure", "ServiceUnavailable", "Unavailable", "SpotInstanceTermination"}

// IsPassing says that the same call, made again later, may well succeed: AWS
// failed inside, could not be reached, or was too slow.
func IsPassing(err error) bool {
	var failed *Error
	if !errors.As(err, &failed) {
		return false
	}
	if failed.cause == nil {
		return failed.late || slices.Contains(passingCodes, failed.Code)
	}
	return classify(failed.cause) != permanent
}
