package proxy_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/proxy"
)

// What this package's own specs send is none of the CPI's calls.
func init() { os.Unsetenv(proxy.LedgerVariable) }

var _ = It("the ledger has the CPI's actions and parameters, without numbers and values", func() {
	dir := GinkgoT().TempDir()
	GinkgoT().Setenv(proxy.LedgerVariable, dir)
	p := startProxy(newStub().URL)
	for _, agent := range []string{"aws-sdk-go-v2 bosh-aws-cpi/1", "aws-sdk-go-v2 bosh-aws-cpi/1", "somebody else"} {
		request, err := http.NewRequest(http.MethodPost, p.URL, strings.NewReader("Action=AttachVolume&VolumeId=vol-"+agent[:2]+"&Ledger.1.Key=secret&Ledger.2.Key=secret"))
		Expect(err).NotTo(HaveOccurred())
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
		request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKIAKEY/20260101/eu-west-1/ec2/aws4_request, SignedHeaders=host, Signature=0")
		request.Header.Set("User-Agent", agent)
		answer, err := http.DefaultClient.Do(request)
		Expect(err).NotTo(HaveOccurred())
		Expect(answer.Body.Close()).To(Succeed())
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	Expect(err).NotTo(HaveOccurred())
	Expect(files).To(HaveLen(1))
	content, err := os.ReadFile(files[0])
	Expect(err).NotTo(HaveOccurred())
	Expect(string(content)).To(Equal("ec2 AttachVolume\nec2 AttachVolume Action\nec2 AttachVolume Ledger.Key\nec2 AttachVolume VolumeId\n"))
})
