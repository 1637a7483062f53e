package action

import (
	"fmt"
	"maps"
	"slices"

	"bosh-aws-cpi/cpi"
)

// StemcellProperties are the cloud properties of a stemcell; each key is
// described in docs/cloud-properties.md.
type StemcellProperties struct {
	AMI                map[string]string `json:"ami"` // id by region
	Name               string            `json:"name"`
	Version            text              `json:"version"`
	Disk               *int64            `json:"disk"` // MiB
	Architecture       string            `json:"architecture"`
	VirtualizationType string            `json:"virtualization_type"`
	RootDeviceName     string            `json:"root_device_name"`
	BootMode           string            `json:"boot_mode"`
	Encrypted          bool              `json:"encrypted"`
	KMSKeyARN          string            `json:"kms_key_arn"`
	Tags               cpi.Object        `json:"tags"`
}

// light says that the stemcell names AMIs instead of bringing an image.
func (p StemcellProperties) light() bool { return len(p.AMI) > 0 }

func (p StemcellProperties) validate(defaults Defaults) error {
	for region, ami := range p.AMI {
		if ami == "" {
			return fmt.Errorf("ami.%s: expected an AMI id, got an empty string", region)
		}
	}
	if p.KMSKeyARN != "" && !p.Encrypted && !defaults.Encrypted {
		return fmt.Errorf("kms_key_arn is set, and encrypted is not true, here or in the configuration: a key is of use with an encrypted image only")
	}
	return nil
}

// regions returns the regions that have an AMI, sorted.
func (p StemcellProperties) regions() []string { return slices.Sorted(maps.Keys(p.AMI)) }

// amiIDs returns the AMI of the region if the stemcell names it, else all of
// them: an endpoint that is no AWS region's may show any of them.
func (p StemcellProperties) amiIDs(region string) []string {
	if ami := p.AMI[region]; ami != "" {
		return []string{ami}
	}
	return slices.Sorted(maps.Values(p.AMI))
}

// kmsKey returns the key of an encrypted stemcell: its own before the
// configuration's; empty is the account's default key.
func (p StemcellProperties) kmsKey(defaults Defaults) string {
	if p.KMSKeyARN != "" {
		return p.KMSKeyARN
	}
	return defaults.KMSKeyARN
}
