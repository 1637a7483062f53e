package aws

import (
	"context"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
)

// TargetGroupARNs returns the ARNs of target groups in the order of their names
// (1 DescribeTargetGroups, of ELBv2). A name that is not there is an *Error
// for which IsNotFound holds.
func (c *Client) TargetGroupARNs(ctx context.Context, names []string) ([]string, error) {
	out, err := c.elbv2().DescribeTargetGroups(ctx, &elbv2.DescribeTargetGroupsInput{Names: names})
	if err != nil {
		return nil, failure(err, "target group "+join(names))
	}
	byName := map[string]string{}
	for _, group := range out.TargetGroups {
		byName[sdk.ToString(group.TargetGroupName)] = sdk.ToString(group.TargetGroupArn)
	}
	var arns []string
	for _, name := range names {
		if byName[name] == "" {
			return nil, &Error{Action: "DescribeTargetGroups", Resource: "target group " + name, Code: "TargetGroupNotFound",
				Message: fmt.Sprintf("region %s has no target group of that name", c.region)}
		}
		arns = append(arns, byName[name])
	}
	return arns, nil
}

// RegisterTarget puts an instance that runs into a target group (1
// RegisterTargets). ELB may know it, or that it runs, a while later than EC2.
func (c *Client) RegisterTarget(ctx context.Context, group, instance string) error {
	return c.visibleToELB(ctx, "InvalidTarget", func() error {
		_, err := c.elbv2().RegisterTargets(ctx, &elbv2.RegisterTargetsInput{
			TargetGroupArn: sdk.String(group), Targets: []elbv2types.TargetDescription{{Id: sdk.String(instance)}},
		})
		if err != nil {
			return failure(err, "instance "+instance+" in target group "+group)
		}
		return nil
	})
}

// visibleToELB waits like visible, but not for an instance in another VPC than
// the load balancer's, for which ELB has the same code.
func (c *Client) visibleToELB(ctx context.Context, code string, register func() error) error {
	var misplaced error
	err := c.visible(ctx, code, func() error {
		err := register()
		if err != nil && strings.Contains(err.Error(), "VPC") {
			misplaced, err = err, nil
		}
		return err
	})
	return errors.Join(misplaced, err)
}

// DeregisterTarget takes an instance out of a target group (1
// DeregisterTargets).
func (c *Client) DeregisterTarget(ctx context.Context, group, instance string) error {
	_, err := c.elbv2().DeregisterTargets(ctx, &elbv2.DeregisterTargetsInput{
		TargetGroupArn: sdk.String(group), Targets: []elbv2types.TargetDescription{{Id: sdk.String(instance)}},
	})
	if err != nil {
		return failure(err, "instance "+instance+" in target group "+group)
	}
	return nil
}

// RegisterWithELB puts an instance behind a classic load balancer (1
// RegisterInstancesWithLoadBalancer). ELB may know it a while later than EC2.
func (c *Client) RegisterWithELB(ctx context.Context, name, instance string) error {
	return c.visibleToELB(ctx, "InvalidInstance", func() error {
		_, err := c.elb().RegisterInstancesWithLoadBalancer(ctx, &elb.RegisterInstancesWithLoadBalancerInput{
			LoadBalancerName: sdk.String(name), Instances: []elbtypes.Instance{{InstanceId: sdk.String(instance)}},
		})
		if err != nil {
			return failure(err, "instance "+instance+" behind load balancer "+name)
		}
		return nil
	})
}

// DeregisterFromELB takes an instance from behind a classic load balancer (1
// DeregisterInstancesFromLoadBalancer).
func (c *Client) DeregisterFromELB(ctx context.Context, name, instance string) error {
	_, err := c.elb().DeregisterInstancesFromLoadBalancer(ctx, &elb.DeregisterInstancesFromLoadBalancerInput{
		LoadBalancerName: sdk.String(name), Instances: []elbtypes.Instance{{InstanceId: sdk.String(instance)}},
	})
	if err != nil {
		return failure(err, "instance "+instance+" behind load balancer "+name)
	}
	return nil
}
