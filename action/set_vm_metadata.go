package action

import (
	"context"

	"bosh-aws-cpi/aws"
	"bosh-aws-cpi/cpi"
)

type setVMMetadataArguments struct {
	VMCID    string     `cpi:"vm_cid"`
	Metadata cpi.Object `cpi:"metadata"`
}

// setVMMetadata tags an instance and its volumes (DescribeInstances,
// CreateTags).
type setVMMetadata struct{}

func (setVMMetadata) run(ctx context.Context, s *session, arguments setVMMetadataArguments) (any, error) {
	instance, err := s.aws.NamedInstance(ctx, arguments.VMCID)
	if err != nil {
		return nil, err
	}
	if instance.State == aws.InstanceTerminated {
		return nil, vmGone(s.Method, instance)
	}
	resources := []string{instance.ID}
	for _, device := range instance.Devices {
		resources = append(resources, device.VolumeID)
	}
	return nil, s.aws.Tag(ctx, vmTags(arguments.Metadata), resources...)
}

// vmTags are the tags for a VM's metadata. Name, which AWS's console shows, is
// the metadata's `name`, else `job/index`, else `compiling/<what>`.
func vmTags(metadata cpi.Object) aws.Tags {
	tags := tagsFrom(metadata)
	name, named := tags["name"]
	job, hasJob := tags["job"]
	index, hasIndex := tags["index"]
	compiling, compiles := tags["compiling"]
	switch {
	case named:
		tags["Name"] = name
		delete(tags, "name")
	case hasJob && hasIndex:
		tags["Name"] = cut(job+"/"+index, maxTagValue)
	case compiles:
		tags["Name"] = cut("compiling/"+compiling, maxTagValue)
	}
	return tags
}
