package aws

import (
	"context"
	"fmt"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// The states of an instance that decide something.
const (
	InstanceRunning      = "running"
	InstanceShuttingDown = "shutting-down"
	InstanceTerminated   = "terminated"
)

// Instance is an EC2 instance as DescribeInstances shows it.
type Instance struct {
	ID               string
	State            string
	Reason           string // why it is in its state, as AWS says; often empty
	Type             string
	AvailabilityZone string
	RootDevice       string
	Devices          []Device
	Interfaces       []AttachedInterface // in the order of their device indexes
	Tags             Tags
}

// Device is an EBS volume at a device name of an instance.
type Device struct {
	Name     string
	VolumeID string
	State    string // attaching, attached, detaching
}

// AttachedInterface is a network interface of an instance.
type AttachedInterface struct {
	ID           string
	AttachmentID string
}

// Gone says that the instance exists no more, or is about to.
func (i Instance) Gone() bool {
	return i.State == InstanceTerminated || i.State == InstanceShuttingDown
}

// Label names the instance for people: id, Name tag and deployment.
func (i Instance) Label() string {
	var known []string
	if name := i.Tags["Name"]; name != "" {
		known = append(known, fmt.Sprintf("%q", name))
	}
	if deployment := i.Tags["deployment"]; deployment != "" {
		known = append(known, fmt.Sprintf("of deployment %q", deployment))
	}
	return strings.Join(append([]string{"instance " + i.ID}, known...), " ")
}

func instanceOf(sent types.Instance) Instance {
	instance := Instance{
		ID:         sdk.ToString(sent.InstanceId),
		Type:       string(sent.InstanceType),
		RootDevice: sdk.ToString(sent.RootDeviceName),
		Tags:       tagsOf(sent.Tags),
	}
	if sent.State != nil {
		instance.State = string(sent.State.Name)
	}
	if sent.StateReason != nil {
		instance.Reason = sdk.ToString(sent.StateReason.Message)
	}
	if sent.Placement != nil {
		instance.AvailabilityZone = sdk.ToString(sent.Placement.AvailabilityZone)
	}
	for _, mapping := range sent.BlockDeviceMappings {
		if mapping.Ebs != nil {
			instance.Devices = append(instance.Devices, Device{sdk.ToString(mapping.DeviceName), sdk.ToString(mapping.Ebs.VolumeId), string(mapping.Ebs.Status)})
		}
	}
	instance.Interfaces = make([]AttachedInterface, len(sent.NetworkInterfaces))
	for i, nic := range sent.NetworkInterfaces {
		at := i
		if nic.Attachment == nil {
			instance.Interfaces[at] = AttachedInterface{ID: sdk.ToString(nic.NetworkInterfaceId)}
			continue
		}
		if index := int(sdk.ToInt32(nic.Attachment.DeviceIndex)); index < len(sent.NetworkInterfaces) {
			at = index
		}
		instance.Interfaces[at] = AttachedInterface{sdk.ToString(nic.NetworkInterfaceId), sdk.ToString(nic.Attachment.AttachmentId)}
	}
	return instance
}

// Instance looks an instance up (1 DescribeInstances). An unknown one is an
// *Error for which IsNotFound holds.
func (c *Client) Instance(ctx context.Context, id string) (Instance, error) {
	out, err := c.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
	if err != nil {
		return Instance{}, failure(err, "instance "+id)
	}
	for _, reservation := range out.Reservations {
		for _, instance := range reservation.Instances {
			return instanceOf(instance), nil
		}
	}
	return Instance{}, &Error{Action: "DescribeInstances", Resource: "instance " + id, Code: "InvalidInstanceID.NotFound", Message: "AWS shows no such instance"}
}

// NamedInstance is Instance for an id that the caller named: it allows for one
// that another process made moments ago, and answers for an unknown one after
// a few seconds.
func (c *Client) NamedInstance(ctx context.Context, id string) (instance Instance, err error) {
	err = c.graced(ctx, func() error {
		instance, err = c.Instance(ctx, id)
		return err
	})
	return instance, err
}

// WaitRunning waits until an instance that was just launched runs (1
// DescribeInstances for each poll), and returns it as it is then. One that is
// terminated instead fails at once, with AWS's reason.
func (c *Client) WaitRunning(ctx context.Context, id string) (running Instance, err error) {
	err = c.wait(ctx, "RunInstances", "instance "+id+" to run", limitInstanceRunning, func(ctx context.Context) (bool, error) {
		err := c.visible(ctx, "InvalidInstanceID.NotFound", func() error {
			running, err = c.Instance(ctx, id)
			return err
		})
		if err != nil {
			return false, err
		}
		switch running.State {
		case InstanceRunning:
			return true, nil
		case InstanceShuttingDown, InstanceTerminated, "stopping", "stopped":
			return false, &Error{
				Action: "RunInstances", Resource: "instance " + id, Code: reasonCode(running.Reason),
				Message: fmt.Sprintf("the instance is %s instead of running: %s", running.State, orUnknown(running.Reason)),
			}
		}
		return false, nil
	})
	return running, err
}

// reasonCode takes the error code out of a state reason such as
// "Server.InsufficientInstanceCapacity: Insufficient capacity ...". AWS's own
// faults lose their "Server."; the account's keep their "Client.", since
// Client.InternalError is another thing than AWS's InternalError.
func reasonCode(reason string) string {
	code, _, found := strings.Cut(reason, ":")
	if !found || strings.Contains(code, " ") {
		return ""
	}
	return strings.TrimPrefix(code, "Server.")
}

func orUnknown(reason string) string {
	if reason == "" {
		return "AWS gives no reason"
	}
	return reason
}

// Terminate begins to terminate an instance (1 TerminateInstances). One that
// is terminated already is a success.
func (c *Client) Terminate(ctx context.Context, id string) error {
	_, err := c.ec2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{id}})
	if err != nil {
		return failure(err, "instance "+id)
	}
	return nil
}

// TerminateNew terminates an instance that this CPI call launched: AWS may not
// know it yet.
func (c *Client) TerminateNew(ctx context.Context, id string) error {
	err := c.visible(ctx, "InvalidInstanceID.NotFound", func() error { return c.Terminate(ctx, id) })
	if err != nil {
		return err
	}
	return c.WaitTerminated(ctx, id)
}

// WaitTerminated waits until an instance is terminated (1 DescribeInstances for
// each poll): then its addresses and volumes are free.
func (c *Client) WaitTerminated(ctx context.Context, id string) error {
	return c.wait(ctx, "TerminateInstances", "instance "+id+" to be terminated", limitInstanceTerminated, func(ctx context.Context) (bool, error) {
		instance, err := c.Instance(ctx, id)
		if IsNotFound(err) {
			return true, nil
		}
		return err == nil && instance.State == InstanceTerminated, err
	})
}

// Reboot reboots an instance (1 RebootInstances).
func (c *Client) Reboot(ctx context.Context, id string) error {
	return c.graced(ctx, func() error {
		_, err := c.ec2.RebootInstances(ctx, &ec2.RebootInstancesInput{InstanceIds: []string{id}})
		if err != nil {
			return failure(err, "instance "+id)
		}
		return nil
	})
}

func join(ids []string) string { return strings.Join(ids, ", ") }
