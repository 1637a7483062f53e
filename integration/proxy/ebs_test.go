package proxy_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/proxy"
)

const blockSize = 512 << 10

// ebsAnswer is what came back from EBS direct.
type ebsAnswer struct {
	status int
	code   string // of an error
	json   map[string]any
	body   []byte
}

// ebs calls EBS direct as an SDK does. Headers are names and values in turn.
func (w *world) ebs(ctx context.Context, method, path string, body []byte, header ...string) ebsAnswer {
	GinkgoHelper()
	request, err := http.NewRequestWithContext(ctx, method, w.proxy.URL+path, bytes.NewReader(body))
	Expect(err).NotTo(HaveOccurred())
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/ebs/aws4_request, SignedHeaders=host, Signature=0")
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := w.HTTP.Do(request)
	Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	a := ebsAnswer{status: response.StatusCode, code: response.Header.Get("X-Amzn-Errortype")}
	a.body, err = io.ReadAll(response.Body)
	Expect(err).NotTo(HaveOccurred())
	_ = json.Unmarshal(a.body, &a.json) // a block is no JSON
	return a
}

func (w *world) start(ctx context.Context, token string, gib int) ebsAnswer {
	GinkgoHelper()
	return w.ebs(ctx, "POST", "/snapshots", fmt.Appendf(nil, `{"VolumeSize":%d,"ClientToken":%q,"Description":"d"}`, gib, token))
}

func (w *world) put(ctx context.Context, id string, index int, data, digest []byte) ebsAnswer {
	GinkgoHelper()
	return w.ebs(ctx, "PUT", "/snapshots/"+id+"/blocks/"+strconv.Itoa(index), data, "Content-Type", "application/octet-stream",
		"x-amz-Data-Length", strconv.Itoa(len(data)), "x-amz-Checksum", base64.StdEncoding.EncodeToString(digest),
		"x-amz-Checksum-Algorithm", "SHA256")
}

func (w *world) complete(ctx context.Context, id string, count int, digest []byte) ebsAnswer {
	GinkgoHelper()
	header := []string{"x-amz-ChangedBlocksCount", strconv.Itoa(count)}
	if digest != nil {
		header = append(header, "x-amz-Checksum", base64.StdEncoding.EncodeToString(digest),
			"x-amz-Checksum-Algorithm", "SHA256", "x-amz-Checksum-Aggregation-Method", "LINEAR")
	}
	return w.ebs(ctx, "POST", "/snapshots/completion/"+id, nil, header...)
}

func digestOf(data []byte) []byte {
	sum := sha256.Sum256(data)
	return sum[:]
}

var _ = Describe("EBS direct", func() {
	var (
		w  *world
		id string
	)

	BeforeEach(func(ctx SpecContext) {
		w = newWorld(ctx)
		started := w.start(ctx, "first", 1)
		Expect(started.status).To(Equal(200))
		Expect(started.json).To(And(HaveKeyWithValue("Status", "pending"), HaveKeyWithValue("BlockSize", BeEquivalentTo(blockSize))))
		id = started.json["SnapshotId"].(string)
	})

	It("makes a snapshot of the blocks that were written, and nothing else", func(ctx SpecContext) {
		one, two := bytes.Repeat([]byte("a"), blockSize), bytes.Repeat([]byte{0, 255}, blockSize/2)
		Expect(w.put(ctx, id, 2047, two, digestOf(two)).status).To(Equal(201))
		Expect(w.put(ctx, id, 3, one, digestOf(one)).status).To(Equal(201))
		Expect(w.state(ctx, id)).To(Equal("pending"))

		w.proxy.SetDelays(proxy.Delays{SnapshotCompleted: late})
		done := w.complete(ctx, id, 2, digestOf(append(digestOf(one), digestOf(two)...)))
		Expect(done.status).To(Equal(202))
		Expect(done.json).To(HaveKeyWithValue("Status", "pending"))
		Expect(w.state(ctx, id)).To(Equal("pending"))
		Eventually(w.state).WithContext(ctx).WithArguments(id).WithPolling(faster).Should(Equal("completed"))
		Expect(w.left(ctx)).To(Equal([]string{"+ snapshot " + id}))

		list := w.ebs(ctx, "GET", "/snapshots/"+id+"/blocks", nil)
		Expect(list.json["Blocks"]).To(HaveExactElements(
			HaveKeyWithValue("BlockIndex", 3.0), HaveKeyWithValue("BlockIndex", 2047.0)))
		block := w.ebs(ctx, "GET", "/snapshots/"+id+"/blocks/2047?blockToken=t", nil)
		Expect(bytes.Equal(block.body, two)).To(BeTrue())

		snapshot, ok := w.proxy.Snapshot(id)
		Expect(ok).To(BeTrue())
		Expect(snapshot.Completed).To(BeTrue())
		Expect(snapshot.Blocks).To(HaveLen(2))
		Expect(snapshot.Blocks[3]).To(Equal(sha256.Sum256(one)))
		Expect(w.proxy.Calls().Of("PutSnapshotBlock")[0].Body.Length).To(Equal(blockSize))
	})

	DescribeTable("refuses blocks",
		func(ctx SpecContext, index int, length int, other string) {
			data := make([]byte, length)
			digest := digestOf(data)
			if other != "" {
				digest = digestOf([]byte(other))
			}
			Expect(w.put(ctx, id, index, data, digest).code).To(Equal("ValidationException"))
			snapshot, _ := w.proxy.Snapshot(id)
			Expect(snapshot.Blocks).To(BeEmpty())
		},
		Entry("with a wrong checksum", 0, blockSize, "other"),
		Entry("of a wrong length", 0, 512, ""),
		Entry("outside of the volume", 2048, blockSize, ""),
	)

	It("refuses to complete what is not complete", func(ctx SpecContext) {
		data := make([]byte, blockSize)
		Expect(w.put(ctx, id, 0, data, digestOf(data)).status).To(Equal(201))
		Expect(w.complete(ctx, id, 2, nil).code).To(Equal("ValidationException"))
		Expect(w.complete(ctx, id, 1, digestOf(data)).code).To(Equal("ValidationException"))
		Expect(w.complete(ctx, id, 1, digestOf(digestOf(data))).status).To(Equal(202))
		Expect(w.put(ctx, id, 0, data, digestOf(data)).code).To(Equal("ValidationException"))
	})

	It("honours client tokens", func(ctx SpecContext) {
		Expect(w.start(ctx, "first", 1).json).To(HaveKeyWithValue("SnapshotId", id))
		Expect(w.start(ctx, "first", 2).code).To(Equal("ConflictException"))
		Expect(w.start(ctx, "second", 1).json["SnapshotId"]).NotTo(Equal(id))
	})

	It("throttles and hides in its own words", func(ctx SpecContext) {
		rule := w.proxy.Add(proxy.Rule{Service: proxy.EBS, Do: proxy.SlowDown()})
		Expect(w.start(ctx, "second", 1).code).To(Equal("ThrottlingException"))
		rule.Remove()
		w.proxy.Hide(proxy.Hiding{For: time.Hour})
		fresh := w.start(ctx, "third", 1).json["SnapshotId"].(string)
		data := make([]byte, blockSize)
		Expect(w.put(ctx, fresh, 0, data, digestOf(data)).code).To(Equal("ResourceNotFoundException"))
	})
})
