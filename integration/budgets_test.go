package integration_test

import (
	"encoding/json"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/life"
)

var _ = Describe("The AWS calls of every method", func() {
	It("are at or under their budgets over a VM's whole life, and nothing is left", func(ctx SpecContext) {
		total, today := 0, 0
		fmt.Printf("\n%-32s %6s %6s %6s\n", "method", "calls", "budget", "today")
		err := life.Live(ctx, director(), aws, account, life.OneVM(), func(step life.Happened) {
			fmt.Printf("%-32s %6d %6d %6d\n", step.Step.Method, len(step.Calls), step.Step.Budget, step.Step.Today)
			total += len(step.Calls)
			today += step.Step.Today
			Expect(len(step.Calls)).To(BeNumerically("<=", step.Step.Budget), "%s: %v", step.Step.Method, step.Calls.Actions())
		})
		Expect(err).NotTo(HaveOccurred())
		fmt.Printf("%-32s %6d %6d %6d\n\n", "one VM's life", total, 29, today)
		Expect(total).To(BeNumerically("<=", 29))
		expectNothingLeft(ctx)
	})

	It("are at or under their budgets in every variant of create_vm", func(ctx SpecContext) {
		fmt.Printf("\n%-52s %6s %6s %6s\n", "create_vm", "calls", "budget", "today")
		for _, variant := range variants() {
			disks := []string{}
			if variant.disk {
				disks = append(disks, succeed(ctx, director(), "create_disk", 1024, map[string]any{}, createVM(ctx, director(), map[string]any{}, nil)).Text())
			}
			mark := aws.Mark()
			succeed(ctx, director(), "create_vm", vmArguments(variant.properties(), variant.networks(), disks, nil)...)
			calls := aws.Since(mark)
			fmt.Printf("%-52s %6d %6d %6s\n", variant.name, len(calls), variant.budget, variant.today)
			Expect(len(calls)).To(BeNumerically("<=", variant.budget), "%s: %v", variant.name, calls.Actions())
		}
	})
})

// variant is a way to make a VM with its budget: aws.md's table, and today's
// figure where it was measured.
type variant struct {
	name       string
	budget     int
	today      string
	properties func() map[string]any
	networks   func() json.RawMessage
	disk       bool
}

func variants() []variant {
	byID := func() map[string]any { return map[string]any{} }
	address := 20
	one := func() json.RawMessage {
		address++
		return driver.Object("default", manual(account.Subnets[0], account.Subnets[0].IP(address), nil))
	}
	withVIP := func() json.RawMessage {
		address++
		return driver.Object("default", manual(account.Subnets[0], account.Subnets[0].IP(address), nil), "public", map[string]any{"type": "vip", "ip": account.ElasticIP.IP})
	}
	twoNICs := func() json.RawMessage {
		address += 2
		return driver.Object("a", manual(account.Subnets[0], account.Subnets[0].IP(address-1), nil), "b", manual(account.Subnets[0], account.Subnets[0].IP(address), nil))
	}
	with := func(key string, value any) func() map[string]any {
		return func() map[string]any { return map[string]any{key: value} }
	}
	byName := with("security_groups", []string{account.Groups[0].Name, account.Groups[1].Name})
	route := func(to string) []map[string]any {
		return []map[string]any{{"table_id": account.RouteTable, "destination": to}}
	}
	return []variant{
		{"groups by id", 3, "12", byID, one, false},
		{"groups by name", 5, "14", byName, one, false},
		{"disk_cids", 4, "-", byID, one, true},
		{"vip", 5, "-", byID, withVIP, false},
		{"vip, tags, target group and ELB", 8, "17", func() map[string]any {
			return map[string]any{"lb_target_groups": []string{account.TargetGroup.Name}, "elbs": []string{account.LoadBalancer}, "tags": map[string]any{"a": "b"}}
		}, withVIP, false},
		{"target group by ARN", 4, "-", with("lb_target_groups", []string{account.TargetGroup.ARN}), one, false},
		{"a new route", 5, "-", with("advertised_routes", route("10.99.0.0/16")), one, false},
		{"a route that exists, source_dest_check false", 6, "15", func() map[string]any {
			return map[string]any{"advertised_routes": route("0.0.0.0/0"), "source_dest_check": false}
		}, one, false},
		{"two NICs", 3 + 4, "16", byID, twoNICs, false},
	}
}
