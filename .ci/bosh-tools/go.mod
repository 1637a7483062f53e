// The real bosh CLI and agent, for `make release` and `make create-env`. A module
// of its own, so that the CPI's dependencies stay the CPI's.
module bosh-aws-cpi/bosh-tools

go 1.26

require github.com/cloudfoundry/bosh-cli/v7 v7.9.13

require github.com/cloudfoundry/bosh-agent/v2 v2.769.0
