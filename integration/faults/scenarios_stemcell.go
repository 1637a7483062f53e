package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// stemcellScenarios are the methods of a stemcell.
func stemcellScenarios() []scenario {
	return []scenario{
		{name: "create_stemcell, light with tags", method: "create_stemcell", creates: true, prepare: lightStemcell(false)},
		{name: "create_stemcell, encrypted copy", method: "create_stemcell", creates: true, prepare: lightStemcell(true)},
		{name: "create_stemcell, heavy", method: "create_stemcell", creates: true, prepare: heavyStemcell, shards: 4},
		{
			name: "delete_stemcell", method: "delete_stemcell",
			prepare: func(ctx context.Context, w *worker, s scenario) ([]any, error) {
				arguments, err := heavyStemcell(ctx, w, s)
				if err != nil {
					return nil, err
				}
				outcome, err := w.must(ctx, s, "create_stemcell", arguments...)
				return []any{outcome.Text()}, err
			},
			gone: map[string]string{},
		},
	}
}

func lightStemcell(encrypted bool) func(context.Context, *worker, scenario) ([]any, error) {
	return func(_ context.Context, w *worker, _ scenario) ([]any, error) {
		return []any{"/unused/image", map[string]any{
			"name": "jammy", "version": "1.1", "ami": map[string]string{w.Account.Region: w.Account.Image},
			"encrypted": encrypted, "tags": map[string]any{"team": "platform"},
		}}, nil
	}
}

func heavyStemcell(_ context.Context, w *worker, _ scenario) ([]any, error) {
	image, err := w.image()
	return []any{image, map[string]any{
		"name": "jammy", "version": "1.1", "disk": 3072, "architecture": "x86_64", "root_device_name": "/dev/xvda", "virtualization_type": "hvm",
	}}, err
}

// The disk image of a heavy stemcell, in the blocks of EBS direct. The gap of
// zeros must not be sent.
const (
	blockSize   = 512 << 10
	imageBlocks = 5
	zeroBlock   = 2
)

// image writes a small heavy stemcell's image file, once for each worker.
func (w *worker) image() (string, error) {
	path := filepath.Join(w.dir, "image")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return "", fmt.Errorf("writing a stemcell's image: %w", err)
	}
	defer file.Close()
	zipped := gzip.NewWriter(file)
	archive := tar.NewWriter(zipped)
	disk := make([]byte, imageBlocks*blockSize)
	rand.NewChaCha8([32]byte{}).Read(disk)
	clear(disk[zeroBlock*blockSize : (zeroBlock+1)*blockSize])
	err = archive.WriteHeader(&tar.Header{Name: "root.img", Mode: 0o644, Size: int64(len(disk))})
	for _, step := range []func() error{
		func() error { _, err := archive.Write(disk); return err }, archive.Close, zipped.Close,
	} {
		if err == nil {
			err = step()
		}
	}
	if err != nil {
		return "", fmt.Errorf("writing a stemcell's image: %w", err)
	}
	return path, nil
}
