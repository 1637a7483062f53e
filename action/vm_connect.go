package action

import (
	"context"

	"bosh-aws-cpi/aws"
)

// settle gives a running instance what its launch could not, side by side: NICs
// that go with it, NICs that pass traffic on, load balancers.
func (s *session) settle(ctx context.Context, plan *vmPlan, instance aws.Instance, made *undo) error {
	var tasks []func(context.Context) error
	for _, nic := range instance.Interfaces {
		if len(plan.interfaces) > 0 {
			tasks = append(tasks, func(ctx context.Context) error { return s.aws.SetDeleteOnTermination(ctx, nic) })
		}
		if check := plan.properties.SourceDestCheck; check != nil && !*check {
			tasks = append(tasks, func(ctx context.Context) error { return s.aws.DisableSourceDestCheck(ctx, nic.ID) })
		}
	}
	for _, group := range plan.targetGroups {
		tasks = append(tasks, func(ctx context.Context) error {
			err := s.aws.RegisterTarget(ctx, group, instance.ID)
			return made.addUnlessRefused(err, "registration of "+instance.ID+" in target group "+group, func(ctx context.Context) error {
				return s.aws.DeregisterTarget(ctx, group, instance.ID)
			})
		})
	}
	for _, name := range plan.properties.ELBs {
		tasks = append(tasks, func(ctx context.Context) error {
			err := s.aws.RegisterWithELB(ctx, name, instance.ID)
			return made.addUnlessRefused(err, "registration of "+instance.ID+" behind load balancer "+name, func(ctx context.Context) error {
				return s.aws.DeregisterFromELB(ctx, name, instance.ID)
			})
		})
	}
	return s.concurrently(ctx, tasks...)
}

// takeOver gives the instance what another VM may have now, as the very last
// steps: the elastic IP, then the routes. Undoing puts back what was there.
func (s *session) takeOver(ctx context.Context, plan *vmPlan, instance aws.Instance, made *undo) error {
	if vip := plan.networks.vip; vip != nil {
		nic := instance.Interfaces[plan.indexOf(vip.group)].ID
		before := plan.address
		err := s.aws.OnNewInterface(ctx, func() error { return s.aws.AssociateAddress(ctx, before, nic, "") })
		err = made.addUnlessRefused(err, "elastic IP "+before.IP, func(ctx context.Context) error {
			if before.InterfaceID == "" {
				return nil // it comes free with the instance
			}
			return s.aws.AssociateAddress(ctx, before, before.InterfaceID, before.PrivateIP)
		})
		if err != nil {
			return err
		}
	}
	for i, wanted := range plan.properties.routes {
		if err := s.takeRoute(ctx, wanted.To(instance.Interfaces[0].ID), plan.routes[i], made); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) takeRoute(ctx context.Context, route, before aws.Route, made *undo) error {
	if before.Table == "" {
		err := s.aws.OnNewInterface(ctx, func() error { return s.aws.CreateRoute(ctx, route) })
		if aws.HasCode(err, "RouteAlreadyExists") { // another call was faster
			now, err := s.aws.Routes(ctx, []aws.Route{route})
			if err != nil {
				return err
			}
			return s.replaceRoute(ctx, route, now[0], made)
		}
		return made.addUnlessRefused(err, route.Label(), func(ctx context.Context) error { return s.aws.DeleteRoute(ctx, route) })
	}
	return s.replaceRoute(ctx, route, before, made)
}

func (s *session) replaceRoute(ctx context.Context, route, before aws.Route, made *undo) error {
	err := s.aws.OnNewInterface(ctx, func() error { return s.aws.ReplaceRoute(ctx, route) })
	return made.addUnlessRefused(err, route.Label(), func(ctx context.Context) error { return s.aws.ReplaceRoute(ctx, before) })
}

// indexOf is the place of a NIC group among the NICs.
func (p *vmPlan) indexOf(group *nicGroup) int {
	for i, one := range p.networks.groups {
		if one == group {
			return i
		}
	}
	return 0
}
