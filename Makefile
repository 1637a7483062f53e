# What a developer or an operator runs. `make demo` and `make test` need Go and
# either moto_server on PATH or python3 with pip, which installs it into this
# folder; `make test` needs ruby, which it installs by apt-get where it may.

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
BUILD   := CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)"
MOTO    := 5.2.1
TIMEOUT := 20m
# Where the suites record the AWS calls that they see.
AWS_CALLS := $(CURDIR)/bin/aws-calls

.PHONY: build demo test lint unit integration fuzz bench bench-stemcell faults fleet emulator generate clean

# A static, trimmed, reproducible binary.
build:
	$(BUILD) -o bin/aws_cpi ./cmd/aws_cpi

# A VM's whole life through the executable, on the local emulator.
demo: build emulator
	@go run ./integration/demo -cpi bin/aws_cpi

test: lint unit integration

lint:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$unformatted" || { echo "not gofmt-ed:"; echo "$$unformatted"; exit 1; }
	go vet ./...
	cd .ci/tools && go build -o ../../bin/staticcheck honnef.co/go/tools/cmd/staticcheck
	bin/staticcheck ./...

unit:
	go test ./cmd/... ./cpi/... ./aws/... ./action/... ./registry/...

# All suites, which record the AWS calls that they see, and then the IAM policy
# held against that record. -count=1: the suites build the executable themselves,
# which go's cache of test results does not know.
integration: emulator ruby
	rm -rf $(AWS_CALLS)
	RECORD_AWS_CALLS=$(AWS_CALLS) go test -count=1 -timeout $(TIMEOUT) ./integration/...
	RECORDED_AWS_CALLS=$(AWS_CALLS) go test -count=1 -v ./integration/iam

# The dispatcher against random requests, for a minute.
fuzz:
	go test -run '^$$' -fuzz FuzzServe -fuzztime 60s ./action

# Whole-process figures and call counts.
bench: build emulator
	@go run ./integration/bench -cpi bin/aws_cpi

# The pace of a heavy stemcell's upload beside that of its slowest stage alone.
bench-stemcell: build emulator
	@go run ./integration/benchstemcell -cpi bin/aws_cpi

# Every fault of AWS, network and operator, at every AWS call of every method that
# changes anything: nothing may be lost, nothing may hang.
faults: build emulator
	@go run ./integration/faults -cpi bin/aws_cpi

# N create_vm at once, then N delete_vm, against EC2's documented throttling: how
# close to the least time that its limits allow.
N ?= 100
fleet: build emulator
	@go run ./integration/fleet -cpi bin/aws_cpi -n $(N)

# moto_server, the AWS emulator: from PATH, else into a virtual environment here.
emulator:
	@command -v "$${MOTO_SERVER:-moto_server}" >/dev/null 2>&1 || test -x .venv/bin/moto_server || \
		{ python3 -m venv .venv && .venv/bin/pip install --quiet 'moto[server]==$(MOTO)'; }

# The instance type table, from the AWS API or another endpoint; see
# aws/instancetypes.
generate:
	go generate ./aws/instancetypes

clean:
	rm -rf bin

include release/release.mk
