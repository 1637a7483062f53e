package aws

import (
	"fmt"
	"sync"
	"time"
)

// figures count what a CPI call did on AWS, for the closing line of its log.
type figures struct {
	mutex     sync.Mutex
	calls     int
	throttled int
	waited    time.Duration
}

func (f *figures) call(wasThrottled bool) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.calls++
	if wasThrottled {
		f.throttled++
	}
}

func (f *figures) wait(pause time.Duration) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.waited += pause
}

func (f *figures) throttledSoFar() int {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.throttled
}

func (f *figures) String() string {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return fmt.Sprintf("%d AWS calls, %d throttled, %.1f s waited", f.calls, f.throttled, f.waited.Seconds())
}
