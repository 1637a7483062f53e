package action

import "context"

type deleteSnapshotArguments struct {
	SnapshotCID string `cpi:"snapshot_cid"`
}

// deleteSnapshot deletes a snapshot (DeleteSnapshot). One that is gone answers
// DiskNotFound, which the Director takes as done.
type deleteSnapshot struct{}

func (deleteSnapshot) run(ctx context.Context, s *session, arguments deleteSnapshotArguments) (any, error) {
	return nil, s.aws.DeleteSnapshot(ctx, arguments.SnapshotCID)
}
