package proxy_test

import (
	"io"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/emulator/query"
	"bosh-aws-cpi/integration/proxy"
)

var _ = Describe("the record", func() {
	var (
		upstream *stub
		p        *proxy.Proxy
		aws      caller
	)

	BeforeEach(func() {
		upstream = newStub()
		p = startProxy(upstream.URL)
		aws = callerOf(p)
	})

	send := func(method, path, scope, body string, header ...string) *http.Response {
		request, err := http.NewRequest(method, p.URL+path, strings.NewReader(body))
		Expect(err).NotTo(HaveOccurred())
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
		request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKIAKEY/20260101/eu-west-1/"+scope+"/aws4_request, SignedHeaders=host, Signature=0")
		for i := 0; i+1 < len(header); i += 2 {
			request.Header.Set(header[i], header[i+1])
		}
		answer, err := http.DefaultClient.Do(request)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(answer.Body.Close)
		return answer
	}

	It("tells of a query call all there is to know", func() {
		send("POST", "/", "ec2", "Action=DescribeVpcs&Version=2016-11-15&VpcId.1=a&VpcId.2=b&TagSpecification.1.ResourceType=volume&"+
			"TagSpecification.1.Tag.1.Key=k&TagSpecification.1.Tag.1.Value=v",
			"User-Agent", "aws-sdk-go-v2 bosh-aws-cpi/1", "Amz-Sdk-Invocation-Id", "inv-1", "Amz-Sdk-Request", "attempt=2; max=9",
			"X-Amz-Security-Token", "very secret", "X-Amz-Date", "today")
		calls := p.Calls()
		Expect(calls).To(HaveLen(1))
		call := calls[0]
		Expect(call.Seq).To(Equal(1))
		Expect(call.Service).To(Equal(query.EC2))
		Expect(call.Action).To(Equal("DescribeVpcs"))
		Expect(call.List("VpcId")).To(Equal([]string{"a", "b"}))
		Expect(call.Tags("volume")).To(Equal(map[string]string{"k": "v"}))
		Expect(call.Tags("instance")).To(BeEmpty())
		Expect(call.Region).To(Equal("eu-west-1"))
		Expect(call.AccessKey).To(Equal("AKIAKEY"))
		Expect(call.HasSessionToken).To(BeTrue())
		Expect(call.Header).To(Equal(http.Header{"X-Amz-Date": {"today"}}))
		Expect(call.UserAgent).To(HaveSuffix("bosh-aws-cpi/1"))
		Expect(call.Attempt).To(Equal(2))
		Expect(call.InvocationID).To(Equal("inv-1"))
		Expect(call.Status).To(Equal(200))
		Expect(call.Duration).To(BeNumerically(">", 0))
		Expect(string(call.Answer)).To(ContainSubstring("DescribeVpcsResponse"))
	})

	DescribeTable("tells the services apart",
		func(scope, version, service string) {
			send("POST", "/", scope, "Action=X&Version="+version)
			Expect(p.Calls()[0].Service).To(Equal(service))
		},
		Entry("EC2", "ec2", "2016-11-15", query.EC2),
		Entry("classic load balancers", "elasticloadbalancing", "2012-06-01", query.ELB),
		Entry("load balancers", "elasticloadbalancing", "2015-12-01", query.ELBv2),
		Entry("STS", "sts", "2011-06-15", query.STS),
	)

	DescribeTable("names the operations of EBS direct",
		func(method, path, operation string) {
			send(method, path, "ebs", "")
			Expect(p.Calls()[0].Action).To(Equal(operation))
		},
		Entry(nil, "POST", "/snapshots", "StartSnapshot"),
		Entry(nil, "POST", "/snapshots/completion/snap-1", "CompleteSnapshot"),
		Entry(nil, "PUT", "/snapshots/snap-1/blocks/7", "PutSnapshotBlock"),
		Entry(nil, "GET", "/snapshots/snap-1/blocks/7", "GetSnapshotBlock"),
		Entry(nil, "GET", "/snapshots/snap-1/blocks", "ListSnapshotBlocks"),
		Entry(nil, "GET", "/snapshots/snap-1/changedblocks", "ListChangedBlocks"),
	)

	It("keeps the JSON of EBS calls, and of blocks only length and digest", func() {
		send("POST", "/snapshots", "ebs", `{"VolumeSize":5}`)
		send("PUT", "/snapshots/snap-1/blocks/7", "ebs", "abc")
		calls := p.Calls()
		Expect(calls[0].JSON).To(Equal(map[string]any{"VolumeSize": 5.0}))
		Expect(calls[1].Body).To(Equal(proxy.Body{Length: 3, SHA256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}))
		Expect(calls[1].JSON).To(BeNil())
	})

	It("can be read from a mark on, by action, and cleared", func(ctx SpecContext) {
		aws.ec2(ctx, "DescribeVpcs")
		mark := p.Mark()
		aws.ec2(ctx, "DescribeSubnets")
		aws.ec2(ctx, "DescribeVpcs")
		Expect(p.Actions()).To(Equal([]string{"DescribeVpcs", "DescribeSubnets", "DescribeVpcs"}))
		Expect(p.Since(mark).Actions()).To(Equal([]string{"DescribeSubnets", "DescribeVpcs"}))
		Expect(p.Calls().Of("DescribeVpcs")).To(HaveLen(2))
		Expect(p.Calls().Count()).To(Equal(map[string]int{"DescribeVpcs": 2, "DescribeSubnets": 1}))
		p.Clear()
		Expect(p.Calls()).To(BeEmpty())
		aws.ec2(ctx, "DescribeVpcs")
		Expect(p.Calls()[0].Seq).To(Equal(4))
	})

	It("tells the error of an answer", func(ctx SpecContext) {
		upstream.answer = answerWith(400, "<Response><Errors><Error><Code>Bad.Thing</Code><Message>m</Message></Error></Errors></Response>")
		Expect(aws.refused(ctx, "DescribeVpcs")).To(Equal("Bad.Thing"))
		Expect(p.Calls()[0].Status).To(Equal(400))
		Expect(p.Calls()[0].Code).To(Equal("Bad.Thing"))
	})

	It("gives every answer a request id of its own, as AWS does", func() {
		first := send("POST", "/", "ec2", "Action=A")
		second := send("POST", "/", "ec2", "Action=A")
		body, err := io.ReadAll(second.Body)
		Expect(err).NotTo(HaveOccurred())
		Expect(first.Header.Get("X-Amzn-Requestid")).NotTo(Equal(second.Header.Get("X-Amzn-Requestid")))
		Expect(string(body)).To(ContainSubstring("<requestId>" + second.Header.Get("X-Amzn-Requestid") + "</requestId>"))
	})
})
