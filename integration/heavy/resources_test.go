package heavy_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/heavyimage"
)

var _ = Describe("What an upload takes", func() {
	It("stays the same for a sparse image of 20 GiB", func(ctx SpecContext) {
		small, large := filepath.Join(scratch, "1-GiB"), filepath.Join(scratch, "20-GiB")
		Expect(heavyimage.Spec{Bytes: 1 << 30}.WriteSparse(small)).To(Succeed())
		Expect(heavyimage.Spec{Bytes: 20 << 30}.WriteSparse(large)).To(Succeed())
		peak := func(path string) (memory int64, files int) {
			GinkgoHelper()
			cpi := director()
			cpi.Memory = true
			request, err := cpi.Request("create_stemcell", path, properties(nil), map[string]any{})
			Expect(err).NotTo(HaveOccurred())
			running, err := cpi.Start(ctx, request)
			Expect(err).NotTo(HaveOccurred())
			files = watchFiles(running)
			outcome := running.Wait()
			Expect(outcome.Err()).NotTo(HaveOccurred(), "%s", outcome.Stderr)
			fmt.Printf("\n%s: %.1f s, peak memory %.1f MiB, at most %d open files\n", filepath.Base(path), outcome.Wall.Seconds(), float64(outcome.Memory)/(1<<20), files)
			return outcome.Memory, files
		}
		memoryOfSmall, filesOfSmall := peak(small)
		memoryOfLarge, filesOfLarge := peak(large)
		Expect(memoryOfLarge).To(BeNumerically("<", memoryOfSmall+30<<20))
		Expect(memoryOfLarge).To(BeNumerically("<", 200<<20))
		Expect(filesOfLarge).To(BeNumerically("<=", filesOfSmall+5))
	}, SpecTimeout(5*time.Minute))

	It("is no root and no EC2 metadata", func(ctx SpecContext) {
		const nobody = 65534
		path := filepath.Join(scratch, "unprivileged")
		Expect(heavyimage.Spec{Bytes: 8 << 20}.Write(path)).To(Succeed())
		var asked atomic.Int32
		metadata := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			http.Error(w, "no", http.StatusNotFound)
		}))
		DeferCleanup(metadata.Close)
		cpi := director()
		request, err := cpi.Request("create_stemcell", path, properties(nil), map[string]any{})
		Expect(err).NotTo(HaveOccurred())

		command := exec.CommandContext(ctx, cpi.Path, cpi.ConfigPath)
		command.Stdin = bytes.NewReader(request)
		command.Env = []string{"PATH=/usr/bin:/bin", "HOME=/nonexistent", "AWS_EC2_METADATA_SERVICE_ENDPOINT=" + metadata.URL}
		if os.Getuid() == 0 {
			Expect(os.Chown(cpi.ConfigPath, nobody, nobody)).To(Succeed())
			command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		}
		stdout, err := command.Output()
		Expect(err).NotTo(HaveOccurred())
		response, err := driver.Parse(stdout)
		Expect(err).NotTo(HaveOccurred())
		Expect(response.Error).To(BeNil())
		Expect(string(response.Result)).To(HavePrefix(`"ami-`))
		Expect(asked.Load()).To(BeZero())
	})
})
