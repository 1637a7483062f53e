package action

import (
	"archive/tar"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/klauspost/compress/gzip"
)

// rootImage is the name of the disk image within a stemcell's image file.
const rootImage = "root.img"

// maxImageBytes is what the largest EBS volume holds.
const maxImageBytes = int64(maxVolumeGiB) << 30

// stemcellImage reads the disk image of a heavy stemcell off its file, a tar
// that may be gzipped. Nothing is unpacked to disk.
type stemcellImage struct {
	size int64 // bytes
	file *os.File
	all  io.Reader // the tar, decompressed
	tar  *tar.Reader
}

// gzipMagic begins every gzip file (RFC 1952).
var gzipMagic = []byte{0x1f, 0x8b}

// openImage opens an image file and finds the disk image in it. Its errors name
// the file and say what is wrong with it.
func openImage(name string) (*stemcellImage, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("image_path: the stemcell's image cannot be opened: %w", err)
	}
	image := &stemcellImage{file: file}
	if err := image.find(); err != nil {
		file.Close()
		return nil, fmt.Errorf("image_path: the stemcell's image %s: %w", name, err)
	}
	return image, nil
}

func (i *stemcellImage) find() error {
	buffered := bufio.NewReaderSize(i.file, 1<<20)
	i.all = buffered
	if magic, _ := buffered.Peek(len(gzipMagic)); bytes.Equal(magic, gzipMagic) {
		unzipped, err := gzip.NewReader(buffered)
		if err != nil {
			return fmt.Errorf("it is no valid gzip file: %w", err)
		}
		i.all = unzipped
	}
	i.tar = tar.NewReader(i.all)
	for {
		header, err := i.tar.Next()
		if err == io.EOF {
			return fmt.Errorf("it holds no %s", rootImage)
		}
		if err != nil {
			return readFault(err)
		}
		if path.Base(header.Name) != rootImage || header.Typeflag != tar.TypeReg {
			continue
		}
		i.size = header.Size
		return checkImageSize(i.size)
	}
}

func checkImageSize(size int64) error {
	switch {
	case size == 0:
		return fmt.Errorf("its %s is empty", rootImage)
	case size > maxImageBytes:
		return fmt.Errorf("its %s has %d bytes and is larger than EBS takes (64 TiB)", rootImage, size)
	}
	return nil
}

// Read reads the disk image.
func (i *stemcellImage) Read(p []byte) (int, error) {
	n, err := i.tar.Read(p)
	if err != nil && err != io.EOF {
		err = readFault(err)
	}
	return n, err
}

// verify reads what follows the disk image: only at the very end does gzip tell
// whether all that was read is what was once written.
func (i *stemcellImage) verify() error {
	if _, err := io.Copy(io.Discard, i.all); err != nil {
		return readFault(err)
	}
	return nil
}

func (i *stemcellImage) close() { i.file.Close() }

// readFault words what can be wrong with a file half way.
func readFault(err error) error {
	switch {
	case errors.Is(err, gzip.ErrChecksum):
		return fmt.Errorf("it is damaged: its checksum is wrong; download the stemcell again")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("it breaks off; download the stemcell again")
	case errors.Is(err, tar.ErrHeader):
		return fmt.Errorf("it is no tar file")
	default:
		return fmt.Errorf("it cannot be read: %w", err)
	}
}
