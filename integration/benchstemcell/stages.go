package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"os"
	"slices"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ebs"
	"github.com/aws/aws-sdk-go-v2/service/ebs/types"
	"github.com/klauspost/compress/gzip"
	"golang.org/x/sync/errgroup"

	"bosh-aws-cpi/integration/driver"
	"bosh-aws-cpi/integration/emulator/query"
	"bosh-aws-cpi/integration/heavyimage"
	"bosh-aws-cpi/integration/stage"
)

// gunzip reads the image file to its end.
func gunzip(image string) error {
	file, err := os.Open(image)
	if err != nil {
		return err
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, unzipped)
	return err
}

// hash takes the digest of as much as there are blocks with data, on one core.
func hash(spec heavyimage.Spec) error {
	block := make([]byte, heavyimage.BlockBytes)
	spec.Fill(0, block)
	for range spec.DataBlocks() {
		_ = sha256.Sum256(block)
	}
	return nil
}

// puts is how many blocks are on their way at once, as in the CPI.
const puts = 32

// put sends as many blocks as there are with data, ready made, to a snapshot
// that is deleted then.
func put(ctx context.Context, set *stage.Stage, spec heavyimage.Spec) error {
	client := ebs.New(ebs.Options{Region: set.Account.Region, BaseEndpoint: sdk.String(set.Moto.URL), Credentials: credentials.NewStaticCredentialsProvider("bench", "bench", "")})
	snapshot, err := client.StartSnapshot(ctx, &ebs.StartSnapshotInput{VolumeSize: sdk.Int64((spec.Bytes + 1<<30 - 1) >> 30)})
	if err != nil {
		return err
	}
	block := make([]byte, heavyimage.BlockBytes)
	spec.Fill(0, block)
	sum := sha256.Sum256(block)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(puts)
	for index := range spec.Blocks() {
		if !spec.HasData(index) {
			continue
		}
		group.Go(func() error {
			_, err := client.PutSnapshotBlock(ctx, &ebs.PutSnapshotBlockInput{
				SnapshotId: snapshot.SnapshotId, BlockIndex: sdk.Int32(int32(index)), BlockData: bytes.NewReader(block), DataLength: sdk.Int32(heavyimage.BlockBytes),
				Checksum: sdk.String(base64.StdEncoding.EncodeToString(sum[:])), ChecksumAlgorithm: types.ChecksumAlgorithmChecksumAlgorithmSha256,
			})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	_, err = query.Client{Endpoint: set.Moto.URL, Region: set.Account.Region}.Do(context.WithoutCancel(ctx), query.EC2, "DeleteSnapshot", "SnapshotId", sdk.ToString(snapshot.SnapshotId))
	return err
}

// create is the whole, and leaves nothing.
func create(ctx context.Context, set *stage.Stage, image string) (driver.Outcome, error) {
	cpi := set.CPI
	cpi.Memory = true
	outcome := cpi.Call(ctx, "create_stemcell", image, map[string]any{"name": "bench", "version": "1"})
	if err := outcome.Err(); err != nil {
		return outcome, err
	}
	return outcome, cpi.Call(ctx, "delete_stemcell", outcome.Text()).Err()
}

func middle(figures []float64) float64 {
	slices.Sort(figures)
	return (figures[(len(figures)-1)/2] + figures[len(figures)/2]) / 2
}
