package action

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"bosh-aws-cpi/aws"
	"bosh-aws-cpi/aws/instancetypes"
	"bosh-aws-cpi/cpi"
	"bosh-aws-cpi/registry"
)

// lightSuffix marks the cid of a light stemcell: its AMI is not ours to delete.
const lightSuffix = " light"

// vmPlan is everything that create_vm knows before it makes anything: what the
// request says, and what AWS was asked.
type vmPlan struct {
	arguments  createVMArguments
	properties VMProperties
	networks   networks
	tags       aws.Tags
	vmName     string

	// What lookUp finds out.
	image          aws.Image
	kind           instancetypes.InstanceType
	securityGroups []string // ids, when it is done
	targetGroups   []string // ARNs, when it is done
	address        aws.Address
	routes         []aws.Route // what the advertised routes replace

	// The NICs that were made beforehand, in order.
	interfaces []string
	macs       map[*nicGroup]string
}

// planVM reads and checks the request; it asks nobody.
func (s *session) planVM(arguments createVMArguments) (*vmPlan, error) {
	plan := &vmPlan{arguments: arguments, vmName: "vm-" + newUUID(), macs: map[*nicGroup]string{}}
	var err error
	if plan.properties, err = readVMProperties(s.Method, arguments.CloudProperties, s.config.Defaults); err != nil {
		return nil, err
	}
	if plan.networks, err = readNetworks(s.Method, arguments.Networks); err != nil {
		return nil, err
	}
	if vip := plan.networks.vip; vip != nil && vip.unknownGroup != "" {
		s.Logger.Warn(s.Tag, "no other network is in nic_group %q of the vip network: the elastic IP goes to the primary NIC", vip.unknownGroup)
	}
	if plan.securityGroups, err = s.chooseSecurityGroups(plan); err != nil {
		return nil, err
	}
	plan.targetGroups = slices.Clone(plan.properties.TargetGroups)
	tags, err := environmentTags(s.Method, arguments.Env)
	if err != nil {
		return nil, err
	}
	maps.Copy(tags, tagsFrom(plan.properties.Tags))
	plan.tags = s.originTags(tags)
	plan.tags[aws.AgentTag] = cut(arguments.AgentID, maxTagValue)
	return plan, plan.checkUserData(s)
}

// chooseSecurityGroups returns the names or ids that hold for every NIC: the
// VM's, else the networks', else the configuration's.
func (s *session) chooseSecurityGroups(plan *vmPlan) ([]string, error) {
	for _, groups := range [][]string{plan.properties.SecurityGroups, plan.networks.securityGroups, s.config.Defaults.SecurityGroups} {
		if len(groups) > 0 {
			return unique(groups), nil
		}
	}
	return nil, invalid(s.Method, "no security group: name some in cloud_properties.security_groups of the VM or a network, or in aws.default_security_groups")
}

// unique leaves out what is there already; EC2 refuses a group given twice.
func unique(groups []string) []string {
	var once []string
	for _, group := range groups {
		if !slices.Contains(once, group) {
			once = append(once, group)
		}
	}
	return once
}

// checkUserData tells before any call whether the user data will fit. The
// placeholders are as long as what they stand for.
func (p *vmPlan) checkUserData(s *session) error {
	macs := map[*nicGroup]string{}
	for _, group := range p.networks.groups {
		macs[group] = "00:00:00:00:00:00"
	}
	kind, known := instancetypes.Lookup(p.properties.InstanceType)
	if !known {
		kind = instancetypes.AssumeNewest(p.properties.InstanceType)
	}
	_, paths := rawStorage(kind)
	disks := registry.Disks{System: fallbackRootDevice, Ephemeral: ephemeralDevice}
	if p.properties.RawInstanceStorage {
		disks.RawEphemeral = paths
	}
	_, err := p.userData(s, p.agentSettings(s, disks, macs))
	return err
}

// agentSettings are what the VM's agent learns.
func (p *vmPlan) agentSettings(s *session, disks registry.Disks, macs map[*nicGroup]string) registry.Settings {
	settings := registry.Settings{
		VMName:   p.vmName,
		AgentID:  p.arguments.AgentID,
		Networks: p.networks.forAgent(macs),
		Disks:    disks,
		DNS:      p.networks.dns,
		Registry: s.config.Registry,
	}
	if p.arguments.Env.Len() > 0 {
		settings.Env, _ = p.arguments.Env.MarshalJSON()
	}
	for _, member := range s.config.Agent.Members() {
		settings.Agent = append(settings.Agent, registry.Field{Key: member.Key, Value: member.Value})
	}
	return settings
}

// userData returns the user data of a launch; its error tells the size.
func (p *vmPlan) userData(s *session, settings registry.Settings) ([]byte, error) {
	fields := settings.UserData()
	if s.usesRegistry() {
		fields = settings.RegistryUserData()
	}
	data, err := json.Marshal(fields)
	if err != nil {
		return nil, cpi.Errorf(cpi.CpiError, "%s: the user data has no JSON form", s.Method)
	}
	if len(data) > registry.MaxUserDataBytes {
		return nil, invalid(s.Method, "the user data has %d bytes and EC2 takes %d: shorten env (certificates are the usual bulk), networks or the configuration's agent section",
			len(data), registry.MaxUserDataBytes)
	}
	return data, nil
}

// launch returns what to ask EC2 for.
func (p *vmPlan) launch(s *session) (vmLaunch, error) {
	mappings, disks, err := blockDevices(p.properties, p.kind, p.image, s.config.Defaults)
	if err != nil {
		return vmLaunch{}, invalid(s.Method, "%s", err)
	}
	settings := p.agentSettings(s, disks, p.macs)
	data, err := p.userData(s, settings)
	if err != nil {
		return vmLaunch{}, err
	}
	launch := aws.Launch{
		ImageID:          p.image.ID,
		InstanceType:     p.properties.InstanceType,
		AvailabilityZone: p.properties.AvailabilityZone,
		KeyName:          p.properties.KeyName,
		InstanceProfile:  p.properties.IAMInstanceProfile,
		PlacementGroup:   p.properties.PlacementGroup,
		Tenancy:          p.properties.Tenancy,
		UserData:         data,
		Mappings:         mappings,
		Interfaces:       p.interfaces,
		Metadata:         p.properties.MetadataOptions,
		Spot:             p.properties.SpotBidPrice != "",
		MaxPrice:         string(p.properties.SpotBidPrice),
		Tags:             p.tags,
	}
	if len(p.interfaces) == 0 {
		spec := p.interfaceSpec(p.networks.groups[0])
		spec.PublicIP = p.properties.AutoAssignPublicIP
		launch.Interface = &spec
	}
	return vmLaunch{launch, settings}, nil
}

func (p *vmPlan) interfaceSpec(group *nicGroup) aws.InterfaceSpec {
	return aws.InterfaceSpec{Subnet: group.subnet, Groups: p.securityGroups, IPv4: group.ipv4, IPv6: group.ipv6, Tags: p.tags}
}

func (p *vmPlan) imageID() string { return strings.TrimSuffix(p.arguments.StemcellCID, lightSuffix) }

// vmLaunch is a launch and what its agent finds in the registry.
type vmLaunch struct {
	aws.Launch
	settings registry.Settings
}

// newUUID makes a random UUID (RFC 9562, version 4).
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}
