// Package life is a VM's whole life as a list of CPI calls: what the demo shows,
// the benchmark counts and the integration suite holds against the budgets.
package life

import (
	"context"
	"fmt"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/emulator"
	"bosh-aws-cpi/integration/proxy"
)

// Step is one CPI call of a life.
type Step struct {
	Method    string
	Arguments func(*State) []any
	// Keep takes from the result what later steps need; nil when they need nothing.
	Keep func(*State, driver.Outcome)
	// Budget is how many AWS calls the step may make; Today is how many today's
	// CPI makes, measured on the same emulator, -1 where it was not.
	Budget, Today int
}

// State is what the steps of a life tell each other.
type State struct {
	Account  emulator.Account
	Stemcell string
	VM       string
	Disk     string
	Snapshot string
}

// Happened is a step that was made.
type Happened struct {
	Step    Step
	Outcome driver.Outcome
	Calls   proxy.Log
}

// Live makes the steps in order and reports each to told. It stops at the first
// one that fails.
func Live(ctx context.Context, cpi driver.CPI, recorder *proxy.Proxy, account emulator.Account, steps []Step, told func(Happened)) error {
	state := &State{Account: account}
	for _, step := range steps {
		mark := recorder.Mark()
		outcome := cpi.Call(ctx, step.Method, step.Arguments(state)...)
		told(Happened{step, outcome, recorder.Since(mark)})
		if err := outcome.Err(); err != nil {
			return fmt.Errorf("%s: %w", step.Method, err)
		}
		if step.Keep != nil {
			step.Keep(state, outcome)
		}
	}
	return nil
}

// AgentID is the agent id of the VMs of a life.
const AgentID = "6a5a1f2e-8b1c-4f4e-9d55-0d3f6a6a2b10"

// OneVM is the life of a VM with one NIC, its security groups given by id.
func OneVM() []Step {
	return []Step{
		{Method: "info", Arguments: none, Budget: 0, Today: 0},
		{Method: "create_stemcell", Arguments: stemcell, Keep: keepStemcell, Budget: 1, Today: 1},
		{Method: "calculate_vm_cloud_properties", Arguments: requirements, Budget: 0, Today: 0},
		{Method: "create_vm", Arguments: vm(nil, nil), Keep: keepVM, Budget: 3, Today: 12},
		{Method: "has_vm", Arguments: theVM, Budget: 1, Today: 2},
		{Method: "set_vm_metadata", Arguments: vmMetadata, Budget: 2, Today: 4},
		{Method: "create_disk", Arguments: disk, Keep: keepDisk, Budget: 3, Today: 3},
		{Method: "has_disk", Arguments: theDisk, Budget: 1, Today: 1},
		{Method: "set_disk_metadata", Arguments: diskMetadata, Budget: 1, Today: 1},
		{Method: "attach_disk", Arguments: vmAndDisk, Budget: 3, Today: 4},
		{Method: "get_disks", Arguments: theVM, Budget: 1, Today: 1},
		{Method: "snapshot_disk", Arguments: snapshotMetadata, Keep: keepSnapshot, Budget: 2, Today: 3},
		{Method: "delete_snapshot", Arguments: theSnapshot, Budget: 1, Today: 1},
		{Method: "detach_disk", Arguments: vmAndDisk, Budget: 2, Today: 4},
		{Method: "resize_disk", Arguments: resized, Budget: 3, Today: 3},
		{Method: "delete_disk", Arguments: theDisk, Budget: 2, Today: 2},
		{Method: "reboot_vm", Arguments: theVM, Budget: 1, Today: 1},
		{Method: "delete_vm", Arguments: theVM, Budget: 2, Today: 2},
		{Method: "delete_stemcell", Arguments: theStemcell, Budget: 0, Today: 1},
	}
}

// Full is the life of a VM with an elastic IP, a target group and tags, the way
// a Director leads it.
func Full() []Step {
	properties := func(account emulator.Account) map[string]any {
		return map[string]any{"lb_target_groups": []string{account.TargetGroup.Name}, "tags": map[string]any{"team": "platform"}}
	}
	vip := func(account emulator.Account) (string, map[string]any) {
		return "public", map[string]any{"type": "vip", "ip": account.ElasticIP.IP}
	}
	steps := OneVM()
	for i := range steps {
		if steps[i].Method == "create_vm" {
			// DescribeAddresses, AssociateAddress, DescribeTargetGroups, RegisterTargets
			steps[i].Arguments, steps[i].Budget, steps[i].Today = vm(properties, vip), 7, -1
		}
	}
	return steps
}

func none(*State) []any { return nil }

func stemcell(s *State) []any {
	return []any{"/unused/image", map[string]any{
		"name": "bosh-aws-xen-hvm-ubuntu-jammy-go_agent", "version": "1.500", "ami": map[string]string{s.Account.Region: s.Account.Image},
	}}
}

func requirements(*State) []any {
	return []any{map[string]any{"cpu": 2, "ram": 4096, "ephemeral_disk_size": 20480}}
}

// vm returns create_vm's arguments, with more properties and one more network.
func vm(more func(emulator.Account) map[string]any, network func(emulator.Account) (string, map[string]any)) func(*State) []any {
	return func(s *State) []any {
		properties := Properties(s.Account)
		if more != nil {
			for key, value := range more(s.Account) {
				properties[key] = value
			}
		}
		networks := driver.Object("default", Network(s.Account, 10))
		if network != nil {
			name, extra := network(s.Account)
			networks = driver.Object("default", Network(s.Account, 10), name, extra)
		}
		env := map[string]any{"bosh": map[string]any{"tags": map[string]any{"deployment": "cf"}, "password": "*"}}
		return []any{AgentID, s.Stemcell, properties, networks, []string{}, env}
	}
}

// Properties are the least cloud properties of a VM in the first subnet's zone.
func Properties(account emulator.Account) map[string]any {
	return map[string]any{
		"instance_type":     "m5.large",
		"availability_zone": account.Subnets[0].Zone,
		"key_name":          account.KeyName,
		"security_groups":   []string{account.Groups[0].ID},
	}
}

// Network is a manual network of the first subnet, with its n-th address.
func Network(account emulator.Account, n int) map[string]any {
	subnet := account.Subnets[0]
	return map[string]any{
		"type": "manual", "ip": subnet.IP(n), "netmask": subnet.Netmask(), "gateway": subnet.Gateway(),
		"dns": []string{"10.0.0.2"}, "default": []string{"dns", "gateway"},
		"cloud_properties": map[string]any{"subnet": subnet.ID},
	}
}

func theVM(s *State) []any       { return []any{s.VM} }
func theDisk(s *State) []any     { return []any{s.Disk} }
func vmAndDisk(s *State) []any   { return []any{s.VM, s.Disk} }
func theSnapshot(s *State) []any { return []any{s.Snapshot} }
func theStemcell(s *State) []any { return []any{s.Stemcell} }
func resized(s *State) []any     { return []any{s.Disk, 20480} }

func disk(s *State) []any { return []any{10240, map[string]any{"type": "gp3"}, s.VM} }

func vmMetadata(s *State) []any {
	return []any{s.VM, map[string]any{"director": "bosh", "deployment": "cf", "job": "api", "index": "0", "id": AgentID, "name": "api/" + AgentID}}
}

func diskMetadata(s *State) []any {
	return []any{s.Disk, map[string]any{"director": "bosh", "deployment": "cf", "instance_group": "api", "attached_at": "2026-01-01T00:00:00Z"}}
}

func snapshotMetadata(s *State) []any {
	return []any{s.Disk, map[string]any{"agent_id": AgentID, "director_name": "bosh", "director_uuid": driver.DefaultDirector, "deployment": "cf", "job": "api", "index": 0, "instance_id": "i0"}}
}

func keepStemcell(s *State, o driver.Outcome) { s.Stemcell = o.Text() }
func keepVM(s *State, o driver.Outcome)       { s.VM = o.VM() }
func keepDisk(s *State, o driver.Outcome)     { s.Disk = o.Text() }
func keepSnapshot(s *State, o driver.Outcome) { s.Snapshot = o.Text() }
