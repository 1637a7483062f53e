package heavy_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/gzip"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/heavyimage"
)

// small is an image with two blocks of data.
var small = heavyimage.Spec{Bytes: 4 * heavyimage.BlockBytes}

// archive returns a tar with one file of a name.
func archive(name string, header tar.Header, content []byte) []byte {
	var out bytes.Buffer
	writer := tar.NewWriter(&out)
	header.Name, header.Mode = name, 0o644
	if header.Size == 0 {
		header.Size = int64(len(content))
	}
	Expect(writer.WriteHeader(&header)).To(Succeed())
	if int64(len(content)) == header.Size {
		_, err := writer.Write(content)
		Expect(err).NotTo(HaveOccurred())
		Expect(writer.Close()).To(Succeed())
	}
	return out.Bytes()
}

func zip(content []byte) []byte {
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	_, err := writer.Write(content)
	Expect(err).NotTo(HaveOccurred())
	Expect(writer.Close()).To(Succeed())
	return out.Bytes()
}

var _ = Describe("An image that is no good", func() {
	refused := func(ctx SpecContext, what, path string, more map[string]any, kind, message string) {
		GinkgoHelper()
		outcome := director().Call(ctx, "create_stemcell", path, properties(more), map[string]any{})
		Expect(outcome.Invalid).NotTo(HaveOccurred())
		Expect(outcome.Response.Error).NotTo(BeNil())
		fmt.Printf("%-46s %-30s %s\n", what, outcome.ErrorType(), outcome.Response.Error.Message)
		Expect(outcome.ErrorType()).To(Equal("Bosh::Clouds::" + kind))
		Expect(outcome.Response.Error.Message).To(SatisfyAll(ContainSubstring("create_stemcell"), MatchRegexp(message)))
		expectNothingLeft(ctx)
	}

	DescribeTable("is refused with the reason, and nothing is left",
		func(ctx SpecContext, what string, content func() []byte, message string) {
			path := filepath.Join(scratch, "bad")
			Expect(os.WriteFile(path, content(), 0o644)).To(Succeed())
			refused(ctx, what, path, nil, "CloudError", message)
		},
		Entry(nil, "not a tar", func() []byte { return bytes.Repeat([]byte("not a tar at all "), 1000) }, "no tar file"),
		Entry(nil, "empty file", func() []byte { return nil }, "holds no root.img"),
		Entry(nil, "a gzip that breaks off early", func() []byte { return zip(archive("root.img", tar.Header{}, contentOf(small)))[:300] }, "breaks off"),
		Entry(nil, "a gzip that breaks off late", func() []byte {
			all := zip(archive("root.img", tar.Header{}, contentOf(small)))
			return all[:len(all)-5]
		}, "breaks off"),
		Entry(nil, "no root.img", func() []byte { return zip(archive("other.img", tar.Header{}, contentOf(small))) }, "holds no root.img"),
		Entry(nil, "an empty root.img", func() []byte { return zip(archive("root.img", tar.Header{}, nil)) }, "root.img is empty"),
		Entry(nil, "a root.img larger than EBS takes", func() []byte { return archive("root.img", tar.Header{Size: 65<<40 + 1, Format: tar.FormatGNU}, nil) }, "larger than EBS takes"),
		Entry(nil, "a wrong checksum, seen only at the end", func() []byte {
			all := zip(archive("root.img", tar.Header{}, contentOf(small)))
			all[len(all)-6] ^= 1
			return all
		}, "damaged: its checksum is wrong"),
		Entry(nil, "a damaged gzip header", func() []byte { return []byte{0x1f, 0x8b, 9, 9, 9} }, "gzip"),
	)

	It("is refused when the file is not there, or is a folder", func(ctx SpecContext) {
		refused(ctx, "no file", filepath.Join(scratch, "nowhere"), nil, "CloudError", "no such file")
		refused(ctx, "a folder", scratch, nil, "CloudError", "is a directory")
	})

	It("is refused for what no AMI can be", func(ctx SpecContext) {
		path := filepath.Join(scratch, "good")
		Expect(os.WriteFile(path, archive("root.img", tar.Header{}, contentOf(small)), 0o644)).To(Succeed())
		refused(ctx, "paravirtual", path, map[string]any{"virtualization_type": "paravirtual"}, "NotSupported", "paravirtual")
		refused(ctx, "an unknown architecture", path, map[string]any{"architecture": "ppc64"}, "CloudError", "architecture: expected x86_64 or arm64")
		refused(ctx, "an unknown boot mode", path, map[string]any{"boot_mode": "floppy"}, "CloudError", "boot_mode: expected")
		refused(ctx, "a disk of no size", path, map[string]any{"disk": -1}, "CloudError", "disk: expected a size in MiB above 0")
		Expect(aws.Calls()).To(BeEmpty())
	})
})
