package action

import (
	"context"
	"maps"
	"strings"

	"bosh-aws-cpi/aws"
	"bosh-aws-cpi/cpi"
)

type createStemcellArguments struct {
	ImagePath       string     `cpi:"image_path"`
	CloudProperties cpi.Object `cpi:"cloud_properties"`
	Env             cpi.Object `cpi:"env,optional,since=3"`
}

// createStemcell finds the AMI of a light stemcell (DescribeImages; CreateTags
// with tags). One that asks for encryption is copied, and the copy is ours
// (CopyImage, DescribeImages). A heavy stemcell is uploaded; see makeImage.
type createStemcell struct{}

func (createStemcell) run(ctx context.Context, s *session, arguments createStemcellArguments) (any, error) {
	var properties StemcellProperties
	if err := decodeProperties(s.Method, "cloud_properties", arguments.CloudProperties, &properties); err != nil {
		return nil, err
	}
	if err := properties.validate(s.config.Defaults); err != nil {
		return nil, invalid(s.Method, "cloud_properties.%s", err)
	}
	var env struct {
		Tags cpi.Object `json:"tags"`
	}
	if err := decodeProperties(s.Method, "env", arguments.Env, &env); err != nil {
		return nil, err
	}
	tags := tagsFrom(env.Tags)
	maps.Copy(tags, tagsFrom(properties.Tags))
	if !properties.light() {
		return s.makeImage(ctx, arguments.ImagePath, properties, tags)
	}
	image, err := s.findImage(ctx, properties)
	if err != nil {
		return nil, err
	}
	if properties.Encrypted {
		return s.copyImage(ctx, image.ID, properties, tags)
	}
	if err := s.aws.Tag(ctx, tags, image.ID); err != nil {
		return nil, err
	}
	return image.ID + lightSuffix, nil
}

func (s *session) findImage(ctx context.Context, properties StemcellProperties) (aws.Image, error) {
	images, err := s.aws.Images(ctx, properties.amiIDs(s.aws.Region())...)
	if err != nil {
		return aws.Image{}, err
	}
	if len(images) == 0 {
		return aws.Image{}, cpi.Errorf(cpi.CloudError, "create_stemcell: the stemcell has no AMI that region %s shows; its regions are %s",
			s.aws.Region(), strings.Join(properties.regions(), ", "))
	}
	return images[0], nil
}

// copyImage makes an encrypted copy of an AMI and waits until it can be used.
func (s *session) copyImage(ctx context.Context, source string, properties StemcellProperties, tags aws.Tags) (any, error) {
	// The name is unique: by it the copy is found when CopyImage's answer is lost.
	name := "BOSH-" + newUUID()
	image, err := s.aws.CopyImage(ctx, source, name, properties.kmsKey(s.config.Defaults), s.originTags(tags))
	if err != nil {
		return nil, err
	}
	made := undo{s: s}
	made.add("image "+image, func(ctx context.Context) error { return s.deleteImage(ctx, image) })
	if err := s.aws.WaitImageCopied(ctx, image); err != nil {
		return nil, made.run(ctx, err)
	}
	return image, nil
}
