package action_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	boshlog "github.com/cloudfoundry/bosh-utils/logger"

	"bosh-aws-cpi/action"
	"bosh-aws-cpi/cpi"
	"bosh-aws-cpi/integration/driver"
)

// fuzzAnswer is what AWS, the registry and the instance metadata service answer
// to everything.
type fuzzAnswer struct {
	status            int
	contentType, body string
}

// fuzzAnswers are those that a run chooses from: refusals, pages of a proxy,
// documents that say nothing, and what is none of these.
var fuzzAnswers = []fuzzAnswer{
	awsRefusal("UnauthorizedOperation"),
	awsRefusal("InvalidInstanceID.NotFound"),
	awsRefusal("InvalidVolume.NotFound"),
	awsRefusal("InvalidParameterValue"),
	awsRefusal("IncorrectState"),
	awsRefusal("RequestLimitExceeded"),
	{http.StatusBadGateway, "text/html", "<!doctype html><html><body><h1>Bad Gateway</h1></body></html>"},
	{http.StatusOK, "text/html", "<html><body>log in first</body></html>"},
	{http.StatusOK, "text/xml", `<?xml version="1.0"?><Response xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"></Response>`},
	{http.StatusOK, "text/xml", `<Response>` + fuzzImage + `</Response>`},
	{http.StatusOK, "text/xml", `<Response>` + fuzzImage + `<reservationSet><item><instancesSet><item/></instancesSet></item></reservationSet>` +
		`<volumeSet><item/></volumeSet><subnetSet><item/></subnetSet><instancesSet><item/></instancesSet><networkInterface/><subnet/>` +
		`<volumeModificationSet><item/></volumeModificationSet><addressesSet><item/></addressesSet><routeTableSet><item/></routeTableSet></Response>`},
	{http.StatusOK, "text/xml", `<Response>` + fuzzImage + `<reservationSet><item><instancesSet><item>` + fuzzInstance + `</item></instancesSet></item></reservationSet>` +
		`<instancesSet><item>` + fuzzInstance + `</item></instancesSet><volumeId>vol-1</volumeId><status>available</status>` +
		`<volumeSet><item><volumeId>vol-1</volumeId><status>available</status><size>1</size></item></volumeSet></Response>`},
	{http.StatusOK, "text/xml", `<Response>` + fuzzImage + `<reservationSet><item><instancesSet><item>` + fuzzBareInstance + `</item></instancesSet></item></reservationSet>` +
		`<instancesSet><item>` + fuzzBareInstance + `</item></instancesSet><networkInterface><networkInterfaceId>eni-1</networkInterfaceId>` +
		`<status>available</status></networkInterface><addressesSet><item><publicIp>203.0.113.9</publicIp><allocationId>a</allocationId></item></addressesSet></Response>`},
	{http.StatusOK, "application/json", `{"status":"ok","settings":"{}"}`},
	{http.StatusOK, "text/xml", ""},
	{http.StatusInternalServerError, "text/xml", "<Response><Errors><Error>"},
}

// fuzzImage and fuzzInstance lead create_vm and others past their first call.
const (
	fuzzImage        = `<imagesSet><item><imageId>ami-1</imageId><imageState>available</imageState></item></imagesSet>`
	fuzzBareInstance = `<instanceId>i-1</instanceId><instanceState><name>running</name></instanceState><instanceType>t3.micro</instanceType>`
	fuzzInstance     = fuzzBareInstance +
		`<networkInterfaceSet><item><networkInterfaceId>eni-1</networkInterfaceId><attachment><deviceIndex>0</deviceIndex></attachment></item></networkInterfaceSet>` +
		`<blockDeviceMapping><item/><item><deviceName>/dev/sdf</deviceName><ebs/></item></blockDeviceMapping>`
)

func awsRefusal(code string) fuzzAnswer {
	return fuzzAnswer{http.StatusBadRequest, "text/xml",
		"<Response><Errors><Error><Code>" + code + "</Code><Message>refused</Message></Error></Errors><RequestID>r-1</RequestID></Response>"}
}

// FuzzServe feeds the dispatcher with anything for a request. Whatever comes
// in and whatever AWS answers, one line of valid JSON goes out, no method
// panics, and the error is of a type that the Director knows.
func FuzzServe(f *testing.F) {
	var answer atomic.Int32
	stub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		chosen := fuzzAnswers[answer.Load()]
		if strings.HasPrefix(r.URL.Path, "/latest/") && chosen.status >= http.StatusInternalServerError {
			// The metadata service's client would try again, in seconds that
			// nothing scales.
			chosen.status = http.StatusNotFound
		}
		w.Header().Set("Content-Type", chosen.contentType)
		w.WriteHeader(chosen.status)
		_, _ = io.WriteString(w, chosen.body)
	}))
	f.Cleanup(stub.Close)
	keepFromMachine(f, stub.URL)
	config := fuzzConfig(f, stub.URL)
	seed(f)

	f.Fuzz(func(t *testing.T, request []byte, answered byte) {
		answer.Store(int32(int(answered) % len(fuzzAnswers)))
		load := func() (cpi.API, boshlog.LogLevel, error) {
			file, err := action.ReadConfig(config)
			return action.Methods(file, "fuzz"), boshlog.LevelDebug, err
		}
		// A request may ask for any number of retries.
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		var stdout, stderr bytes.Buffer
		if err := cpi.Serve(ctx, load, bytes.NewReader(request), &stdout, &stderr); err != nil {
			t.Fatalf("Serve: %v", err)
		}
		if complaint := complaintAbout(stdout.Bytes(), stderr.String()); complaint != "" {
			t.Errorf("%s\nrequest: %q\nstdout: %s\nstderr: %s", complaint, request, &stdout, &stderr)
		}
	})
}

// complaintAbout tells what is wrong with an answer, "" when nothing is.
func complaintAbout(stdout []byte, stderr string) string {
	response, err := driver.Parse(stdout)
	switch {
	case err != nil:
		return "the answer is not one: " + err.Error()
	case strings.Contains(stderr, "panic: ") && strings.Contains(stderr, "goroutine "):
		return "a panic"
	case response.Log == "":
		return "the log is empty"
	case response.Error == nil:
		return ""
	case !slices.Contains(errorTypes, cpi.ErrorType(response.Error.Type)):
		return "the error type is " + response.Error.Type
	case strings.Contains(response.Error.Message, "a fault of its own:"):
		return "a panic"
	}
	return ""
}

var errorTypes = []cpi.ErrorType{
	cpi.CloudError, cpi.CpiError, cpi.NotImplemented, cpi.NotSupported, cpi.VMNotFound, cpi.VMCreationFailed,
	cpi.DiskNotFound, cpi.DiskNotAttached, cpi.NoDiskSpace, cpi.NetworkNotFound, cpi.InvalidCall,
}

// A CPI config of a fuzzed request may name any endpoint, or none. Whatever is
// not on the loopback goes through a proxy that nobody runs, and so nowhere.
// net/http reads these variables once in a process: at its first request.
func init() {
	for _, key := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		_ = os.Setenv(key, "http://127.0.0.1:1")
	}
	_ = os.Unsetenv("NO_PROXY")
	_ = os.Unsetenv("no_proxy")
}

// keepFromMachine hides what this machine has of AWS: credentials, profiles and
// the instance metadata service, which is the stub.
func keepFromMachine(f *testing.F, stub string) {
	f.Helper()
	home := f.TempDir()
	for key, value := range map[string]string{
		"AWS_EC2_METADATA_SERVICE_ENDPOINT": stub, "AWS_EC2_METADATA_DISABLED": "",
		"AWS_CONFIG_FILE": filepath.Join(home, "config"), "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(home, "credentials"),
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI": "", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "",
		"AWS_WEB_IDENTITY_TOKEN_FILE": "", "BOSH_CA_CERT_FILE": "", "HOME": home,
	} {
		f.Setenv(key, value)
	}
}

// fuzzConfig writes a configuration of which everything points at the stub and
// in which time flies.
func fuzzConfig(f *testing.F, stub string) string {
	f.Helper()
	config, err := driver.Config{
		Endpoint: stub, Region: "us-east-1", TimeScale: 1e-7, HTTPTimeout: 1,
		AWS:      map[string]any{"max_retries": 1, "default_security_groups": []string{"sg-0123456789abcdef0"}},
		Registry: &driver.Registry{Endpoint: stub, User: "user", Password: "password"},
	}.Write(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	return config
}

// seed gives the fuzzer a request for each method, version and answer, and
// requests that are none.
func seed(f *testing.F) {
	f.Helper()
	const (
		vm, disk = `"i-0123456789abcdef0"`, `"vol-0123456789abcdef0"`
		image    = `"ami-0123456789abcdef0 light"`
		key      = `"arn:aws:kms:us-east-1:123456789012:key/k"`
	)
	manual := `{"type":"manual","ip":"10.0.0.9","netmask":"255.255.255.0","gateway":"10.0.0.1","dns":["10.0.0.2"],"default":["dns"],"cloud_properties":{"subnet":"subnet-1"}}`
	second := `{"ip":"10.0.0.16","prefix":28,"nic_group":"a","cloud_properties":{"subnet":"subnet-1"}}`
	third := `{"ip":"2600::9","nic_group":"a","cloud_properties":{"subnet":"subnet-1","security_groups":["bosh"]}}`
	everything := `{"instance_type":"m5d.large","availability_zone":"us-east-1a","security_groups":["bosh"],"key_name":"k","iam_instance_profile":"p",` +
		`"spot_bid_price":0.1,"spot_ondemand_fallback":true,"elbs":["e"],"lb_target_groups":["t","arn:t"],"placement_group":"g","tenancy":"default",` +
		`"auto_assign_public_ip":true,"advertised_routes":[{"table_id":"rtb-1","destination":"10.9.0.0/16"}],"source_dest_check":false,` +
		`"raw_instance_storage":true,"ephemeral_disk":{"size":1024,"type":"io1","iops":100,"encrypted":true,"kms_key_arn":` + key + `},` +
		`"root_disk":{"size":30720,"throughput":250},"metadata_options":{"http_tokens":"required"},"tags":{"a":"b"}}`
	env := `{"bosh":{"password":"x","tags":{"a":"b"},"mbus":{"cert":{"ca":"c","certificate":"c","private_key":"p"}}}}`
	requests := map[string][]string{
		"info": {``}, "ping": {``}, "current_vm_id": {``},
		"create_stemcell": {
			`"/image",{"ami":{"us-east-1":"ami-0123456789abcdef0"},"tags":{"a":"b"}}`,
			`"/image",{"ami":{"us-east-1":"ami-0123456789abcdef0"},"encrypted":true},{"tags":{}}`, `"/image",{"disk":3072}`,
		},
		"delete_stemcell": {image, `"ami-0123456789abcdef0"`},
		"create_vm": {
			`"agent",` + image + `,{"instance_type":"t3.micro","availability_zone":"us-east-1a"},{"default":` + manual + `},[],{}`,
			`"agent",` + image + `,` + everything + `,{"z":` + manual + `,"a":` + second + `,"b":` + third + `,"d":{"type":"dynamic","cloud_properties":{"subnet":"subnet-2"}},"v":{"type":"vip","ip":"203.0.113.9"}},[` + disk + `],` + env,
			`"agent",` + image + `,{"instance_type":"t3.micro","availability_zone":"us-east-1a"},{"a":` + manual + `,"b":{"type":"dynamic","cloud_properties":{"subnet":"subnet-2"}}},[],{}`,
			`"agent",` + image + `,{"instance_type":"t3.micro","availability_zone":"us-east-1a"},{"a":` + manual + `,"v":{"type":"vip","ip":"203.0.113.9"}},[],{}`,
			`"agent",` + image + `,{"instance_type":"t3.micro","availability_zone":"us-east-1a","advertised_routes":[{"table_id":"rtb-1","destination":"2600::/64"}]},{"a":` + manual + `},[],{}`,
			`"agent",` + image + `,{"instance_type":"x9.new","availability_zone":"us-east-1a"},{"default":` + manual + `},null,null`,
		},
		"delete_vm": {vm}, "reboot_vm": {vm}, "has_vm": {vm}, "get_disks": {vm}, "has_disk": {disk}, "delete_disk": {disk},
		"set_vm_metadata":               {vm + `,{"job":"a","index":0,"director":"d","nothing":null}`},
		"calculate_vm_cloud_properties": {`{"cpu":2,"ram":4096,"ephemeral_disk_size":10240}`},
		"create_disk":                   {`1024,{"type":"gp3","iops":3000,"tags":{"a":1}},` + vm, `1024,{},null`, `1024,{}`},
		"attach_disk":                   {vm + `,` + disk}, "detach_disk": {vm + `,` + disk},
		"resize_disk":       {disk + `,4096`},
		"update_disk":       {disk + `,4096,{"type":"io2","iops":200,"encrypted":true,"kms_key_arn":` + key + `}`},
		"set_disk_metadata": {disk + `,{"deployment":"d"}`},
		"snapshot_disk":     {disk + `,{"deployment":"d","job":"j","index":0,"instance_id":"i","director_name":"n"}`},
		"delete_snapshot":   {`"snap-0123456789abcdef0"`},
		"create_network": {
			`{"type":"manual","range":"10.0.9.0/24","gateway":"10.0.9.1","cloud_properties":{"vpc":"vpc-1","availability_zone":"us-east-1a","route_table":"rtb-1"}}`,
			`{"netmask_bits":24,"cloud_properties":{"vpc":"vpc-1","availability_zone":"us-east-1a"}}`,
		},
		"delete_network":     {`"subnet-0123456789abcdef0"`},
		"configure_networks": {vm + `,{}`},
	}
	for _, method := range slices.Sorted(maps.Keys(requests)) {
		for _, arguments := range requests[method] {
			for version := 1; version <= 3; version++ {
				request := fmt.Appendf(nil, `{"method":%q,"arguments":[%s],"context":{"director_uuid":"d","request_id":"r","vm":{"stemcell":{"api_version":%d}}},"api_version":%d}`,
					method, arguments, version, version)
				for answered := range fuzzAnswers {
					f.Add(request, byte(answered))
				}
			}
		}
	}
	for _, request := range []string{
		``, ` `, `null`, `[]`, `{}`, `"info"`, `{"method":"info","arguments":[]`, `{"method":"info","arguments":{}}`, `{"method":1}`, "\xff\xfe", `{"method":"\ud800","arguments":[]}`,
		`{"method":"fly","arguments":[]}`, `{"method":"info","arguments":[],"api_version":99}`, `{"method":"info","method":"ping","arguments":[]}`,
		`{"method":"has_vm","arguments":["i-1"],"context":{"region":"eu-west-1","ec2_endpoint":"ec2.eu-west-1.amazonaws.com","access_key_id":"a","secret_access_key":"s","session_token":"t"}}`,
		`{"method":"has_vm","arguments":["i-1"],"context":{"credentials_source":"env_or_profile","role_arn":"arn:aws:iam::1:role/r","external_id":"x","dualstack":true,"fips":true,"max_retries":2}}`,
		`{"method":"create_disk","arguments":[1e400,{}],"context":{"encrypted":true,"kms_key_arn":"k","metadata_options":{}}}`,
		`{"method":"delete_vm","arguments":["i-1"],"context":{"fast_path_delete":true,"vm":null}}`,
	} {
		f.Add([]byte(request), byte(0))
	}
}
