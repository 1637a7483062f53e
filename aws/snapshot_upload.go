package aws

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ebs"
	ebstypes "github.com/aws/aws-sdk-go-v2/service/ebs/types"
	"golang.org/x/sync/errgroup"
)

// blockSize is what a block of the EBS direct APIs holds, always (EBS User
// Guide, "Use EBS direct APIs to access the contents of an EBS snapshot").
const blockSize = 512 << 10

// Upload is a snapshot whose blocks are being written.
type Upload struct {
	client   *Client
	snapshot string
	progress *progress
	// buffers bound the memory: a block waits for one to come free.
	buffers chan []byte
	// digests are those of the written blocks, in the order of their indexes.
	mutex   sync.Mutex
	digests []digest
}

type digest = [sha256.Size]byte

// UploadSpec describes a snapshot to be written.
type UploadSpec struct {
	SizeGiB     int32
	Description string
	Encrypted   bool
	KMSKey      string // ARN; empty for the account's default key
	Tags        Tags
	// Bytes is how much will be written, for the log's percentages.
	Bytes int64
}

// uploadTimeout is after how many minutes without a block EBS gives an upload
// up, so that a killed process leaves no pending snapshot for long.
const uploadTimeout = 60

// StartUpload begins a snapshot (1 StartSnapshot, of EBS direct).
func (c *Client) StartUpload(ctx context.Context, spec UploadSpec) (*Upload, error) {
	input := &ebs.StartSnapshotInput{
		ClientToken: newToken(),
		VolumeSize:  sdk.Int64(int64(spec.SizeGiB)),
		Description: optional(spec.Description),
		Tags:        ebsTags(spec.Tags),
		Timeout:     sdk.Int32(uploadTimeout),
	}
	if spec.Encrypted {
		input.Encrypted = sdk.Bool(true)
		input.KmsKeyArn = optional(spec.KMSKey)
	}
	start := func() (string, error) {
		out, err := c.ebs().StartSnapshot(ctx, input)
		if err != nil {
			return "", failure(err, fmt.Sprintf("snapshot of %d GiB", spec.SizeGiB))
		}
		if out.SnapshotId == nil {
			return "", incomplete("StartSnapshot", fmt.Sprintf("snapshot of %d GiB", spec.SizeGiB))
		}
		return *out.SnapshotId, nil
	}
	id, err := recovered(ctx, c, start, func(ctx context.Context) (string, bool, error) {
		return c.findSnapshot(ctx, append(spec.Tags.filters(), filter("status", "pending"))...)
	})
	if err != nil {
		return nil, err
	}
	// Every worker has one buffer, the reader another.
	return &Upload{client: c, snapshot: id, progress: newProgress(c, spec.Bytes), buffers: make(chan []byte, uploadWorkers+1)}, nil
}

func ebsTags(tags Tags) []ebstypes.Tag {
	var list []ebstypes.Tag
	for _, tag := range tags.list() {
		list = append(list, ebstypes.Tag{Key: tag.Key, Value: tag.Value})
	}
	return list
}

// SnapshotID returns the id of the snapshot.
func (u *Upload) SnapshotID() string { return u.snapshot }

// uploadWorkers is how many blocks are on their way at once. A block takes EBS
// some tens of milliseconds, so 32 of them keep several hundred MiB/s going, and
// hold 16 MiB of memory.
const uploadWorkers = 32

// Write uploads the image that it reads, block by block (1 PutSnapshotBlock for
// each block that is not all zeros). Reading, hashing and sending go on side by
// side. The first failure stops all; it is the reader's own or an *Error.
func (u *Upload) Write(ctx context.Context, image io.Reader) error {
	defer u.progress.close()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(uploadWorkers)
	failed := u.cut(ctx, image, group)
	return cmp.Or(group.Wait(), failed)
}

// cut cuts the image into blocks and hands on those that are not all zeros,
// until the image ends or a block could not be sent.
func (u *Upload) cut(ctx context.Context, image io.Reader, group *errgroup.Group) error {
	for index := int32(0); ctx.Err() == nil; index++ {
		data := u.buffer()
		n, err := io.ReadFull(image, data)
		if err == io.EOF {
			return nil
		}
		if err != nil && err != io.ErrUnexpectedEOF {
			return err
		}
		clear(data[n:]) // an image of an odd size ends in zeros
		u.progress.read(n)
		if bytes.Equal(data, zeros[:]) {
			u.progress.skipped()
			u.buffers <- data
			continue
		}
		number := u.reserve()
		group.Go(func() error {
			defer func() { u.buffers <- data }()
			return u.put(ctx, index, number, data)
		})
	}
	return context.Cause(ctx)
}

var zeros [blockSize]byte

// buffer returns one that is free; the first ones are made.
func (u *Upload) buffer() []byte {
	select {
	case free := <-u.buffers:
		return free
	default:
		return make([]byte, blockSize)
	}
}

// reserve makes room for a block's digest and returns its place.
func (u *Upload) reserve() int {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	u.digests = append(u.digests, digest{})
	return len(u.digests) - 1
}

// put sends one block and keeps its digest.
func (u *Upload) put(ctx context.Context, index int32, number int, data []byte) error {
	sum := sha256.Sum256(data)
	u.mutex.Lock()
	u.digests[number] = sum
	u.mutex.Unlock()
	err := u.client.visible(ctx, unknownToEBS, func() error {
		_, err := u.client.ebs().PutSnapshotBlock(ctx, &ebs.PutSnapshotBlockInput{
			SnapshotId:        sdk.String(u.snapshot),
			BlockIndex:        sdk.Int32(index),
			BlockData:         bytes.NewReader(data), // can be read again for a retry
			DataLength:        sdk.Int32(blockSize),
			Checksum:          sdk.String(base64.StdEncoding.EncodeToString(sum[:])),
			ChecksumAlgorithm: ebstypes.ChecksumAlgorithmChecksumAlgorithmSha256,
		})
		if err != nil {
			return failure(err, fmt.Sprintf("block %d of snapshot %s", index, u.snapshot))
		}
		return nil
	})
	if err == nil {
		u.progress.sent()
	}
	return err
}

// unknownToEBS is EBS direct's code for a snapshot that it does not know.
const unknownToEBS = "ResourceNotFoundException"

// Complete says that all blocks are written (1 CompleteSnapshot, of EBS
// direct) and waits until the snapshot can be used (1 DescribeSnapshots for each
// poll). The checksum over all is SHA256 over the digests of the written blocks
// in the order of their indexes.
func (u *Upload) Complete(ctx context.Context) error {
	all := sha256.New()
	for _, sum := range u.digests {
		all.Write(sum[:])
	}
	input := &ebs.CompleteSnapshotInput{
		SnapshotId:                sdk.String(u.snapshot),
		ChangedBlocksCount:        sdk.Int32(int32(len(u.digests))),
		Checksum:                  sdk.String(base64.StdEncoding.EncodeToString(all.Sum(nil))),
		ChecksumAlgorithm:         ebstypes.ChecksumAlgorithmChecksumAlgorithmSha256,
		ChecksumAggregationMethod: ebstypes.ChecksumAggregationMethodChecksumAggregationLinear,
	}
	err := u.client.visible(ctx, unknownToEBS, func() error {
		_, err := u.client.ebs().CompleteSnapshot(ctx, input)
		if err != nil {
			return failure(err, "snapshot "+u.snapshot)
		}
		return nil
	})
	// After a lost answer EBS says that the snapshot is not pending any more: the
	// call was carried out.
	if err != nil && !(IsMaybe(err) && HasCode(err, "ValidationException")) {
		return err
	}
	return u.client.waitSnapshot(ctx, u.snapshot)
}

// waitSnapshot waits until a snapshot that this CPI call wrote is completed.
func (c *Client) waitSnapshot(ctx context.Context, id string) error {
	started := time.Now()
	err := c.waitFromNow(ctx, "CompleteSnapshot", "snapshot "+id+" to be completed", limitSnapshotCompleted, func(ctx context.Context) (bool, error) {
		var state, why string
		err := c.visible(ctx, "InvalidSnapshot.NotFound", func() (err error) {
			state, why, err = c.snapshotState(ctx, id)
			return err
		})
		if err != nil {
			return false, err
		}
		if slices.Contains([]string{"error", "recoverable", "recovering"}, state) {
			return false, &Error{Action: "CompleteSnapshot", Resource: "snapshot " + id, Code: "SnapshotState",
				Message: fmt.Sprintf("the snapshot is in state %q instead of completed: %s", state, orUnknown(why))}
		}
		return state == "completed", nil
	})
	if err == nil {
		c.infof("snapshot %s completed after %.1f s", id, time.Since(started).Seconds())
	}
	return err
}
