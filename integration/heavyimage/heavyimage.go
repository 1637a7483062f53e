// Package heavyimage makes images of heavy stemcells for tests: a gzipped tar
// with a root.img whose every block is known without keeping it.
package heavyimage

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/klauspost/compress/gzip"
)

// BlockBytes is what a block of EBS direct holds.
const BlockBytes = 512 << 10

// Spec says what a root.img looks like: every third block has data, the others
// are zeros, as in a file system that is two thirds empty.
type Spec struct {
	Bytes int64
}

// HasData says whether a block is not all zeros.
func (s Spec) HasData(index int) bool { return index%3 == 0 }

// Blocks is how many blocks the image has, the last one perhaps in part.
func (s Spec) Blocks() int { return int((s.Bytes + BlockBytes - 1) / BlockBytes) }

// DataBlocks is how many of them are not all zeros.
func (s Spec) DataBlocks() int { return (s.Blocks() + 2) / 3 }

// Fill writes the content of a block: half of it cannot be compressed, half can,
// as in a real image.
func (s Spec) Fill(index int, block []byte) {
	clear(block)
	if !s.HasData(index) {
		return
	}
	seed := [32]byte{byte(index), byte(index >> 8), byte(index >> 16), 1}
	source := rand.NewChaCha8(seed)
	_, _ = source.Read(block[:len(block)/2]) // never fails
	for i := len(block) / 2; i < len(block); i++ {
		block[i] = byte(index + i/64)
	}
	if rest := s.Bytes - int64(index)*BlockBytes; rest < int64(len(block)) {
		clear(block[rest:])
	}
}

// Write makes the image file.
func (s Spec) Write(path string) error {
	return create(path, func(file io.Writer) error {
		zipped, err := gzip.NewWriterLevel(file, gzip.BestSpeed)
		if err != nil {
			return err
		}
		archive := tar.NewWriter(zipped)
		if err := archive.WriteHeader(s.header()); err != nil {
			return err
		}
		block := make([]byte, BlockBytes)
		for index := range s.Blocks() {
			s.Fill(index, block)
			length := min(BlockBytes, s.Bytes-int64(index)*BlockBytes)
			if _, err := archive.Write(block[:length]); err != nil {
				return err
			}
		}
		if err := archive.Close(); err != nil {
			return err
		}
		return zipped.Close()
	})
}

func (s Spec) header() *tar.Header {
	return &tar.Header{Name: "root.img", Mode: 0o644, Size: s.Bytes, Format: tar.FormatGNU}
}

// zeroRun is how many zeros one gzip member of WriteSparse stands for.
const zeroRun = 64 << 20

// WriteSparse makes an image file in no time: a first block with data, then
// zeros. A gzip file may have many members, and those of zeros are all alike.
// Bytes must be a multiple of 64 MiB.
func (s Spec) WriteSparse(path string) error {
	var header bytes.Buffer
	if err := tar.NewWriter(&header).WriteHeader(s.header()); err != nil {
		return err
	}
	first := make([]byte, zeroRun)
	s.Fill(0, first[:BlockBytes])
	zeros, err := member(make([]byte, zeroRun))
	if err != nil {
		return err
	}
	begin, err := member(append(header.Bytes(), first...))
	if err != nil {
		return err
	}
	end, err := member(make([]byte, 1024)) // what closes a tar
	if err != nil {
		return err
	}
	return create(path, func(file io.Writer) error {
		pieces := [][]byte{begin}
		for range s.Bytes/zeroRun - 1 {
			pieces = append(pieces, zeros)
		}
		for _, piece := range append(pieces, end) {
			if _, err := file.Write(piece); err != nil {
				return err
			}
		}
		return nil
	})
}

func member(content []byte) ([]byte, error) {
	var out bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := zipped.Write(content); err != nil {
		return nil, err
	}
	err = zipped.Close()
	return out.Bytes(), err
}

func create(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("making an image: %w", err)
	}
	defer file.Close()
	if err := write(file); err != nil {
		return fmt.Errorf("making the image %s: %w", path, err)
	}
	return file.Close()
}
