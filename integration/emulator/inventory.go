package emulator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"bosh-aws-cpi/integration/emulator/query"
)

// Owner is the account number under which moto books what a tester makes.
const Owner = "123456789012"

// Resource is something in the account that a CPI can make and leave behind.
type Resource struct {
	Kind  string // instance, volume, attachment, snapshot, image, network-interface, subnet, address, route, target, elb
	ID    string // for the relations among them, e.g. "vol-1 -> i-1"
	State string
	Tags  map[string]string
}

// String tells kind and id: the state may change without anything being left.
func (r Resource) String() string { return r.Kind + " " + r.ID }

// Inventory lists what there is of all that a CPI could leave behind, sorted,
// so that before and after can be compared.
func (e *Emulator) Inventory(ctx context.Context, region string) ([]string, error) {
	resources, err := e.Resources(ctx, region)
	lines := make([]string, len(resources))
	for i, resource := range resources {
		lines[i] = resource.String()
	}
	return lines, err
}

// Diff tells what a second inventory has more ("+ ...") and less ("- ...").
func Diff(before, after []string) []string {
	var diff []string
	for _, line := range after {
		if !slices.Contains(before, line) {
			diff = append(diff, "+ "+line)
		}
	}
	for _, line := range before {
		if !slices.Contains(after, line) {
			diff = append(diff, "- "+line)
		}
	}
	return diff
}

// Resources is Inventory with states and tags.
func (e *Emulator) Resources(ctx context.Context, region string) ([]Resource, error) {
	if region == "" {
		region = e.region
	}
	lister := lister{ctx: ctx, client: e.query(region)}
	listings := []func() ([]Resource, error){
		lister.instances, lister.volumes, lister.snapshots, lister.images, lister.interfaces,
		lister.subnets, lister.addresses, lister.routes, lister.targets, lister.balancers,
	}
	found := make([][]Resource, len(listings))
	failed := make([]error, len(listings))
	var all sync.WaitGroup
	for i, list := range listings {
		all.Go(func() { found[i], failed[i] = list() })
	}
	all.Wait()
	for _, err := range failed {
		if err != nil {
			return nil, fmt.Errorf("listing what is in the account: %w", err)
		}
	}
	resources := slices.Concat(found...)
	slices.SortFunc(resources, func(a, b Resource) int { return strings.Compare(a.String(), b.String()) })
	return resources, nil
}

type lister struct {
	ctx    context.Context
	client query.Client
}

// list asks one EC2 question, page by page, for the items at a path.
func (l lister) list(action, path string, params ...string) ([]*query.Node, error) {
	var items []*query.Node
	page := params
	for {
		answer, err := l.client.Do(l.ctx, query.EC2, action, page...)
		if err != nil {
			return nil, err
		}
		items = append(items, answer.All(path)...)
		next := answer.Value("nextToken")
		if next == "" {
			return items, nil
		}
		page = append(slices.Clone(params), "NextToken", next)
	}
}

func (l lister) instances() ([]Resource, error) {
	items, err := l.list("DescribeInstances", "reservationSet/item/instancesSet/item")
	var found []Resource
	for _, item := range items {
		if state := item.Value("instanceState/name"); state != "terminated" {
			found = append(found, Resource{"instance", item.Value("instanceId"), state, tags(item)})
		}
	}
	return found, err
}

func (l lister) volumes() ([]Resource, error) {
	items, err := l.list("DescribeVolumes", "volumeSet/item")
	var found []Resource
	for _, item := range items {
		id := item.Value("volumeId")
		found = append(found, Resource{"volume", id, item.Value("status"), tags(item)})
		for _, attachment := range item.All("attachmentSet/item") {
			found = append(found, Resource{
				Kind:  "attachment",
				ID:    id + " -> " + attachment.Value("instanceId"),
				State: attachment.Value("device"),
			})
		}
	}
	return found, err
}

func (l lister) snapshots() ([]Resource, error) {
	items, err := l.list("DescribeSnapshots", "snapshotSet/item")
	if err != nil {
		return nil, err
	}
	images, err := l.images()
	var found []Resource
	for _, item := range items {
		// moto does not know the parameter Owner.
		if item.Value("ownerId") == Owner && !isPartOf(item, images) {
			found = append(found, Resource{"snapshot", item.Value("snapshotId"), item.Value("status"), tags(item)})
		}
	}
	return found, err
}

// isPartOf tells whether a snapshot is one that moto made with an image, and
// that cannot go before it. As long as the image is there it is told by that.
func isPartOf(snapshot *query.Node, images []Resource) bool {
	image, made := strings.CutPrefix(snapshot.Value("description"), "Auto-created snapshot for AMI ")
	return made && slices.ContainsFunc(images, func(r Resource) bool { return r.ID == image })
}

func (l lister) images() ([]Resource, error) {
	items, err := l.list("DescribeImages", "imagesSet/item", "Owner.1", "self")
	var found []Resource
	for _, item := range items {
		found = append(found, Resource{"image", item.Value("imageId"), item.Value("imageState"), tags(item)})
	}
	return found, err
}

func (l lister) interfaces() ([]Resource, error) {
	items, err := l.list("DescribeNetworkInterfaces", "networkInterfaceSet/item")
	var found []Resource
	for _, item := range items {
		found = append(found, Resource{"network-interface", item.Value("networkInterfaceId"), item.Value("status"), tags(item)})
	}
	return found, err
}

func (l lister) subnets() ([]Resource, error) {
	items, err := l.list("DescribeSubnets", "subnetSet/item")
	var found []Resource
	for _, item := range items {
		found = append(found, Resource{"subnet", item.Value("subnetId"), item.Value("state"), tags(item)})
	}
	return found, err
}

func (l lister) addresses() ([]Resource, error) {
	items, err := l.list("DescribeAddresses", "addressesSet/item")
	var found []Resource
	for _, item := range items {
		holder := item.Value("networkInterfaceId")
		if item.Value("associationId") != "" && holder != "" {
			found = append(found, Resource{Kind: "address", ID: item.Value("publicIp") + " -> " + holder})
		}
	}
	return found, err
}

func (l lister) routes() ([]Resource, error) {
	items, err := l.list("DescribeRouteTables", "routeTableSet/item")
	var found []Resource
	for _, item := range items {
		for _, route := range item.All("routeSet/item") {
			destination := route.Value("destinationCidrBlock") + route.Value("destinationIpv6CidrBlock")
			target := route.Value("gatewayId") + route.Value("networkInterfaceId") + route.Value("instanceId")
			id := item.Value("routeTableId") + " " + destination + " -> " + target
			found = append(found, Resource{Kind: "route", ID: id, State: route.Value("state")})
		}
		for _, association := range item.All("associationSet/item") {
			if subnet := association.Value("subnetId"); subnet != "" {
				found = append(found, Resource{Kind: "route", ID: item.Value("routeTableId") + " of " + subnet})
			}
		}
	}
	return found, err
}

func (l lister) targets() ([]Resource, error) {
	groups, err := l.client.Do(l.ctx, query.ELBv2, "DescribeTargetGroups")
	if err != nil {
		return nil, err
	}
	var found []Resource
	for _, group := range groups.All("DescribeTargetGroupsResult/TargetGroups/member") {
		health, err := l.client.Do(l.ctx, query.ELBv2, "DescribeTargetHealth", "TargetGroupArn", group.Value("TargetGroupArn"))
		if err != nil {
			return nil, err
		}
		for _, target := range health.All("DescribeTargetHealthResult/TargetHealthDescriptions/member") {
			id := group.Value("TargetGroupName") + " " + target.Value("Target/Id")
			found = append(found, Resource{Kind: "target", ID: id, State: target.Value("TargetHealth/State")})
		}
	}
	return found, nil
}

func (l lister) balancers() ([]Resource, error) {
	answer, err := l.client.Do(l.ctx, query.ELB, "DescribeLoadBalancers")
	var found []Resource
	for _, balancer := range answer.All("DescribeLoadBalancersResult/LoadBalancerDescriptions/member") {
		for _, member := range balancer.All("Instances/member") {
			found = append(found, Resource{Kind: "elb", ID: balancer.Value("LoadBalancerName") + " " + member.Value("InstanceId")})
		}
	}
	return found, err
}

func tags(item *query.Node) map[string]string {
	tags := map[string]string{}
	for _, tag := range item.All("tagSet/item") {
		tags[tag.Value("key")] = tag.Value("value")
	}
	return tags
}
