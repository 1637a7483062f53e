package action

import (
	"context"
	"fmt"

	"bosh-aws-cpi/aws"
	"bosh-aws-cpi/cpi"
)

// makeInterfaces makes a NIC for each group before the launch, side by side:
// the agent needs their MACs in the user data.
func (s *session) makeInterfaces(ctx context.Context, plan *vmPlan, made *undo) error {
	groups := plan.networks.groups
	nics := make([]aws.Interface, len(groups))
	var tasks []func(context.Context) error
	for i, group := range groups {
		tasks = append(tasks, func(ctx context.Context) error {
			nic, err := s.makeInterface(ctx, plan, group)
			if err != nil {
				return err
			}
			nics[i] = nic
			made.add("network interface "+nic.ID, func(ctx context.Context) error { return s.aws.DeleteInterface(ctx, nic.ID) })
			return s.checkSubnetZone(plan, group.subnet, nic.AvailabilityZone)
		})
	}
	if err := s.concurrently(ctx, tasks...); err != nil {
		return err
	}
	for i, nic := range nics {
		plan.interfaces = append(plan.interfaces, nic.ID)
		plan.macs[groups[i]] = nic.MAC
	}
	return s.prepareInterfaces(ctx, plan, nics)
}

func (s *session) makeInterface(ctx context.Context, plan *vmPlan, group *nicGroup) (nic aws.Interface, err error) {
	spec := plan.interfaceSpec(group)
	err = s.withAddress(ctx, spec, func() error {
		nic, err = s.aws.CreateInterface(ctx, spec)
		return err
	})
	return nic, err
}

// prepareInterfaces gives the NICs what their creation could not. It does not
// wait until they are available: they are by the time the launch gets to them,
// as a rule; see launchWith.
func (s *session) prepareInterfaces(ctx context.Context, plan *vmPlan, nics []aws.Interface) error {
	var tasks []func(context.Context) error
	for i, nic := range nics {
		for _, prefix := range plan.networks.groups[i].prefixes {
			tasks = append(tasks, func(ctx context.Context) error { return s.aws.AssignPrefix(ctx, nic.ID, prefix) })
		}
	}
	if plan.properties.AutoAssignPublicIP {
		tasks = append(tasks, func(ctx context.Context) error { return s.aws.SetPublicIP(ctx, nics[0].ID) })
	}
	return s.concurrently(ctx, tasks...)
}

// withAddress makes something that takes private addresses. An address that a
// VM on its way out still holds is waited for; any other holder is named.
func (s *session) withAddress(ctx context.Context, spec aws.InterfaceSpec, take func() error) error {
	var err error
	for range addressTries {
		if err = take(); !aws.IsAddressInUse(err) {
			return err
		}
		if held := s.waitForAddresses(ctx, spec); held != nil {
			return held
		}
	}
	return err
}

// addressTries bounds how often an address is taken while AWS calls it in use
// and shows no holder: it shows what happened a moment late.
const addressTries = 5

func (s *session) waitForAddresses(ctx context.Context, spec aws.InterfaceSpec) error {
	for _, address := range []string{spec.IPv4, spec.IPv6} {
		if address == "" {
			continue
		}
		nic, held, err := s.aws.AddressHolder(ctx, spec.Subnet, address)
		if err != nil {
			return err
		}
		if !held {
			continue
		}
		if err := s.waitForAddressHolder(ctx, spec.Subnet, address, nic); err != nil {
			return err
		}
	}
	return s.aws.Pause(ctx)
}

func (s *session) waitForAddressHolder(ctx context.Context, subnet, address string, nic aws.Interface) error {
	leaving, holder := nic.Status == "detaching", "network interface "+nic.ID
	if nic.InstanceID != "" {
		instance, err := s.aws.Instance(ctx, nic.InstanceID)
		if err != nil && !aws.IsNotFound(err) {
			return err
		}
		leaving = leaving || err != nil || instance.Gone()
		holder = fmt.Sprintf("%s (network interface %s)", instance.Label(), nic.ID)
	}
	if !leaving {
		return cpi.Errorf(cpi.VMCreationFailed, "%s: address %s of subnet %s is in use by %s; delete that, or give the VM another address", s.Method, address, subnet, holder)
	}
	s.Logger.Info(s.Tag, "address %s comes free when %s is gone", address, holder)
	return s.aws.WaitAddressFree(ctx, subnet, address)
}
