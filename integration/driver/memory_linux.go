package driver

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"time"
)

// memory watches the peak of a process's memory. The kernel's own figure at
// the end of a process (ru_maxrss) does not do: it starts from the memory of
// the process that started it, which is ours and larger.
type memory struct {
	bytes atomic.Int64
	stop  chan struct{}
	done  chan struct{}
}

const (
	closeLook = 20 * time.Millisecond // calls without network are over by then
	shortGap  = 50 * time.Microsecond
	longGap   = time.Millisecond
)

// watch looks again and again. The kernel keeps the peak: only what comes in
// the last moment before the end is missed.
func (m *memory) watch(pid int) {
	m.stop, m.done = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(m.done)
		status, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			return // gone
		}
		defer status.Close()
		buffer := make([]byte, 8<<10)
		for started := time.Now(); m.look(status, buffer); {
			gap := shortGap
			if time.Since(started) > closeLook {
				gap = longGap
			}
			select {
			case <-m.stop:
				return
			case <-time.After(gap):
			}
		}
	}()
}

// look tells whether there is anything left to look at.
func (m *memory) look(status *os.File, buffer []byte) bool {
	length, _ := status.ReadAt(buffer, 0) // ends with io.EOF, or empty when it is gone
	_, rest, found := bytes.Cut(buffer[:length], []byte("VmHWM:"))
	if !found {
		return false
	}
	kib, err := strconv.ParseInt(string(bytes.Fields(rest)[0]), 10, 64)
	if err == nil {
		m.bytes.Store(max(m.bytes.Load(), kib<<10))
	}
	return true
}

func (m *memory) peak() int64 {
	if m.stop != nil {
		close(m.stop)
		<-m.done
	}
	return m.bytes.Load()
}
