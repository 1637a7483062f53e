package action

import (
	"context"
	"path"
	"strings"

	"bosh-aws-cpi/aws"
	"bosh-aws-cpi/cpi"
)

type snapshotDiskArguments struct {
	DiskCID  string     `cpi:"disk_cid"`
	Metadata cpi.Object `cpi:"metadata"`
}

// snapshotDisk takes a snapshot of a volume and returns as soon as EC2 has
// accepted it (DescribeVolumes, CreateSnapshot).
type snapshotDisk struct{}

func (snapshotDisk) run(ctx context.Context, s *session, arguments snapshotDiskArguments) (any, error) {
	volume, err := s.aws.NamedVolume(ctx, arguments.DiskCID)
	if err != nil {
		return nil, err
	}
	device := ""
	if holder, held := volume.Holder(); held {
		device = holder.Device
	}
	name, tags := snapshotTags(arguments.Metadata, device)
	return s.aws.CreateSnapshot(ctx, volume.ID, name, s.originTags(tags))
}

// snapshotTags returns the description of a snapshot and its tags. No key of
// the metadata can be relied on.
func snapshotTags(metadata cpi.Object, device string) (description string, tags aws.Tags) {
	tags = tagsFrom(metadata)
	var parts []string
	for _, part := range []string{tags["deployment"], tags["job"], tags["index"], path.Base(device)} {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	description = cut(strings.Join(parts, "/"), maxTagValue)
	if description != "" {
		tags["Name"] = description
	}
	if device != "" {
		tags["device"] = device
	}
	rename(tags, "director_name", "director")
	rename(tags, "index", "instance_index")
	if tags["job"] != "" && tags["instance_id"] != "" {
		tags["instance_name"] = cut(tags["job"]+"/"+tags["instance_id"], maxTagValue)
	}
	delete(tags, "job")
	return description, tags
}

func rename(tags aws.Tags, from, to string) {
	if value, found := tags[from]; found {
		tags[to] = value
		delete(tags, from)
	}
}
