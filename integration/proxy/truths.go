package proxy

import (
	"errors"
	"net/http"

	"bosh-aws-cpi/integration/emulator/query"
)

// A truth answers a call as AWS does where moto (5.2.1) does not. It runs
// while the emulator is held. Each says what moto does and what AWS does.
type truth func(p *Proxy, x *exchange) *answer

// truths by service and action; set in init because truths call back into the
// proxy, which reads this.
var truths map[string]truth

func init() {
	truths = map[string]truth{
		"ec2 RunInstances":       runInstances,
		"ec2 DescribeInstances":  view(showInstances),
		"ec2 TerminateInstances": terminateInstances,
		"ec2 RebootInstances":    rebootInstances,

		"ec2 CreateVolume":                 createVolume,
		"ec2 DeleteVolume":                 deleteVolume,
		"ec2 AttachVolume":                 attachVolume,
		"ec2 DetachVolume":                 detachVolume,
		"ec2 DescribeVolumes":              view(showVolumes),
		"ec2 ModifyVolume":                 modifyVolume,
		"ec2 DescribeVolumesModifications": describeVolumesModifications,

		"ec2 CreateSnapshot":    createSnapshot,
		"ec2 DescribeSnapshots": view(showSnapshots),
		"ec2 DeleteSnapshot":    deleteSnapshot,

		"ec2 RegisterImage":   registerImage,
		"ec2 CopyImage":       copyImage,
		"ec2 DescribeImages":  describeImages,
		"ec2 DeregisterImage": deregisterImage,

		"ec2 CreateNetworkInterface":          createNetworkInterface,
		"ec2 DescribeNetworkInterfaces":       view(showInterfaces),
		"ec2 DeleteNetworkInterface":          deleteNetworkInterface,
		"ec2 ModifyNetworkInterfaceAttribute": modifyNetworkInterfaceAttribute,
		"ec2 AssignPrivateIpAddresses":        assignPrefixes("assignedIpv4PrefixSet", "Ipv4Prefix"),
		"ec2 AssignIpv6Addresses":             assignPrefixes("assignedIpv6PrefixSet", "Ipv6Prefix"),

		"ec2 AssociateAddress":    associateAddress,
		"ec2 DescribeAddresses":   view(showAddresses),
		"ec2 CreateSubnet":        createSubnet,
		"ec2 DeleteSubnet":        deleteSubnet,
		"ec2 CreateRoute":         createRoute,
		"ec2 ReplaceRoute":        replaceRoute,
		"ec2 DescribeRouteTables": view(showRoutes),
		"ec2 CreateTags":          createTags,

		"elb RegisterInstancesWithLoadBalancer": registerWithBalancer,
		"elbv2 RegisterTargets":                 registerTargets,

		"ebs StartSnapshot":      startSnapshot,
		"ebs PutSnapshotBlock":   putSnapshotBlock,
		"ebs CompleteSnapshot":   completeSnapshot,
		"ebs ListSnapshotBlocks": listSnapshotBlocks,
	}
}

// view is a truth that changes what the emulator shows.
func view(change func(p *Proxy, x *exchange, root *query.Node)) truth {
	return func(p *Proxy, x *exchange) *answer {
		a := pass(p, x)
		if !a.ok() {
			return a
		}
		return a.rewrite(func(root *query.Node) { change(p, x, root) })
	}
}

// refuse answers with an error of the caller's making.
func refuse(x *exchange, code, message string) *answer {
	return Failure{http.StatusBadRequest, code, message}.render(x.Call, "as AWS")
}

// relay answers with the error that a question of our own got.
func relay(x *exchange, err error) *answer {
	var failure *query.Error
	if errors.As(err, &failure) && failure.Code != "" {
		return Failure{failure.Status, failure.Code, failure.Message}.render(x.Call, "")
	}
	return unreachable(x, err)
}

// describe asks for one item by its id.
func (p *Proxy) describe(x *exchange, action, parameter, id, path string) (*query.Node, error) {
	root, err := p.ask(x, query.EC2, action, parameter+".1", id)
	if err != nil {
		return nil, err
	}
	if item := root.Get(path); item != nil {
		return item, nil
	}
	// moto answers with nothing where AWS knows the id or refuses.
	failure := notFound(query.EC2, id)
	return nil, &query.Error{Action: action, Status: failure.Status, Code: failure.Code, Message: failure.Message}
}

func (p *Proxy) instance(x *exchange, id string) (*query.Node, error) {
	return p.describe(x, "DescribeInstances", "InstanceId", id, "reservationSet/item/instancesSet/item")
}

func (p *Proxy) volume(x *exchange, id string) (*query.Node, error) {
	return p.describe(x, "DescribeVolumes", "VolumeId", id, "volumeSet/item")
}

func (p *Proxy) networkInterface(x *exchange, id string) (*query.Node, error) {
	return p.describe(x, "DescribeNetworkInterfaces", "NetworkInterfaceId", id, "networkInterfaceSet/item")
}

func (p *Proxy) image(x *exchange, id string) (*query.Node, error) {
	return p.describe(x, "DescribeImages", "ImageId", id, "imagesSet/item")
}

// instanceState is the state that is to be seen.
func (p *Proxy) instanceState(item *query.Node) string {
	if state := p.states.of(item.Value("instanceId")); state != "" {
		return state
	}
	return item.Value("instanceState/name")
}
