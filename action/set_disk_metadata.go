package action

import (
	"context"

	"bosh-aws-cpi/cpi"
)

type setDiskMetadataArguments struct {
	DiskCID  string     `cpi:"disk_cid"`
	Metadata cpi.Object `cpi:"metadata"`
}

// setDiskMetadata tags a volume (CreateTags).
type setDiskMetadata struct{}

func (setDiskMetadata) run(ctx context.Context, s *session, arguments setDiskMetadataArguments) (any, error) {
	return nil, s.aws.Tag(ctx, tagsFrom(arguments.Metadata), arguments.DiskCID)
}
