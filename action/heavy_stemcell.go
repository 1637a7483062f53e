package action

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"bosh-aws-cpi/aws"
	"bosh-aws-cpi/cpi"
)

// makeImage makes an AMI of a heavy stemcell's disk image, from anywhere:
// through the EBS direct APIs, without a volume and without root
// (StartSnapshot, PutSnapshotBlock for each block that is not all zeros,
// CompleteSnapshot, DescribeSnapshots, RegisterImage, CreateTags,
// DescribeImages).
func (s *session) makeImage(ctx context.Context, path string, properties StemcellProperties, tags aws.Tags) (any, error) {
	spec, err := imageSpec(s.Method, properties)
	if err != nil {
		return nil, err
	}
	image, err := openImage(path)
	if err != nil {
		return nil, invalid(s.Method, "%s", err)
	}
	defer image.close()
	made := undo{s: s}
	var id string
	err = s.guarded(ctx, func(ctx context.Context) error {
		id, err = s.uploadAndRegister(ctx, image, spec, properties, s.originTags(tags), &made)
		return err
	})
	if err != nil {
		return nil, made.run(ctx, err)
	}
	return id, nil
}

func (s *session) uploadAndRegister(ctx context.Context, image *stemcellImage, spec aws.ImageSpec, properties StemcellProperties, tags aws.Tags, made *undo) (string, error) {
	upload, err := s.aws.StartUpload(ctx, s.uploadSpec(image, spec, properties, tags))
	if err != nil {
		return "", err
	}
	spec.Snapshot, spec.Tags = upload.SnapshotID(), tags
	made.add("snapshot "+spec.Snapshot, func(ctx context.Context) error { return s.aws.DeleteNewSnapshot(ctx, spec.Snapshot) })
	if err := s.write(ctx, upload, image); err != nil {
		return "", err
	}
	if err := upload.Complete(ctx); err != nil {
		return "", err
	}
	id, err := s.aws.RegisterImage(ctx, spec)
	if err != nil {
		return "", err
	}
	made.add("image "+id, func(ctx context.Context) error { return s.aws.DeregisterImage(ctx, id) })
	return id, s.concurrently(ctx,
		// By this tag a delete_stemcell that comes after a failed one finds it.
		func(ctx context.Context) error {
			return s.aws.TagNewSnapshot(ctx, aws.Tags{imageTag: id}, spec.Snapshot)
		},
		func(ctx context.Context) error { return s.aws.WaitImageRegistered(ctx, id) })
}

// write uploads the image and makes sure, before the snapshot is completed, that
// it was read without damage.
func (s *session) write(ctx context.Context, upload *aws.Upload, image *stemcellImage) error {
	err := upload.Write(ctx, image)
	if err == nil {
		err = image.verify()
	}
	var failed *aws.Error
	if err == nil || errors.As(err, &failed) || ctx.Err() != nil {
		return err
	}
	return invalid(s.Method, "image_path: the stemcell's image %s: %s", image.file.Name(), err)
}

// defaultStemcellRoot is the root device of an AMI whose stemcell names none.
const defaultStemcellRoot = "/dev/xvda"

// imageSpec returns what the AMI is to be, and refuses what it cannot be.
func imageSpec(method string, properties StemcellProperties) (aws.ImageSpec, error) {
	spec := aws.ImageSpec{
		Name:         "BOSH-" + newUUID(),
		Description:  strings.TrimSpace(properties.Name + " " + string(properties.Version)),
		RootDevice:   properties.RootDeviceName,
		Architecture: properties.Architecture,
		BootMode:     properties.BootMode,
	}
	if spec.RootDevice == "" {
		spec.RootDevice = defaultStemcellRoot
	}
	if spec.Architecture == "" {
		spec.Architecture = "x86_64"
	}
	if spec.BootMode == "" && spec.Architecture == "arm64" {
		spec.BootMode = "uefi"
	} else if spec.BootMode == "" {
		spec.BootMode = "legacy-bios"
	}
	switch {
	case properties.VirtualizationType == "paravirtual":
		return spec, cpi.Errorf(cpi.NotSupported, "%s: cloud_properties.virtualization_type: paravirtual is not supported; AWS has no current instance type for it", method)
	case properties.VirtualizationType != "" && properties.VirtualizationType != "hvm":
		return spec, invalid(method, "cloud_properties.virtualization_type: expected hvm, got %q", properties.VirtualizationType)
	case spec.Architecture != "x86_64" && spec.Architecture != "arm64":
		return spec, invalid(method, "cloud_properties.architecture: expected x86_64 or arm64, got %q", spec.Architecture)
	case spec.BootMode != "uefi" && spec.BootMode != "legacy-bios" && spec.BootMode != "uefi-preferred":
		return spec, invalid(method, "cloud_properties.boot_mode: expected uefi, legacy-bios or uefi-preferred, got %q", spec.BootMode)
	}
	if properties.Disk != nil {
		if _, err := gibibytes("disk", *properties.Disk); err != nil {
			return spec, invalid(method, "cloud_properties.%s", err)
		}
	}
	return spec, nil
}

// uploadSpec returns what the snapshot is to be: as large as the image, or as
// the stemcell's disk where that is larger; encrypted when the stemcell or the
// configuration says so, with the stemcell's key before the configuration's.
func (s *session) uploadSpec(image *stemcellImage, spec aws.ImageSpec, properties StemcellProperties, tags aws.Tags) aws.UploadSpec {
	size := int32((image.size + 1<<30 - 1) >> 30)
	if properties.Disk != nil {
		disk, _ := gibibytes("disk", *properties.Disk) // checked with the properties
		size = max(size, disk)
	}
	upload := aws.UploadSpec{
		SizeGiB:     size,
		Description: fmt.Sprintf("BOSH stemcell %s", spec.Description),
		Encrypted:   properties.Encrypted || s.config.Defaults.Encrypted,
		Tags:        tags,
		Bytes:       image.size,
	}
	if upload.Encrypted {
		upload.KMSKey = properties.kmsKey(s.config.Defaults)
	}
	return upload
}
