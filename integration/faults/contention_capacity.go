package main

import (
	"context"
	"errors"

	"bosh-aws-cpi/integration/proxy"
)

// capacity are AWS's codes for having no room, or for a limit of the account, and
// the HTTP status with which they come.
var capacity = []struct {
	code   string
	status int
	spot   bool
}{
	{"InsufficientInstanceCapacity", 500, false},
	{"InsufficientHostCapacity", 500, false},
	{"InsufficientReservedInstanceCapacity", 500, false},
	{"Unsupported", 400, false},
	{"InstanceLimitExceeded", 400, false},
	{"VcpuLimitExceeded", 400, false},
	{"SpotMaxPriceTooLow", 400, true},
	{"MaxSpotInstanceCountExceeded", 400, true},
}

// capacityContests: the Director must hear at once of what no retry gets round.
func capacityContests() []contest {
	var all []contest
	for _, c := range capacity {
		all = append(all, contest{c.code + " fails create_vm at once", func(ctx context.Context, w *worker) (error, error) {
			before, err := w.inventory(ctx)
			if err != nil {
				return nil, err
			}
			w.Recorder.Clear()
			w.Recorder.Add(proxy.Rule{Action: "RunInstances", Do: proxy.Fail(c.status, c.code, "There is no room.")})
			outcome := w.cpi(scenario{}).Call(ctx, "create_vm", vmArguments(w.Account, spotWithoutFallback(c.spot), nil)...)
			wrong, err := w.refusedWith(ctx, before, outcome, vmCreationFailed, "RunInstances", c.code, "There is no room.")
			return errors.Join(wrong, w.oneCall("RunInstances")), err
		}})
	}
	return all
}

func spotWithoutFallback(spot bool) map[string]any {
	if !spot {
		return nil
	}
	return map[string]any{"spot_bid_price": 0.05}
}
