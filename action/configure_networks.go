package action

import (
	"context"

	"bosh-aws-cpi/cpi"
)

type configureNetworksArguments struct {
	VMCID    string     `cpi:"vm_cid"`
	Networks cpi.Object `cpi:"networks"`
}

// configureNetworks is a method of API version 1: the Director makes a new VM
// instead when it is not supported.
func configureNetworks(context.Context, *cpi.Call, configureNetworksArguments) (any, error) {
	return nil, cpi.Errorf(cpi.NotSupported, "configure_networks is not supported: a VM's networks are changed by making a new VM")
}
