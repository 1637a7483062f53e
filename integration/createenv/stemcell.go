package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha1"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// writeStemcell makes a light stemcell of an AMI and returns its path.
func writeStemcell(dir, version, region, ami string) (string, error) {
	manifest, err := json.Marshal(map[string]any{
		"name": "bosh-aws-xen-hvm-ubuntu-jammy-go_agent", "version": version, "operating_system": "ubuntu-jammy", "api_version": 3,
		"bosh_protocol": "1", "sha1": fmt.Sprintf("%x", sha1.Sum(nil)), "stemcell_formats": []string{"aws-light"},
		"cloud_properties": map[string]any{"infrastructure": "aws", "ami": map[string]any{region: ami}},
	})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "light-stemcell-"+version+".tgz")
	file, err := os.Create(path)
	if err != nil {
		return "", err
	}
	zipped := gzip.NewWriter(file)
	archive := tar.NewWriter(zipped)
	failed := errors.Join(add(archive, "stemcell.MF", manifest), add(archive, "image", nil))
	return path, errors.Join(failed, archive.Close(), zipped.Close(), file.Close())
}

func add(archive *tar.Writer, name string, content []byte) error {
	if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}); err != nil {
		return err
	}
	_, err := archive.Write(content)
	return err
}
