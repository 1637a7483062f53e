package main

import (
	"context"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/emulator"
	"bosh-aws-cpi/integration/life"
	"bosh-aws-cpi/integration/proxy"
)

// vmScenarios are the variants of create_vm.
func vmScenarios() []scenario {
	all := []scenario{
		{name: "create_vm, one NIC", prepare: createVM(nil, nil), shards: 2},
		{name: "create_vm, two NICs", prepare: createVM(nil, twoNetworks), shards: 3},
		{name: "create_vm, vip + target group + ELB + route + tags", prepare: prepareTakeover, shards: 6},
		{name: "create_vm, spot with fallback", prepare: createVM(spot, nil), shards: 2, standing: []proxy.Rule{{
			Action: "RunInstances",
			When:   func(call proxy.Call) bool { return call.Param("InstanceMarketOptions.MarketType") == "spot" },
			Do:     proxy.Fail(500, "InsufficientInstanceCapacity", "There is no Spot capacity available that matches your request."),
		}}},
		{name: "create_vm, registry", prepare: createVM(nil, nil), stemcellVersion: 1, shards: 2},
	}
	for i := range all {
		all[i].method, all[i].failure, all[i].creates = "create_vm", vmCreationFailed, true
		all[i].gone = map[string]string{"RunInstances": networkNotFound, "CreateNetworkInterface": networkNotFound}
	}
	return all
}

// createVM prepares nothing but the arguments.
func createVM(more, networks func(emulator.Account) any) func(context.Context, *worker, scenario) ([]any, error) {
	return func(_ context.Context, w *worker, _ scenario) ([]any, error) {
		var properties map[string]any
		var nets any
		if more != nil {
			properties, _ = more(w.Account).(map[string]any)
		}
		if networks != nil {
			nets = networks(w.Account)
		}
		return vmArguments(w.Account, properties, nets), nil
	}
}

func spot(emulator.Account) any {
	return map[string]any{"spot_bid_price": 0.05, "spot_ondemand_fallback": true}
}

func twoNetworks(account emulator.Account) any {
	second := life.Network(account, 11)
	delete(second, "default")
	return driver.Object("default", life.Network(account, 10), "second", second)
}

// prepareTakeover makes a VM that has the elastic IP and one of two routes, so
// that a failed call has to put them back.
func prepareTakeover(ctx context.Context, w *worker, s scenario) ([]any, error) {
	vip := map[string]any{"type": "vip", "ip": w.Account.ElasticIP.IP}
	route := func(destination string) map[string]any {
		return map[string]any{"table_id": w.Account.RouteTable, "destination": destination}
	}
	_, err := makeVM(ctx, w, s, map[string]any{"advertised_routes": []any{route("172.16.0.0/16")}},
		driver.Object("default", life.Network(w.Account, w.address()), "public", vip))
	return vmArguments(w.Account, map[string]any{
		"lb_target_groups":  []string{w.Account.TargetGroup.Name},
		"elbs":              []string{w.Account.LoadBalancer},
		"advertised_routes": []any{route("172.16.0.0/16"), route("172.17.0.0/16")},
		"tags":              map[string]any{"team": "platform"},
	}, driver.Object("default", life.Network(w.Account, 10), "public", vip)), err
}

// vmChanges are the other methods of a VM.
func vmChanges() []scenario {
	metadata := map[string]any{"director": "bosh", "deployment": "cf", "job": "api", "index": "0", "name": "api/0"}
	return []scenario{
		{name: "delete_vm", method: "delete_vm", prepare: theVM, gone: map[string]string{"TerminateInstances": vmNotFound}},
		{name: "delete_vm, registry", method: "delete_vm", prepare: theVM, stemcellVersion: 1, gone: map[string]string{"TerminateInstances": vmNotFound}},
		{name: "reboot_vm", method: "reboot_vm", reusable: true, prepare: theVM, gone: map[string]string{"RebootInstances": vmNotFound}},
		{
			name: "set_vm_metadata", method: "set_vm_metadata", reusable: true,
			prepare: func(ctx context.Context, w *worker, s scenario) ([]any, error) {
				arguments, err := theVM(ctx, w, s)
				return append(arguments, metadata), err
			},
			gone: map[string]string{"DescribeInstances": vmNotFound, "CreateTags": vmNotFound},
		},
	}
}
