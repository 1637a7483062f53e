package proxy_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/emulator"
	"bosh-aws-cpi/integration/emulator/query"
	"bosh-aws-cpi/integration/proxy"
)

func TestProxy(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "the proxy")
}

// stub stands for the emulator: it answers with what it is told to.
type stub struct {
	*httptest.Server
	mu     sync.Mutex
	answer func(http.ResponseWriter, url.Values)
	got    []url.Values
}

func newStub() *stub {
	s := &stub{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		form, _ := url.ParseQuery(string(body))
		s.mu.Lock()
		defer s.mu.Unlock()
		s.got = append(s.got, form)
		w.Header().Set("Content-Type", "text/xml")
		if s.answer != nil {
			s.answer(w, form)
			return
		}
		_, _ = io.WriteString(w, "<"+form.Get("Action")+"Response><requestId>request-id</requestId></"+form.Get("Action")+"Response>")
	}))
	DeferCleanup(s.Close)
	return s
}

// requests are the actions that came through.
func (s *stub) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	actions := []string{}
	for _, form := range s.got {
		actions = append(actions, form.Get("Action"))
	}
	return actions
}

func startProxy(upstream string) *proxy.Proxy {
	p, err := proxy.Start(proxy.Options{Upstream: upstream, KeepAnswers: true})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(p.Close)
	return p
}

// caller calls through a proxy.
type caller struct{ query.Client }

func callerOf(p *proxy.Proxy) caller {
	transport := &http.Transport{}
	DeferCleanup(transport.CloseIdleConnections)
	return caller{query.Client{Endpoint: p.URL, Region: "us-east-1", HTTP: &http.Client{Transport: transport}}}
}

// ec2 calls and expects success.
func (c caller) ec2(ctx context.Context, action string, params ...string) *query.Node {
	GinkgoHelper()
	root, err := c.Do(ctx, query.EC2, action, params...)
	Expect(err).NotTo(HaveOccurred())
	return root
}

// refused calls and expects an AWS error, whose code it returns.
func (c caller) refused(ctx context.Context, action string, params ...string) string {
	GinkgoHelper()
	_, err := c.Do(ctx, query.EC2, action, params...)
	Expect(err).To(HaveOccurred())
	var failure *query.Error
	Expect(errors.As(err, &failure)).To(BeTrue(), "%v", err)
	return failure.Code
}

// moto is started for the first spec that needs it.
var moto = sync.OnceValue(func() *emulator.Emulator {
	started, err := emulator.Start(context.Background(), emulator.Options{})
	Expect(err).NotTo(HaveOccurred())
	stopMoto = started.Stop
	return started
})

var stopMoto = func() {}

var _ = AfterSuite(func() { stopMoto() })

// world is a fresh account behind a proxy.
type world struct {
	caller
	proxy   *proxy.Proxy
	account emulator.Account
	before  []string
}

func newWorld(ctx context.Context) *world {
	GinkgoHelper()
	Expect(moto().Reset(ctx)).To(Succeed())
	account, err := moto().NewAccount(ctx, "")
	Expect(err).NotTo(HaveOccurred())
	p := startProxy(moto().URL)
	w := &world{caller: callerOf(p), proxy: p, account: account}
	w.before = w.inventory(ctx)
	return w
}

func (w *world) inventory(ctx context.Context) []string {
	GinkgoHelper()
	inventory, err := moto().Inventory(ctx, "")
	Expect(err).NotTo(HaveOccurred())
	return inventory
}

// left is what there is more than at the start.
func (w *world) left(ctx context.Context) []string {
	GinkgoHelper()
	return emulator.Diff(w.before, w.inventory(ctx))
}

// launch is a plain launch with one interface; more parameters may replace.
func (w *world) launch(more ...string) []string {
	return append([]string{
		"ImageId", w.account.Image, "InstanceType", "t3.micro", "MinCount", "1", "MaxCount", "1",
		"NetworkInterface.1.DeviceIndex", "0", "NetworkInterface.1.SubnetId", w.account.Subnets[0].ID,
		"NetworkInterface.1.SecurityGroupId.1", w.account.Groups[0].ID,
		"BlockDeviceMapping.1.DeviceName", w.account.RootDevice, "BlockDeviceMapping.1.Ebs.DeleteOnTermination", "true",
	}, more...)
}

func (w *world) run(ctx context.Context, more ...string) string {
	GinkgoHelper()
	return w.ec2(ctx, "RunInstances", w.launch(more...)...).Value("instancesSet/item/instanceId")
}

func (w *world) volume(ctx context.Context) string {
	GinkgoHelper()
	return w.ec2(ctx, "CreateVolume", "Size", "1", "AvailabilityZone", w.account.Subnets[0].Zone).Value("volumeId")
}

// state is what is shown of a resource, found by its id.
func (w *world) state(ctx context.Context, id string) string {
	GinkgoHelper()
	switch {
	case id[0] == 'i':
		return w.ec2(ctx, "DescribeInstances", "InstanceId.1", id).Value("reservationSet/item/instancesSet/item/instanceState/name")
	case id[0] == 'v':
		return w.ec2(ctx, "DescribeVolumes", "VolumeId.1", id).Value("volumeSet/item/status")
	case id[0] == 's':
		return w.ec2(ctx, "DescribeSnapshots", "SnapshotId.1", id).Value("snapshotSet/item/status")
	case id[0] == 'e':
		return w.ec2(ctx, "DescribeNetworkInterfaces", "NetworkInterfaceId.1", id).Value("networkInterfaceSet/item/status")
	default:
		return w.ec2(ctx, "DescribeImages", "ImageId.1", id).Value("imagesSet/item/imageState")
	}
}

// attachment is the state of a volume's attachment, "" if there is none.
func (w *world) attachment(ctx context.Context, volume string) string {
	GinkgoHelper()
	return w.ec2(ctx, "DescribeVolumes", "VolumeId.1", volume).Value("volumeSet/item/attachmentSet/item/status")
}
