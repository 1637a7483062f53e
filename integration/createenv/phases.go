package main

import (
	"fmt"
	"slices"
	"strings"
)

// phase is one command of an operator, and what is to come of it.
type phase struct {
	name    string
	command string
	change  func(*director) // of the manifest, which stays for later phases
	fails   bool
	calls   []string // of the CPI, in order
	says    []string // in the CLI's output
	empty   bool     // nothing is left in the account
	check   func(*environment, ran) error
}

var (
	madeVM   = []string{"create_vm", "set_vm_metadata"}
	newDisk  = []string{"create_disk", "attach_disk", "set_disk_metadata"}
	attached = []string{"attach_disk", "set_disk_metadata"}
	goneVM   = []string{"has_vm", "delete_vm"}
	goneAll  = []string{"delete_disk", "delete_stemcell"}
)

// unknownSubnet has the right form and is nowhere.
const unknownSubnet = "subnet-0123456789abcdef0"

// phases are a Director's life. newer is the stemcell that it is updated to.
func phases(newer string) []phase {
	create := slices.Concat([]string{"create_stemcell"}, madeVM, newDisk)
	return []phase{
		{name: "create-env", command: "create-env", calls: create, check: (*environment).checkFirst},
		{name: "create-env, nothing changed", command: "create-env", says: []string{"Skipping deploy"}},
		{name: "create-env, a job property changed", command: "create-env", calls: slices.Concat(goneVM, madeVM, attached),
			change: func(d *director) { d.maxRetries = 4 }, check: (*environment).checkUpdated},
		{name: "create-env, larger disk and newer stemcell", command: "create-env",
			calls:  slices.Concat([]string{"create_stemcell"}, goneVM, madeVM, []string{"attach_disk", "set_disk_metadata", "create_disk", "attach_disk", "set_disk_metadata", "detach_disk"}, goneAll),
			change: func(d *director) { d.diskSize, d.stemcell = 20480, newer }},
		{name: "stop-env", command: "stop-env", says: []string{"Stopping jobs on instance"}},
		{name: "start-env", command: "start-env", says: []string{"Starting the agent"}},
		{name: "delete-env", command: "delete-env", calls: slices.Concat(goneVM, goneAll), empty: true},
		{name: "delete-env, nothing there", command: "delete-env", empty: true},
		{name: "create-env, unknown subnet", command: "create-env", calls: []string{"create_stemcell", "create_vm"}, fails: true,
			change: func(d *director) { d.subnet = unknownSubnet }, says: []string{"create_vm", unknownSubnet, "does not exist"}},
		{name: "delete-env, after the failure", command: "delete-env", calls: []string{"delete_stemcell"}, empty: true},
	}
}

// judge holds a run against its phase.
func (p phase) judge(result ran) error {
	if result.failed != p.fails {
		return fmt.Errorf("failed: %t, expected %t", result.failed, p.fails)
	}
	if !slices.Equal(result.calls, p.calls) {
		return fmt.Errorf("the CPI calls were\n  %s\nexpected were\n  %s", strings.Join(result.calls, " "), strings.Join(p.calls, " "))
	}
	for _, text := range p.says {
		if !strings.Contains(result.output, text) {
			return fmt.Errorf("%q is not in the CLI's output", text)
		}
	}
	return nil
}
