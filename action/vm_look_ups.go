package action

import (
	"context"
	"slices"
	"strings"

	"bosh-aws-cpi/aws"
	"bosh-aws-cpi/cpi"
)

// lookUp asks AWS what has to be known before anything is made, each thing only
// when the request calls for it, all side by side.
func (s *session) lookUp(ctx context.Context, plan *vmPlan) error {
	tasks := []func(context.Context) error{
		func(ctx context.Context) error { return s.lookUpImage(ctx, plan) },
		func(ctx context.Context) (err error) {
			plan.kind, err = s.instanceType(ctx, plan.properties.InstanceType)
			return named("cloud_properties.instance_type", err)
		},
	}
	if slices.ContainsFunc(plan.securityGroups, isName) {
		tasks = append(tasks, func(ctx context.Context) error { return s.lookUpSecurityGroups(ctx, plan) })
	}
	if len(plan.arguments.DiskCIDs) > 0 {
		tasks = append(tasks, func(ctx context.Context) error { return s.checkDiskZones(ctx, plan) })
	}
	if plan.networks.vip != nil {
		tasks = append(tasks, func(ctx context.Context) (err error) {
			plan.address, err = s.aws.Address(ctx, plan.networks.vip.ip)
			return named("the vip network", err)
		})
	}
	if slices.ContainsFunc(plan.targetGroups, isNoARN) {
		tasks = append(tasks, func(ctx context.Context) error { return s.lookUpTargetGroups(ctx, plan) })
	}
	if len(plan.properties.routes) > 0 {
		tasks = append(tasks, func(ctx context.Context) (err error) {
			plan.routes, err = s.aws.Routes(ctx, plan.properties.routes)
			return named("cloud_properties.advertised_routes", err)
		})
	}
	if err := s.concurrently(ctx, tasks...); err != nil {
		return err
	}
	// Depends on type and image: still before the first change.
	if _, _, err := blockDevices(plan.properties, plan.kind, plan.image, s.config.Defaults); err != nil {
		return invalid(s.Method, "%s", err)
	}
	return nil
}

func isName(group string) bool { return !strings.HasPrefix(group, "sg-") }

func isNoARN(group string) bool { return !strings.HasPrefix(group, "arn:") }

func (s *session) lookUpImage(ctx context.Context, plan *vmPlan) error {
	id := plan.imageID()
	images, err := s.aws.Images(ctx, id)
	if err != nil {
		return err
	}
	if len(images) == 0 {
		return cpi.Errorf(cpi.VMCreationFailed, "%s: region %s has no image %s that these credentials may use; upload the stemcell again", s.Method, s.aws.Region(), id)
	}
	if images[0].State != "available" {
		return cpi.Errorf(cpi.VMCreationFailed, "%s: image %s is %s; upload the stemcell again", s.Method, id, images[0].State)
	}
	plan.image = images[0]
	return nil
}

// lookUpSecurityGroups turns the names among the security groups into ids, in
// the VPC of the VM's subnets, whose zones are checked in passing.
func (s *session) lookUpSecurityGroups(ctx context.Context, plan *vmPlan) error {
	var ids []string
	for _, group := range plan.networks.groups {
		ids = append(ids, group.subnet)
	}
	subnets, err := s.aws.Subnets(ctx, ids...)
	if err != nil {
		return err
	}
	for _, subnet := range subnets {
		if err := s.checkSubnetZone(plan, subnet.ID, subnet.AvailabilityZone); err != nil {
			return err
		}
	}
	var names []string
	for _, group := range plan.securityGroups {
		if isName(group) {
			names = append(names, group)
		}
	}
	found, err := s.aws.SecurityGroupIDs(ctx, subnets[0].VPC, names)
	if err != nil {
		return err
	}
	for i, group := range plan.securityGroups {
		if isName(group) {
			plan.securityGroups[i] = found[slices.Index(names, group)]
		}
	}
	plan.securityGroups = unique(plan.securityGroups) // a name and its own id, perhaps
	return nil
}

func (s *session) checkSubnetZone(plan *vmPlan, subnet, zone string) error {
	if zone == plan.properties.AvailabilityZone {
		return nil
	}
	return invalid(s.Method, "subnet %s lies in zone %s, and cloud_properties.availability_zone is %s: they must be the same", subnet, zone, plan.properties.AvailabilityZone)
}

// checkDiskZones makes sure that the disks can be attached to the VM: a volume
// and its instance must be in one zone.
func (s *session) checkDiskZones(ctx context.Context, plan *vmPlan) error {
	volumes, err := s.aws.Volumes(ctx, plan.arguments.DiskCIDs...)
	if err != nil {
		return named("disk_cids", err)
	}
	for _, volume := range volumes {
		if volume.AvailabilityZone != plan.properties.AvailabilityZone {
			return invalid(s.Method, "disk %s lies in zone %s, and cloud_properties.availability_zone is %s: a VM can only have disks of its own zone",
				volume.ID, volume.AvailabilityZone, plan.properties.AvailabilityZone)
		}
	}
	return nil
}

// lookUpTargetGroups turns the names among the target groups into ARNs.
func (s *session) lookUpTargetGroups(ctx context.Context, plan *vmPlan) error {
	var names []string
	for _, group := range plan.targetGroups {
		if isNoARN(group) {
			names = append(names, group)
		}
	}
	arns, err := s.aws.TargetGroupARNs(ctx, names)
	if aws.HasCode(err, "TargetGroupNotFound") {
		return invalid(s.Method, "cloud_properties.lb_target_groups: %s", err)
	}
	if err != nil {
		return named("cloud_properties.lb_target_groups", err)
	}
	for i, group := range plan.targetGroups {
		if isNoARN(group) {
			plan.targetGroups[i] = arns[slices.Index(names, group)]
		}
	}
	return nil
}
