// Command build makes the BOSH release bosh-aws-cpi from this checkout: the
// executable for every platform, the licences of what is linked into it, and with
// the bosh CLI one tarball of them and of the folders beside this one.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
)

// name is the release's; manifests refer to it.
const name = "bosh-aws-cpi"

func main() {
	root := flag.String("root", ".", "the checkout")
	version := flag.String("version", "", "the release's version (default: from the commit's tag, else 0.0.0-dev.<commit>)")
	cli := flag.String("bosh", "bin/bosh", "the bosh CLI")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *root, *version, *cli); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, root, version, cli string) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	if cli, err = filepath.Abs(cli); err != nil {
		return err
	}
	from, err := readSource(ctx, root, version)
	if err != nil {
		return err
	}
	// Inside the checkout, so that the CLI finds the commit for the release's
	// manifest; in bin, which git ignores.
	dir := filepath.Join(root, "bin", "release")
	if err := stageRelease(root, dir); err != nil {
		return err
	}
	fmt.Printf("%s %s, commit %s\n\n", name, from.version, from.commit)
	content := filepath.Join(dir, "src", "aws_cpi")
	sums, err := buildExecutables(ctx, root, filepath.Join(content, "bin"), from.version)
	if err != nil {
		return err
	}
	if err := collectLicenses(ctx, root, filepath.Join(content, "licenses")); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(content, "SOURCE"), from.describe(sums), 0o644); err != nil {
		return err
	}
	return pack(ctx, cli, dir, from.version, filepath.Join(root, "bin", name+"-"+from.version+".tgz"))
}
