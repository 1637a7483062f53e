package heavy_test

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"io"
	"os"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ebs"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/heavyimage"
)

// storedBlocks reads a snapshot back from the emulator (ListSnapshotBlocks,
// GetSnapshotBlock) and returns the digests of its blocks.
func storedBlocks(ctx context.Context, snapshot string) map[int32][sha256.Size]byte {
	GinkgoHelper()
	client := ebs.New(ebs.Options{Region: region, BaseEndpoint: sdk.String(aws.URL), Credentials: credentials.NewStaticCredentialsProvider("reader", "reader", "")})
	digests := map[int32][sha256.Size]byte{}
	pages := ebs.NewListSnapshotBlocksPaginator(client, &ebs.ListSnapshotBlocksInput{SnapshotId: sdk.String(snapshot)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		Expect(err).NotTo(HaveOccurred())
		for _, block := range page.Blocks {
			got, err := client.GetSnapshotBlock(ctx, &ebs.GetSnapshotBlockInput{SnapshotId: sdk.String(snapshot), BlockIndex: block.BlockIndex, BlockToken: block.BlockToken})
			Expect(err).NotTo(HaveOccurred())
			data, err := io.ReadAll(got.BlockData)
			Expect(err).NotTo(HaveOccurred())
			Expect(got.BlockData.Close()).To(Succeed())
			digests[*block.BlockIndex] = sha256.Sum256(data)
		}
	}
	return digests
}

// contentOf returns a whole root.img; for small ones.
func contentOf(spec heavyimage.Spec) []byte {
	all := make([]byte, spec.Blocks()*heavyimage.BlockBytes)
	for index := range spec.Blocks() {
		spec.Fill(index, all[index*heavyimage.BlockBytes:][:heavyimage.BlockBytes])
	}
	return all[:spec.Bytes]
}

// writeTar writes a tar with one file.
func writeTar(path, name string, content []byte) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	archive := tar.NewWriter(file)
	if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}); err != nil {
		return err
	}
	if _, err := archive.Write(content); err != nil {
		return err
	}
	return archive.Close()
}
