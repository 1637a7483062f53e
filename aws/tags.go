package aws

import (
	"context"
	"maps"
	"slices"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// Tags are a resource's tags by key.
type Tags map[string]string

// list returns the tags in the order of their keys, so that the retries of a
// call with a ClientToken are the same request.
func (t Tags) list() []types.Tag {
	var list []types.Tag
	for _, key := range slices.Sorted(maps.Keys(t)) {
		list = append(list, types.Tag{Key: sdk.String(key), Value: sdk.String(t[key])})
	}
	return list
}

// specification returns the tags for what a creating call makes; nil without
// tags, since EC2 refuses an empty list.
func (t Tags) specification(kinds ...types.ResourceType) []types.TagSpecification {
	if len(t) == 0 {
		return nil
	}
	var all []types.TagSpecification
	for _, kind := range kinds {
		all = append(all, types.TagSpecification{ResourceType: kind, Tags: t.list()})
	}
	return all
}

func tagsOf(list []types.Tag) Tags {
	tags := Tags{}
	for _, tag := range list {
		tags[sdk.ToString(tag.Key)] = sdk.ToString(tag.Value)
	}
	return tags
}

// Tag sets tags on resources (1 CreateTags, none without tags). Tagging is
// never worth failing a call for: when a resource has no room for more tags or
// AWS refuses a key, the resources are tagged one by one, and what is refused
// then is logged. Any other failure is an *Error.
func (c *Client) Tag(ctx context.Context, tags Tags, resources ...string) error {
	return c.tagResources(ctx, c.graced, tags, resources...)
}

// TagNewSnapshot is Tag for a snapshot that this CPI call made.
func (c *Client) TagNewSnapshot(ctx context.Context, tags Tags, snapshot string) error {
	untilSeen := func(ctx context.Context, call func() error) error {
		return c.visible(ctx, "InvalidSnapshot.NotFound", call)
	}
	return c.tagResources(ctx, untilSeen, tags, snapshot)
}

func (c *Client) tagResources(ctx context.Context, patiently func(context.Context, func() error) error, tags Tags, resources ...string) error {
	if len(tags) == 0 || len(resources) == 0 {
		return nil
	}
	err := patiently(ctx, func() error { return c.createTags(ctx, tags, resources...) })
	if !isTagRefusal(err) {
		return err
	}
	c.warnf("not tagged: %s", err)
	if len(resources) == 1 {
		return nil
	}
	for _, resource := range resources {
		err := c.createTags(ctx, tags, resource)
		if err != nil && !isTagRefusal(err) {
			return err
		}
		if err != nil {
			c.warnf("not tagged: %s", err)
		}
	}
	return nil
}

func (c *Client) createTags(ctx context.Context, tags Tags, resources ...string) error {
	_, err := c.ec2.CreateTags(ctx, &ec2.CreateTagsInput{Resources: resources, Tags: tags.list()})
	if err != nil {
		return failure(err, join(resources))
	}
	return nil
}

func isTagRefusal(err error) bool {
	return HasCode(err, "TagLimitExceeded", "InvalidParameterValue")
}

// The tags that say which call made a resource.
const (
	DirectorTag = "bosh-director"
	AgentTag    = "bosh-agent-id"
	RequestTag  = "bosh-request-id"
)

// filters finds what the same call made: by the tags that say so.
func (t Tags) filters() []types.Filter {
	var filters []types.Filter
	for _, tag := range t.list() {
		if slices.Contains([]string{DirectorTag, AgentTag, RequestTag}, *tag.Key) {
			filters = append(filters, filter("tag:"+*tag.Key, *tag.Value))
		}
	}
	return filters
}
