package action

import "context"

type deleteNetworkArguments struct {
	NetworkCID string `cpi:"network_cid"`
}

// deleteNetwork deletes a subnet (DeleteSubnet). One that is gone answers
// NetworkNotFound, which the Director takes as done.
type deleteNetwork struct{}

func (deleteNetwork) run(ctx context.Context, s *session, arguments deleteNetworkArguments) (any, error) {
	return nil, s.aws.DeleteSubnet(ctx, arguments.NetworkCID)
}
