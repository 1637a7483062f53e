package action

import (
	"context"
	"maps"

	"bosh-aws-cpi/aws"
	"bosh-aws-cpi/cpi"
	"bosh-aws-cpi/registry"
)

// session is what one call has at hand: its configuration, AWS, the registry.
type session struct {
	*cpi.Call
	config   Config
	aws      *aws.Client
	registry *registry.Client // nil when none is configured
}

// openSession validates the configuration that holds for a call and makes its
// clients; it asks nobody anything.
func openSession(ctx context.Context, call *cpi.Call, file ConfigFile, version string) (*session, error) {
	config, err := file.For(call.Context.Overrides)
	if err != nil {
		return nil, err
	}
	transport, err := aws.NewHTTPClient(config.Timing.HTTP)
	if err != nil {
		return nil, cpi.Errorf(cpi.CpiError, "%w", err)
	}
	client, err := aws.New(ctx, config.AWS, aws.Options{
		Version: version, Director: call.Context.DirectorUUID, Request: call.RequestID,
		HTTP: transport, Timing: config.Timing, Logger: call.Logger, Tag: call.Tag,
	})
	if err != nil {
		return nil, cpi.Errorf(cpi.CpiError, "%w", err)
	}
	call.Figures = client.Figures
	s := &session{Call: call, config: config, aws: client}
	if config.Registry.Configured() {
		s.registry = registry.NewClient(config.Registry, transport, config.Timing.Scale)
	}
	return s, nil
}

// usesRegistry says whether the VM's agent reads the registry: when the caller
// or the VM's stemcell speaks version 1.
func (s *session) usesRegistry() bool {
	return s.APIVersion == 1 || s.Context.StemcellAPIVersion == 1
}

// requireRegistry fails a call that needs a registry before it changes anything.
func (s *session) requireRegistry() error {
	if !s.usesRegistry() || s.registry != nil {
		return nil
	}
	return cpi.Errorf(cpi.CpiError, "%s: the registry is needed (API version %d, stemcell API version %d) and registry.endpoint is not configured: "+
		"use a stemcell of API version 2 or above, or configure the registry", s.Method, s.APIVersion, s.Context.StemcellAPIVersion)
}

// originTags say where a resource comes from, so that what a killed call leaves
// behind can be found. They win over tags of the same name.
func (s *session) originTags(more aws.Tags) aws.Tags {
	tags := maps.Clone(more)
	if tags == nil {
		tags = aws.Tags{}
	}
	for key, value := range map[string]string{aws.DirectorTag: s.Context.DirectorUUID, aws.RequestTag: s.RequestID} {
		if value != "" {
			tags[key] = cut(value, maxTagValue)
		}
	}
	return tags
}
