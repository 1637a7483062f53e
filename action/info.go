package action

import (
	"context"

	"bosh-aws-cpi/cpi"
)

// info answers what the CPI can do: no network, no credentials, since its
// callers ask before nearly every other call.
type info struct{ file ConfigFile }

type infoResult struct {
	StemcellFormats []string `json:"stemcell_formats"`
	APIVersion      int      `json:"api_version"`
}

func (i info) run(context.Context, *cpi.Call, struct{}) (any, error) {
	version := newestVersion
	if i.file.debug.APIVersion > 0 {
		version = i.file.debug.APIVersion
	}
	return infoResult{[]string{"aws-raw", "aws-light"}, version}, nil
}
