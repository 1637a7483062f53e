# The BOSH release, its tests, and create-env with the real bosh CLI and agent.
# Included by the Makefile; needs its target `emulator` and its variable TIMEOUT.

# Version of the release; by default from git, see release/build.
RELEASE_VERSION ?=

.PHONY: release create-env test-release ruby

# One tarball, bin/bosh-aws-cpi-<version>.tgz.
release: bin/bosh
	@go run ./release/build -version '$(RELEASE_VERSION)' -bosh bin/bosh

# The job's templates, fed to the executable, and a Director's view of bin/cpi.
test-release: emulator ruby
	go test -v -timeout $(TIMEOUT) ./integration/release/... ./integration/director

# A Director's whole life with the release, the real CLI and real agents, all on
# the loopback: prints each phase with its seconds and CPI calls.
create-env: bin/bosh bin/bosh-agent emulator ruby
	@go run ./release/build -version 0.0.1-create-env -bosh bin/bosh >bin/create-env.log || { cat bin/create-env.log; exit 1; }
	@go run ./integration/createenv -bosh bin/bosh -agent bin/bosh-agent -release bin/bosh-aws-cpi-0.0.1-create-env.tgz

bin/bosh: .ci/bosh-tools/go.mod .ci/bosh-tools/go.sum
	cd .ci/bosh-tools && CGO_ENABLED=0 go build -trimpath -o ../../bin/bosh github.com/cloudfoundry/bosh-cli/v7

bin/bosh-agent: .ci/bosh-tools/go.mod .ci/bosh-tools/go.sum
	cd .ci/bosh-tools && CGO_ENABLED=0 go build -trimpath -o ../../bin/bosh-agent github.com/cloudfoundry/bosh-agent/v2/main

# The CLI renders job templates with the ruby that it finds on PATH.
ruby:
	@command -v ruby >/dev/null 2>&1 || { command -v apt-get >/dev/null 2>&1 && test "$$(id -u)" = 0 && \
		{ apt-get update && apt-get install -y --no-install-recommends ruby; } >/dev/null 2>&1; } || \
		{ echo "ruby is missing: the bosh CLI renders templates with it. Install it (apt-get install ruby, brew install ruby)." >&2; exit 1; }
