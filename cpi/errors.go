package cpi

import (
	"errors"
	"fmt"
)

// ErrorType is the `type` of an error in a response. The Director turns a type
// it does not know into "unknown CPI error", so only the ones below are sent.
type ErrorType string

// The error types that the BOSH Director and CLI know.
const (
	// CloudError is a refusal by the infrastructure or by the CPI.
	CloudError ErrorType = "Bosh::Clouds::CloudError"
	// CpiError says that the CPI itself is at fault or misconfigured.
	CpiError ErrorType = "Bosh::Clouds::CpiError"
	// NotImplemented answers a method that the CPI does not know.
	NotImplemented ErrorType = "Bosh::Clouds::NotImplemented"
	// NotSupported makes the Director fall back, to copying a disk for example.
	NotSupported ErrorType = "Bosh::Clouds::NotSupported"
	// VMNotFound counts as success in delete_vm.
	VMNotFound ErrorType = "Bosh::Clouds::VMNotFound"
	// VMCreationFailed is the only type whose OKToRetry the Director reads.
	VMCreationFailed ErrorType = "Bosh::Clouds::VMCreationFailed"
	// DiskNotFound counts as success when an orphan is deleted.
	DiskNotFound ErrorType = "Bosh::Clouds::DiskNotFound"
	// DiskNotAttached answers detach_disk of a disk that is elsewhere or nowhere.
	DiskNotAttached ErrorType = "Bosh::Clouds::DiskNotAttached"
	// NoDiskSpace says that the infrastructure has no room for a disk.
	NoDiskSpace ErrorType = "Bosh::Clouds::NoDiskSpace"
	// NetworkNotFound names a subnet that does not exist.
	NetworkNotFound ErrorType = "Bosh::Clouds::NetworkNotFound"
	// InvalidCall answers a malformed request: wrong JSON, arity or type. It has
	// no prefix; its callers are programs, and the Director shows it as unknown.
	InvalidCall ErrorType = "InvalidCall"
)

// Error is a failure in the form in which it is answered.
type Error struct {
	// Type decides what the Director does.
	Type ErrorType
	// Message says what failed, on which resource, why, and what to do.
	Message string
	// OKToRetry says that the same call may succeed when it is made again.
	OKToRetry bool
	// Cause is told in the log, never in the response's message.
	Cause error
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Errorf makes an error that is not to be retried. An operand of %w becomes
// its cause.
func Errorf(kind ErrorType, format string, operands ...any) *Error {
	err := fmt.Errorf(format, operands...)
	return &Error{Type: kind, Message: err.Error(), Cause: errors.Unwrap(err)}
}

// asError finds the typed error in err. An action that returns any other error
// has a gap in its error mapping: a fault of the CPI.
func asError(err error) *Error {
	var typed *Error
	if errors.As(err, &typed) {
		return typed
	}
	return &Error{Type: CpiError, Message: err.Error(), Cause: err}
}
