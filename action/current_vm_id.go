package action

import (
	"context"

	"bosh-aws-cpi/aws"
	"bosh-aws-cpi/cpi"
)

// currentVMID returns the id of the instance that the CPI runs on: the Director
// asks for the snapshots of its own disks. It asks the instance metadata
// service and makes no AWS call.
func currentVMID(ctx context.Context, _ *cpi.Call, _ struct{}) (any, error) {
	id, err := aws.CurrentInstanceID(ctx)
	if err != nil {
		return nil, cpi.Errorf(cpi.CloudError, "current_vm_id: the instance metadata service does not answer: %w; the CPI must run on an EC2 instance for this", err)
	}
	return id, nil
}
