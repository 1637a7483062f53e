package action

import (
	"encoding/json"
	"fmt"
	"math"
	"net/netip"
	"strconv"

	"bosh-aws-cpi/aws"
	"bosh-aws-cpi/cpi"
)

// VMProperties are the cloud properties of a VM; each key is described in
// docs/cloud-properties.md.
type VMProperties struct {
	InstanceType         string               `json:"instance_type"`
	AvailabilityZone     string               `json:"availability_zone"`
	SecurityGroups       []string             `json:"security_groups"`
	KeyName              string               `json:"key_name"`
	IAMInstanceProfile   string               `json:"iam_instance_profile"`
	SpotBidPrice         Price                `json:"spot_bid_price"` // USD an hour
	SpotOnDemandFallback bool                 `json:"spot_ondemand_fallback"`
	ELBs                 []string             `json:"elbs"`
	TargetGroups         []string             `json:"lb_target_groups"`
	PlacementGroup       string               `json:"placement_group"`
	Tenancy              string               `json:"tenancy"`
	AutoAssignPublicIP   bool                 `json:"auto_assign_public_ip"`
	AdvertisedRoutes     []AdvertisedRoute    `json:"advertised_routes"`
	SourceDestCheck      *bool                `json:"source_dest_check"`
	RawInstanceStorage   bool                 `json:"raw_instance_storage"`
	EphemeralDisk        EphemeralDisk        `json:"ephemeral_disk"`
	RootDisk             RootDisk             `json:"root_disk"`
	MetadataOptions      *aws.MetadataOptions `json:"metadata_options"`
	Tags                 cpi.Object           `json:"tags"`

	routes []aws.Route // AdvertisedRoutes, parsed
}

// AdvertisedRoute leads a destination to the VM in a route table.
type AdvertisedRoute struct {
	TableID     string `json:"table_id"`
	Destination string `json:"destination"`
}

// EphemeralDisk says what /var/vcap/data lies on.
type EphemeralDisk struct {
	VolumeProperties
	Size               *int64 `json:"size"` // MiB
	UseInstanceStorage bool   `json:"use_instance_storage"`
	UseRootDisk        bool   `json:"use_root_disk"`
}

// RootDisk says what the root file system lies on.
type RootDisk struct {
	VolumeProperties
	Size *int64 `json:"size"` // MiB
}

// Price is a price in USD, written as a number or as a string.
type Price string

// UnmarshalJSON reads a number or a string that holds one.
func (p *Price) UnmarshalJSON(data []byte) error {
	text := string(data)
	if text == "null" {
		return nil
	}
	if text[0] == '"' {
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
	}
	if price, err := strconv.ParseFloat(text, 64); err != nil || !(price > 0) || math.IsInf(price, 0) {
		return fmt.Errorf("spot_bid_price: expected a price in USD above 0")
	}
	*p = Price(text)
	return nil
}

// readVMProperties reads and checks the cloud properties of a VM and fills in
// the configuration's defaults.
func readVMProperties(method string, sent cpi.Object, defaults Defaults) (VMProperties, error) {
	var properties VMProperties
	if err := decodeProperties(method, "cloud_properties", sent, &properties); err != nil {
		return properties, err
	}
	if properties.KeyName == "" {
		properties.KeyName = defaults.KeyName
	}
	if properties.IAMInstanceProfile == "" {
		properties.IAMInstanceProfile = defaults.IAMInstanceProfile
	}
	properties.MetadataOptions = mergeMetadataOptions(defaults.MetadataOptions, properties.MetadataOptions)
	for _, check := range []func() error{
		properties.checkPlacement, properties.readRoutes,
		func() error { return properties.checkEphemeralDisk(defaults) },
		func() error { return properties.checkRootDisk(defaults) },
		func() error { return checkMetadataOptions(properties.MetadataOptions) },
	} {
		if err := check(); err != nil {
			return properties, invalid(method, "cloud_properties.%s", err)
		}
	}
	return properties, nil
}

func (p *VMProperties) checkPlacement() error {
	switch {
	case p.InstanceType == "":
		return fmt.Errorf("instance_type is missing")
	case p.AvailabilityZone == "":
		return fmt.Errorf("availability_zone is missing: name it in the VM type or in the az's cloud_properties")
	case p.Tenancy != "" && p.Tenancy != "default" && p.Tenancy != "dedicated" && p.Tenancy != "host":
		return fmt.Errorf("tenancy: expected default, dedicated or host, got %q", p.Tenancy)
	}
	for key, list := range map[string][]string{"security_groups": p.SecurityGroups, "elbs": p.ELBs, "lb_target_groups": p.TargetGroups} {
		for _, name := range list {
			if name == "" {
				return fmt.Errorf("%s: one of its names is empty", key)
			}
		}
	}
	return nil
}

func (p *VMProperties) checkEphemeralDisk(defaults Defaults) error {
	disk := p.EphemeralDisk
	if disk.Size != nil {
		if _, err := gibibytes("ephemeral_disk.size", *disk.Size); err != nil {
			return err
		}
	}
	if err := disk.validate(defaults); err != nil {
		return fmt.Errorf("ephemeral_disk.%w", err)
	}
	if !disk.UseInstanceStorage {
		return nil
	}
	switch {
	case p.RawInstanceStorage:
		return fmt.Errorf("ephemeral_disk.use_instance_storage and raw_instance_storage contradict each other: only one can have the instance's local disks")
	case disk.UseRootDisk:
		return fmt.Errorf("ephemeral_disk.use_instance_storage and ephemeral_disk.use_root_disk contradict each other")
	case disk.Size != nil || disk.VolumeProperties != (VolumeProperties{}):
		return fmt.Errorf("ephemeral_disk.use_instance_storage cannot be combined with size, type, iops, throughput, encrypted or kms_key_arn: local disks are as they are")
	}
	return nil
}

func (p *VMProperties) checkRootDisk(defaults Defaults) error {
	if p.RootDisk.Size != nil {
		if _, err := gibibytes("root_disk.size", *p.RootDisk.Size); err != nil {
			return err
		}
	}
	if err := p.RootDisk.validate(defaults); err != nil {
		return fmt.Errorf("root_disk.%w", err)
	}
	return nil
}

func (p *VMProperties) readRoutes() error {
	for i, route := range p.AdvertisedRoutes {
		if route.TableID == "" {
			return fmt.Errorf("advertised_routes[%d].table_id is missing", i)
		}
		destination, err := netip.ParsePrefix(route.Destination)
		if err != nil || destination != destination.Masked() {
			return fmt.Errorf("advertised_routes[%d].destination: expected a range such as 10.2.0.0/16, got %q", i, route.Destination)
		}
		p.routes = append(p.routes, aws.Route{Table: route.TableID, Destination: destination})
	}
	return nil
}

// mergeMetadataOptions merges key by key; the VM's win.
func mergeMetadataOptions(defaults, own *aws.MetadataOptions) *aws.MetadataOptions {
	if defaults == nil {
		return own
	}
	merged := *defaults
	if own != nil {
		// What own does not have, its JSON form does not have either.
		data, err := json.Marshal(own)
		if err == nil {
			err = json.Unmarshal(data, &merged)
		}
		if err != nil {
			panic(err) // both are structs of strings and numbers
		}
	}
	return &merged
}

func checkMetadataOptions(options *aws.MetadataOptions) error {
	if options == nil {
		return nil
	}
	for _, option := range []struct {
		key, first, second string
		value              *string
	}{
		{"http_endpoint", "enabled", "disabled", options.HTTPEndpoint},
		{"http_protocol_ipv6", "enabled", "disabled", options.HTTPProtocolIPv6},
		{"http_tokens", "required", "optional", options.HTTPTokens},
		{"instance_metadata_tags", "enabled", "disabled", options.InstanceMetadataTags},
	} {
		if option.value != nil && *option.value != option.first && *option.value != option.second {
			return fmt.Errorf("metadata_options.%s: expected %q or %q, got %q", option.key, option.first, option.second, *option.value)
		}
	}
	if hops := options.HTTPPutHopLimit; hops != nil && (*hops < 1 || *hops > 64) {
		return fmt.Errorf("metadata_options.http_put_response_hop_limit: expected 1 to 64, got %d", *hops)
	}
	return nil
}
