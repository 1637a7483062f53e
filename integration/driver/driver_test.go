package driver_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/driver"
)

func TestDriver(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "the driver")
}

// script is an executable that stands for a CPI.
func script(body string) driver.CPI {
	path := filepath.Join(GinkgoT().TempDir(), "cpi")
	Expect(os.WriteFile(path, []byte("#!/bin/sh\n"+body), 0o700)).To(Succeed())
	return driver.CPI{Path: path, ConfigPath: "config.json"}
}

const good = `{"result":"i-1","error":null,"log":""}`

var _ = Describe("CPI", func() {
	It("sends a request as the Director does", func(ctx SpecContext) {
		cpi := script(`cat >&2; echo '` + good + `'`)
		cpi.RequestID = "cpi-1"
		outcome := cpi.Call(ctx, "has_vm", "i-1")
		Expect(outcome.Err()).NotTo(HaveOccurred())
		Expect(outcome.Text()).To(Equal("i-1"))
		Expect(outcome.Stderr).To(MatchJSON(`{"method":"has_vm","arguments":["i-1"],"api_version":2,"context":{
			"director_uuid":"` + driver.DefaultDirector + `","request_id":"cpi-1","vm":{"stemcell":{"api_version":3}}}}`))
	})

	It("leaves out what an old caller does not send", func() {
		request, err := driver.CPI{APIVersion: -1, StemcellAPIVersion: -1, DirectorUUID: "x"}.Request("info")
		Expect(err).NotTo(HaveOccurred())
		Expect(request).To(MatchJSON(`{"method":"info","arguments":[],"context":{"director_uuid":"x"}}`))
	})

	It("gives the process three variables and the config path, and no more", func(ctx SpecContext) {
		GinkgoT().Setenv("AWS_REGION", "elsewhere")
		cpi := script(`env >&2; echo "argument $1" >&2; echo '` + good + `'`)
		cpi.Env = []string{"BOSH_CA_CERT_FILE=/x"}
		stderr := string(cpi.Call(ctx, "info").Stderr)
		Expect(stderr).To(And(ContainSubstring("HOME="), ContainSubstring("TMPDIR="), ContainSubstring("BOSH_CA_CERT_FILE=/x"),
			ContainSubstring("argument config.json")))
		Expect(stderr).NotTo(ContainSubstring("AWS_REGION"))
	})

	It("measures the process", func(ctx SpecContext) {
		cpi := script(`i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo '` + good + `'`)
		cpi.Memory = true
		outcome := cpi.Call(ctx, "info")
		Expect(outcome.CPU).To(BeNumerically(">", 0))
		Expect(outcome.Wall).To(BeNumerically(">", 0))
		if _, err := os.Stat("/proc/self"); err == nil {
			Expect(outcome.Memory).To(BeNumerically("~", 1<<20, 9<<20))
		}
	})

	It("tells of a process that was ended by a signal", func(ctx SpecContext) {
		cpi := script(`exec sleep 60`)
		running, err := cpi.Start(ctx, nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(running.Signal(syscall.SIGTERM)).To(Succeed())
		outcome := running.Wait()
		Expect(outcome.ExitCode).To(Equal(-1))
		Expect(outcome.Err()).To(MatchError(ContainSubstring("stdout is empty")))
	})

	It("takes neither an exit code nor an error for success", func(ctx SpecContext) {
		Expect(script(`echo '`+good+`'; exit 1`).Call(ctx, "info").Err()).To(MatchError(ContainSubstring("exited with 1")))
		outcome := script(`echo '{"result":null,"error":{"type":"T","message":"m","ok_to_retry":true},"log":""}'`).Call(ctx, "info")
		Expect(outcome.Err()).To(MatchError("T (ok_to_retry true): m"))
		Expect(outcome.ErrorType()).To(Equal("T"))
	})

	It("finds the vm cid in results of every version", func() {
		for _, result := range []string{`"i-1"`, `["i-1",{"a":{}}]`} {
			Expect(driver.Outcome{Response: driver.Response{Result: json.RawMessage(result)}}.VM()).To(Equal("i-1"))
		}
	})
})

var _ = DescribeTable("Parse refuses",
	func(stdout, why string) {
		_, err := driver.Parse([]byte(stdout))
		Expect(err).To(MatchError(ContainSubstring(why)))
	},
	Entry("nothing", "", "empty"),
	Entry("no newline", good, "newline"),
	Entry("two lines", good+"\n"+good+"\n", "goes on"),
	Entry("text before", "x"+good+"\n", "not a JSON object"),
	Entry("a missing key", `{"result":1,"error":null}`+"\n", "the keys are error, result"),
	Entry("another key", `{"result":1,"error":null,"log":"","x":1}`+"\n", "the keys are"),
	Entry("a null log", `{"result":1,"error":null,"log":null}`+"\n", "log is null"),
	Entry("a bare error", `{"result":null,"error":"x","log":""}`+"\n", "not a JSON object"),
	Entry("an error without ok_to_retry", `{"result":null,"error":{"type":"T","message":"m"},"log":""}`+"\n", "the keys are message, type"),
	Entry("ok_to_retry as text", `{"result":null,"error":{"type":"T","message":"m","ok_to_retry":"no"},"log":""}`+"\n", "ok_to_retry"),
	Entry("a result beside an error", `{"result":1,"error":{"type":"T","message":"m","ok_to_retry":false},"log":""}`+"\n", "beside the error"),
)

var _ = Describe("Config", func() {
	It("renders what the release renders, for its owner only", func() {
		path, err := driver.Config{
			Endpoint: "http://127.0.0.1:1", Region: "us-east-1", TimeScale: 0.1, LogLevel: "debug",
			AWS:      map[string]any{"default_key_name": "bosh", "sts_endpoint": nil, "access_key_id": "other"},
			Registry: &driver.Registry{Endpoint: "http://127.0.0.1:2", User: "u", Password: "p"},
		}.Write(GinkgoT().TempDir())
		Expect(err).NotTo(HaveOccurred())
		info, err := os.Stat(path)
		Expect(err).NotTo(HaveOccurred())
		Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))
		content, err := os.ReadFile(path)
		Expect(err).NotTo(HaveOccurred())
		Expect(content).To(MatchJSON(`{"cloud":{"plugin":"aws","properties":{
			"aws":{"credentials_source":"static","access_key_id":"other","secret_access_key":"` + driver.SecretKey + `",
				"region":"us-east-1","ec2_endpoint":"http://127.0.0.1:1","elb_endpoint":"http://127.0.0.1:1",
				"ebs_endpoint":"http://127.0.0.1:1","default_key_name":"bosh"},
			"registry":{"endpoint":"http://127.0.0.1:2","user":"u","password":"p"},
			"agent":{"ntp":["0.pool.ntp.org"],"mbus":"nats://10.0.0.6:4222"},
			"debug":{"cpi":{"time_scale":0.1,"log_level":"debug"}}}}}`))
	})
})

var _ = It("Object keeps the order of its keys", func() {
	Expect(string(driver.Object("z", 1, "a", driver.Object("y", nil, "b", "x")))).To(Equal(`{"z":1,"a":{"y":null,"b":"x"}}`))
})
