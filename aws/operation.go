package aws

import (
	"context"
	"slices"
	"strings"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// lookFirst are the calls that make or move something, take no ClientToken and
// would do it twice: when their answer is lost they are not made again here.
// Their callers look whether it happened; see once.
var lookFirst = []string{
	"CreateSnapshot", "RegisterImage", "CreateSubnet", "ModifyVolume", "AttachVolume", "DetachVolume",
	"AssociateAddress", "AssociateRouteTable", "CreateRoute", "AssignPrivateIpAddresses", "AssignIpv6Addresses",
}

// operation is one AWS call with all its attempts. It is the SDK's retryer for
// that call alone: the SDK's own counts throttling against the same limit as
// failures, and its retry quota would cut the patience with throttling short.
type operation struct {
	client    *Client
	name      string
	resources string
	attempts  int
	faults    int
	throttles int
	// uncertain says that one of the attempts may have been carried out although
	// it failed.
	uncertain bool
	// throttledSince is when throttling began to hold this call up.
	throttledSince time.Time
}

// instrument puts our retryer, the log and the user agent into the stack that
// the SDK builds for each operation.
func (c *Client) instrument(stack *middleware.Stack) error {
	op := &operation{client: c, name: stack.ID()}
	if _, err := stack.Finalize.Swap("Retry", retry.NewAttemptMiddleware(op, smithyhttp.RequestCloner)); err != nil {
		return err
	}
	if err := stack.Initialize.Add(middleware.InitializeMiddlewareFunc("bosh:Resources", op.readResources), middleware.After); err != nil {
		return err
	}
	if err := stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("bosh:Attempts", op.all), "Retry", middleware.Before); err != nil {
		return err
	}
	return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("bosh:Attempt", op.attempt), "Retry", middleware.After)
}

func (o *operation) readResources(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
	middleware.InitializeOutput, middleware.Metadata, error,
) {
	o.resources = resourcesOf(in.Parameters)
	return next.HandleInitialize(ctx, in)
}

// all makes all attempts.
func (o *operation) all(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
	middleware.FinalizeOutput, middleware.Metadata, error,
) {
	out, metadata, err := next.HandleFinalize(ctx, in)
	if err != nil && o.uncertain {
		err = &uncertainBefore{err}
	}
	return out, metadata, err
}

// attempt makes one try: it names the caller to AWS, counts, and logs. A call
// that changes something is not broken off by a signal half way, since its
// answer tells what is there to undo; the HTTP client's limits still hold.
func (o *operation) attempt(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
	middleware.FinalizeOutput, middleware.Metadata, error,
) {
	o.attempts++
	if request, ok := in.Request.(*smithyhttp.Request); ok {
		request.Header.Set("User-Agent", request.Header.Get("User-Agent")+" "+o.client.userAgent)
	}
	if o.changes() {
		ctx = context.WithoutCancel(ctx)
	}
	started := time.Now()
	out, metadata, err := next.HandleFinalize(ctx, in)
	o.uncertain = o.uncertain || (err != nil && isUncertain(err))
	o.log(time.Since(started), metadata, err)
	return out, metadata, err
}

// putBlock is the one call of which there are thousands in a CPI call.
const putBlock = "PutSnapshotBlock"

// changes says whether the call changes anything that would have to be undone. A
// block goes with its snapshot.
func (o *operation) changes() bool {
	if o.name == putBlock {
		return false
	}
	for _, reading := range []string{"Describe", "Get", "List"} {
		if strings.HasPrefix(o.name, reading) {
			return false
		}
	}
	return true
}

func (o *operation) log(took time.Duration, metadata middleware.Metadata, err error) {
	requestID, _ := awsmiddleware.GetRequestIDMetadata(metadata)
	outcome := "ok"
	if err != nil {
		failed := failure(err, "").(*Error)
		outcome = failed.Code
		if outcome == "" {
			outcome = failed.Message
		}
		if requestID == "" {
			requestID = failed.RequestID
		}
	}
	o.client.figures.call(err != nil && classify(err) == throttled)
	tell := o.client.logger.Info
	if o.name == putBlock && err == nil {
		tell = o.client.logger.Debug
	}
	tell(o.client.tag, "%s %s: %s, %d ms, attempt %d, AWS request id %s",
		o.name, o.resources, outcome, took.Milliseconds(), o.attempts, requestID)
}

// IsErrorRetryable decides whether a failed attempt is followed by another.
// Throttling never fails a call, within limitThrottled; failures are bounded
// by max_retries.
func (o *operation) IsErrorRetryable(err error) bool {
	switch classify(err) {
	case throttled:
		if o.throttles++; o.throttles == 1 {
			o.throttledSince = time.Now()
		}
		return time.Since(o.throttledSince) < o.client.timing.scaled(limitThrottled)
	case transient:
		if slices.Contains(lookFirst, o.name) && isUncertain(err) {
			return false
		}
		o.faults++
		return o.faults <= o.client.maxRetries
	default:
		return false
	}
}

// MaxAttempts is 0, unlimited: IsErrorRetryable sets the bounds.
func (o *operation) MaxAttempts() int { return 0 }

// RetryDelay is the pause before the next attempt, which it logs.
func (o *operation) RetryDelay(_ int, err error) (time.Duration, error) {
	timing := o.client.timing
	var pause time.Duration
	if classify(err) == throttled {
		pause = timing.scaled(throttledBackoff(o.throttles-1, timing.unscaled(time.Since(o.throttledSince))))
	} else {
		pause = timing.scaled(backoff(o.faults - 1))
	}
	o.client.figures.wait(pause)
	o.client.infof("%s %s: trying again in %.1f s", o.name, o.resources, pause.Seconds())
	return pause, nil
}

// GetRetryToken grants every retry: IsErrorRetryable has decided.
func (o *operation) GetRetryToken(context.Context, error) (func(error) error, error) {
	return func(error) error { return nil }, nil
}

// GetInitialToken grants the first attempt.
func (o *operation) GetInitialToken() func(error) error {
	return func(error) error { return nil }
}
