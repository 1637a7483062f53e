package action

import (
	"context"

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
	if len(launch.Interfaces) > 0 && instance.ID != "" {
		// They come back from the spot instance that was terminated.
		if err := s.aws.WaitInterfaces(ctx, launch.Interfaces...); err != nil {
			return instance, err
		}
	}
	return s.launchOnce(ctx, launch, made)
}

func (s *session) launchOnce(ctx context.Context, launch vmLaunch, made *undo) (instance aws.Instance, err error) {
	begin := func() error {
		instance, err = s.aws.Launch(ctx, launch.Launch)
		return err
	}
	if launch.Interface != nil {
		err = s.withAddress(ctx, *launch.Interface, begin)
	} else {
		err = begin()
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

// register writes the agent's settings to the registry while the instance
// boots, where its agent asks there.
func (s *session) register(ctx context.Context, instance string, launch vmLaunch, made *undo) error {
	if !s.usesRegistry() {
		return nil
	}
	made.add("registry settings of "+instance, func(ctx context.Context) error { return s.registry.Delete(ctx, instance) })
	return s.registry.Put(ctx, instance, launch.settings.Full())
}
