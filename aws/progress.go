package aws

import (
	"sync/atomic"
	"time"
)

// progressEvery is how often an upload says in the log how far it is.
const progressEvery = 10 * time.Second

// progress counts what an upload has done and tells it.
type progress struct {
	client  *Client
	started time.Time
	total   int64
	bytes   atomic.Int64
	put     atomic.Int64
	zero    atomic.Int64
	stop    chan struct{}
}

// newProgress begins to tell, until close. total is the image's size in bytes.
func newProgress(c *Client, total int64) *progress {
	p := &progress{client: c, started: time.Now(), total: max(total, 1), stop: make(chan struct{})}
	go p.run()
	return p
}

func (p *progress) run() {
	ticker := time.NewTicker(p.client.timing.scaled(progressEvery))
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			p.tell("uploading")
		case <-p.stop:
			return
		}
	}
}

// close ends the telling with a summary.
func (p *progress) close() {
	close(p.stop)
	p.tell("upload ended")
}

func (p *progress) read(n int) { p.bytes.Add(int64(n)) }
func (p *progress) sent()      { p.put.Add(1) }
func (p *progress) skipped()   { p.zero.Add(1) }

func (p *progress) tell(what string) {
	seconds := time.Since(p.started).Seconds()
	mebibytes := float64(p.bytes.Load()) / (1 << 20)
	p.client.infof("%s: %.0f %%, %.0f MiB read, %d blocks sent, %d of zeros skipped, %.1f MiB/s",
		what, 100*float64(p.bytes.Load())/float64(p.total), mebibytes, p.put.Load(), p.zero.Load(), mebibytes/seconds)
}
