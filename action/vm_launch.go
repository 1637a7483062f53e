package action

import (
	"context"
	"slices"
	"strings"

	"bosh-aws-cpi/aws"
)

// launchVM launches the instance and waits until it runs. A spot launch that
// AWS refuses as such becomes an on-demand launch when the VM asks for that.
func (s *session) launchVM(ctx context.Context, plan *vmPlan, launch vmLaunch, made *undo) (aws.Instance, error) {
	instance, err := s.launchOnce(ctx, launch, made)
	if err == nil || !launch.Spot || !plan.properties.SpotOnDemandFallback || !aws.IsSpotRefusal(err) {
		return instance, err
	}
	s.Logger.Warn(s.Tag, "the spot launch failed, launching on demand: %s", err)
	launch.Spot, launch.MaxPrice = false, ""
	if instance.ID != "" && s.usesRegistry() {
		if err := s.registry.Delete(ctx, instance.ID); err != nil {
			return instance, err
		}
	}
	return s.launchOnce(ctx, launch, made)
}

func (s *session) launchOnce(ctx context.Context, launch vmLaunch, made *undo) (instance aws.Instance, err error) {
	if launch.Interface != nil {
		err = s.withAddress(ctx, *launch.Interface, func() error {
			instance, err = s.aws.Launch(ctx, launch.Launch)
			return err
		})
	} else {
		instance, err = s.launchWith(ctx, launch)
	}
	if err != nil {
		return instance, err
	}
	s.Logger.Info(s.Tag, "launched instance %s", instance.ID)
	made.add("instance "+instance.ID, func(ctx context.Context) error { return s.aws.TerminateNew(ctx, instance.ID) })
	if err := s.register(ctx, instance.ID, launch, made); err != nil {
		return instance, err
	}
	running, err := s.aws.WaitRunning(ctx, instance.ID)
	if err != nil {
		return instance, err
	}
	return running, nil
}

// launchWith launches with NICs that exist. When EC2 refuses one of them, they
// are waited for and the launch is made once more: they may be pending still, or
// on their way back from a spot instance that did not live.
func (s *session) launchWith(ctx context.Context, launch vmLaunch) (aws.Instance, error) {
	instance, err := s.aws.Launch(ctx, launch.Launch)
	if err == nil || aws.IsMaybe(err) || !mentionsAny(err, launch.Interfaces) {
		return instance, err
	}
	s.Logger.Info(s.Tag, "waiting for the network interfaces: %s", err)
	if waited := s.aws.WaitInterfaces(ctx, launch.Interfaces...); waited != nil {
		return instance, waited
	}
	return s.aws.Launch(ctx, launch.Launch)
}

func mentionsAny(err error, ids []string) bool {
	return slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(err.Error(), id) })
}

// register writes the agent's settings to the registry while the instance
// boots, where its agent asks there.
func (s *session) register(ctx context.Context, instance string, launch vmLaunch, made *undo) error {
	if !s.usesRegistry() {
		return nil
	}
	made.add("registry settings of "+instance, func(ctx context.Context) error { return s.registry.Delete(ctx, instance) })
	return s.registry.Put(ctx, instance, launch.settings.Full())
}
