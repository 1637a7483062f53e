//go:build !linux

package driver

// memory is not measured here.
type memory struct{}

func (memory) watch(int)   {}
func (memory) peak() int64 { return 0 }
