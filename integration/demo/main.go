// Command demo shows a VM's whole life through the built CPI executable, on the
// local AWS emulator, told step by step.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/emulator"
	"bosh-aws-cpi/integration/life"
	"bosh-aws-cpi/integration/stage"
)

func main() {
	executable := flag.String("cpi", "bin/aws_cpi", "the built CPI")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *executable); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, executable string) error {
	fmt.Println("Starting the AWS emulator (moto) and a recording proxy in front of it ...")
	set, err := stage.Open(ctx, executable, "cpi-demo", driver.Config{})
	if err != nil {
		return err
	}
	defer set.Close()
	fmt.Printf("Made a VPC %s in %s with a subnet, a security group, an elastic IP and a target group.\n\n", set.Account.VPC, set.Account.Region)
	return tell(ctx, set)
}

func tell(ctx context.Context, set *stage.Stage) error {
	before, err := set.Moto.Inventory(ctx, set.Account.Region)
	if err != nil {
		return err
	}
	started, steps, calls := time.Now(), 0, 0
	fmt.Printf("%-30s %8s  %s\n", "CPI method", "ms", "result, and the AWS calls it took")
	err = life.Live(ctx, set.CPI, set.Recorder, set.Account, life.Full(), func(step life.Happened) {
		steps++
		calls += len(step.Calls)
		result := string(step.Outcome.Response.Result)
		if failure := step.Outcome.Err(); failure != nil {
			result = failure.Error()
		}
		fmt.Printf("%-30s %8d  %s\n", step.Step.Method, step.Outcome.Wall.Milliseconds(), shorten(result))
		if len(step.Calls) > 0 {
			fmt.Printf("%-30s %8s  %d: %s\n", "", "", len(step.Calls), strings.Join(step.Calls.Actions(), ", "))
		}
	})
	if err != nil {
		return err
	}
	fmt.Printf("\n%d CPI calls, %d AWS calls, %.1f s\n", steps, calls, time.Since(started).Seconds())
	after, err := set.Moto.Inventory(ctx, set.Account.Region)
	if err != nil {
		return err
	}
	if left := emulator.Diff(before, after); len(left) > 0 {
		return fmt.Errorf("this is left in the account, or was taken from it:\n  %s", strings.Join(left, "\n  "))
	}
	fmt.Println("nothing left in the account (instances, volumes, snapshots, images, network interfaces, addresses, targets compared)")
	return nil
}

func shorten(result string) string {
	const most = 100
	if len(result) > most {
		return result[:most] + " ..."
	}
	return result
}
