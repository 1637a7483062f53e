// Package stage sets up what the programs of the test bed play on: the emulator,
// the recording proxy in front of it, an account, and the CPI's configuration.
package stage

import (
	"context"
	"errors"
	"os"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/emulator"
	"bosh-aws-cpi/integration/proxy"
)

// Stage is everything that runs and is ready.
type Stage struct {
	Moto     *emulator.Emulator
	Recorder *proxy.Proxy
	Account  emulator.Account
	CPI      driver.CPI
	dir      string
}

// Open starts everything. config says what is special about the CPI's
// configuration; endpoint and region are filled in.
func Open(ctx context.Context, executable, requestID string, config driver.Config) (*Stage, error) {
	stage := &Stage{}
	if err := stage.open(ctx, executable, requestID, config); err != nil {
		return nil, errors.Join(err, stage.Close())
	}
	return stage, nil
}

func (s *Stage) open(ctx context.Context, executable, requestID string, config driver.Config) (err error) {
	if s.Moto, err = emulator.Start(ctx, emulator.Options{}); err != nil {
		return err
	}
	if s.Recorder, err = proxy.Start(proxy.Options{Upstream: s.Moto.URL}); err != nil {
		return err
	}
	if s.Account, err = s.Moto.NewAccount(ctx, ""); err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp("", "bosh-aws-cpi-"); err != nil {
		return err
	}
	config.Endpoint, config.Region = s.Recorder.URL, s.Account.Region
	path, err := config.Write(s.dir)
	s.CPI = driver.CPI{Path: executable, ConfigPath: path, RequestID: requestID}
	return err
}

// Close stops everything and removes what was written.
func (s *Stage) Close() error {
	if s.Recorder != nil {
		s.Recorder.Close()
	}
	if s.Moto != nil {
		s.Moto.Stop()
	}
	if s.dir == "" {
		return nil
	}
	return os.RemoveAll(s.dir)
}
