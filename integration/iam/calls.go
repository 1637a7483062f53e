package iam

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bosh-aws-cpi/integration/emulator/query"
	"bosh-aws-cpi/integration/proxy"
)

// Calls is what all suites have recorded: "ec2 RunInstances", and "ec2 RunInstances
// KeyName" for each parameter that was sent with it.
type Calls map[string]bool

// ReadCalls reads a folder that proxies have written (proxy.LedgerVariable).
func ReadCalls(dir string) (Calls, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there is no record of calls in %s", dir)
	}
	calls := Calls{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(content)) {
			calls[strings.TrimSpace(line)] = true
		}
	}
	return calls, nil
}

// prefixes are what IAM calls the services.
var prefixes = map[string]string{
	query.EC2: "ec2", query.ELB: "elasticloadbalancing", query.ELBv2: "elasticloadbalancing", query.STS: "sts", proxy.EBS: "ebs",
}

// Actions are the IAM actions of the calls, in order.
func (c Calls) Actions() []string {
	actions := map[string]bool{}
	for line := range c {
		parts := strings.Fields(line)
		actions[prefixes[parts[0]]+":"+parts[1]] = true
	}
	return slices.Sorted(maps.Keys(actions))
}
