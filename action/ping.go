package action

import (
	"context"

	"bosh-aws-cpi/cpi"
)

// ping answers "pong".
func ping(context.Context, *cpi.Call, struct{}) (any, error) { return "pong", nil }
