package main

import (
	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/emulator"
)

// director is what a manifest says of a Director's VM. The manifest has the shape
// that bosh-deployment's bosh.yml and aws/cpi.yml give it.
type director struct {
	account  emulator.Account
	endpoint string // of AWS
	mbus     string // host and port where the VM's agent listens
	release  string // paths
	stemcell string

	diskSize   int
	maxRetries int    // the property that an update changes
	subnet     string // "" is the account's first
}

func (d director) manifest() map[string]any {
	return map[string]any{
		"name":     "bosh",
		"releases": []any{map[string]any{"name": "bosh-aws-cpi", "url": "file://" + d.release}},
		"resource_pools": []any{map[string]any{
			"name": "vms", "network": "default",
			"stemcell":         map[string]any{"url": "file://" + d.stemcell},
			"cloud_properties": map[string]any{"instance_type": "m5.xlarge", "ephemeral_disk": map[string]any{"type": "gp3", "size": 25000}, "availability_zone": d.account.Subnets[0].Zone},
			"env": map[string]any{"bosh": map[string]any{
				"password": "*", "mbus": map[string]any{"cert": "((mbus_bootstrap_ssl))"}, "blobstores": []any{localBlobstore()},
			}},
		}},
		"disk_pools":      []any{map[string]any{"name": "disks", "disk_size": d.diskSize, "cloud_properties": map[string]any{"type": "gp3"}}},
		"networks":        []any{d.network()},
		"instance_groups": []any{d.instanceGroup()},
		"cloud_provider": map[string]any{
			"template": cpiJob(),
			"mbus":     "https://mbus:((mbus_bootstrap_password))@" + d.mbus,
			"cert":     "((mbus_bootstrap_ssl))",
			"properties": map[string]any{
				"aws":       d.aws(8),
				"agent":     map[string]any{"mbus": "https://mbus:((mbus_bootstrap_password))@" + d.mbus},
				"blobstore": map[string]any{"provider": "local", "path": blobstorePath},
				"ntp":       []string{"169.254.169.123"},
			},
		},
		"variables": variables(),
	}
}

// blobstorePath is replaced by the agent with a folder of its own.
const blobstorePath = "/var/vcap/micro_bosh/data/cache"

func localBlobstore() map[string]any {
	return map[string]any{"provider": "local", "options": map[string]any{"blobstore_path": blobstorePath}}
}

func cpiJob() map[string]any { return map[string]any{"name": "aws_cpi", "release": "bosh-aws-cpi"} }

// instanceGroup is the Director's VM, with the CPI for the VMs that it will make.
func (d director) instanceGroup() map[string]any {
	return map[string]any{
		"name": "bosh", "instances": 1, "jobs": []any{cpiJob()},
		"resource_pool": "vms", "persistent_disk_pool": "disks",
		"networks":   []any{map[string]any{"name": "default", "static_ips": []string{d.account.Subnets[0].IP(6)}}},
		"properties": map[string]any{"aws": d.aws(d.maxRetries), "agent": map[string]any{"mbus": "nats://" + d.account.Subnets[0].IP(6) + ":4222"}},
	}
}

func (d director) aws(maxRetries int) map[string]any {
	return map[string]any{
		"access_key_id": driver.AccessKey, "secret_access_key": driver.SecretKey, "region": d.account.Region,
		"default_key_name": d.account.KeyName, "default_security_groups": []string{d.account.Groups[0].ID},
		"ec2_endpoint": d.endpoint, "elb_endpoint": d.endpoint, "sts_endpoint": d.endpoint, "ebs_endpoint": d.endpoint,
		"max_retries": maxRetries,
	}
}

func (d director) network() map[string]any {
	subnet := d.account.Subnets[0]
	id := d.subnet
	if id == "" {
		id = subnet.ID
	}
	return map[string]any{
		"name": "default", "type": "manual",
		"subnets": []any{map[string]any{
			"range": subnet.CIDR, "gateway": subnet.Gateway(), "dns": []string{"10.0.0.2"}, "static": []string{subnet.IP(6)},
			"cloud_properties": map[string]any{"subnet": id},
		}},
	}
}

// variables are made by the CLI.
func variables() []any {
	return []any{
		map[string]any{"name": "mbus_bootstrap_password", "type": "password"},
		map[string]any{"name": "default_ca", "type": "certificate", "options": map[string]any{"is_ca": true, "common_name": "ca"}},
		map[string]any{"name": "mbus_bootstrap_ssl", "type": "certificate", "options": map[string]any{
			"ca": "default_ca", "common_name": "127.0.0.1", "alternative_names": []string{"127.0.0.1"},
		}},
	}
}
