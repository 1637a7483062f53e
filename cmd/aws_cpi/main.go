// Command aws_cpi is the BOSH CPI for AWS: it reads one JSON request on stdin,
// does one thing on EC2, and writes one JSON response on stdout.
package main

import (
	"flag"
	"fmt"
	"os"

	boshlog "github.com/cloudfoundry/bosh-utils/logger"

	"bosh-aws-cpi/action"
	"bosh-aws-cpi/cpi"
)

// version is set by the build.
var version = "dev"

const usage = `aws_cpi CONFIG.json answers one request of the BOSH CPI API, versions 1 to 3.

The request is a JSON object on stdin, the response a line of JSON on stdout,
the log goes to stderr:

  echo '{"method":"info","arguments":[],"context":{}}' | aws_cpi cpi.json

CONFIG.json is what the job aws_cpi of the BOSH release bosh-aws-cpi renders to
config/cpi.json; docs/configuration.md describes each key.

  --help      this text
  --version   the version of the CPI
`

func main() {
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	showVersion := flag.Bool("version", false, "")
	showHelp := flag.Bool("help", false, "")
	flag.Parse()
	switch {
	case *showHelp:
		fmt.Print(usage)
	case *showVersion:
		fmt.Printf("bosh-aws-cpi %s\n", version)
	default:
		os.Exit(serve(flag.Arg(0)))
	}
}

// serve answers the request on stdin. Every answer exits with 0: the CLI does
// not read the answer of a process that exits otherwise.
func serve(config string) int {
	ctx, stop := cpi.Signals()
	defer stop()
	load := func() (cpi.API, boshlog.LogLevel, error) {
		if config == "" {
			return cpi.API{}, boshlog.LevelInfo, cpi.Errorf(cpi.CpiError, "the configuration file is missing: it is the argument of aws_cpi")
		}
		file, err := action.ReadConfig(config)
		if err != nil {
			return cpi.API{}, boshlog.LevelInfo, err
		}
		level, err := file.LogLevel()
		return action.Methods(file, version), level, err
	}
	if err := cpi.Serve(ctx, load, os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "the response cannot be written to stdout: %v\n", err)
		return 1
	}
	return 0
}
