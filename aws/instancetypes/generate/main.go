// Command generate writes the table of instance types: it asks
// DescribeInstanceTypes of one region or several, and prints what they answer
// as Go source.
//
//	go run ./aws/instancetypes/generate -regions us-east-1,eu-west-1 -out FILE
//
// Credentials, and the endpoint unless given, come from where every AWS tool
// takes them (environment, profile, instance profile).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// A region answers in about 13 pages; a minute per region would be slow already.
const timeout = 5 * time.Minute

// pageSize is the most that DescribeInstanceTypes takes.
const pageSize = 100

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "generate:", err)
		}
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stderr io.Writer) error {
	flags := flag.NewFlagSet("generate", flag.ContinueOnError)
	flags.SetOutput(stderr)
	endpoint := flags.String("endpoint", "", "EC2 `URL`; empty: AWS_ENDPOINT_URL_EC2, else AWS itself")
	regions := flags.String("regions", "us-east-1", "`names` of the regions to ask, separated by commas")
	out := flags.String("out", "", "`file` to write (required)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *out == "" {
		return errors.New("-out is required")
	}

	table := rows{}
	for region := range strings.SplitSeq(*regions, ",") {
		if err := addRegion(ctx, table, *endpoint, strings.TrimSpace(region)); err != nil {
			return fmt.Errorf("region %q: %w", region, err)
		}
	}
	source, err := render(table)
	if err != nil {
		return err
	}
	return os.WriteFile(*out, source, 0o644)
}

// addRegion adds the types that a region has to the table. It calls
// DescribeInstanceTypes once per page.
func addRegion(ctx context.Context, table rows, endpoint, region string) error {
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(region))
	if err != nil {
		return err
	}
	client := ec2.NewFromConfig(cfg, func(o *ec2.Options) {
		if endpoint != "" {
			o.BaseEndpoint = aws.String(endpoint)
		}
	})
	pages := ec2.NewDescribeInstanceTypesPaginator(client, &ec2.DescribeInstanceTypesInput{
		MaxResults: aws.Int32(pageSize),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		if err := addTypes(table, page.InstanceTypes); err != nil {
			return err
		}
	}
	return nil
}

func addTypes(table rows, infos []types.InstanceTypeInfo) error {
	for _, info := range infos {
		r, err := newRow(info)
		if err != nil {
			return fmt.Errorf("%s: %w", info.InstanceType, err)
		}
		if err := table.add(string(info.InstanceType), r); err != nil {
			return err
		}
	}
	return nil
}
