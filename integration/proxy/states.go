package proxy

import (
	"sync"
	"time"
)

// Delays are how long things take until they can be seen. Zero is at once.
//
// What comes into being is there in the emulator and only shown late. What
// goes is kept by the emulator until its time has come, with all that hangs on
// it: a terminating instance still holds its address, disks and elastic IP.
type Delays struct {
	InstanceRunning    time.Duration // pending for so long after RunInstances
	InstanceTerminated time.Duration // shutting-down
	VolumeAvailable    time.Duration // creating
	VolumeDeleted      time.Duration // deleting
	VolumeAttached     time.Duration // attaching
	VolumeDetached     time.Duration // detaching
	VolumeModified     time.Duration // modifying, then optimizing for good
	SnapshotCompleted  time.Duration // pending
	ImageAvailable     time.Duration // pending
	InterfaceAvailable time.Duration // pending
}

// SetDelays is about what happens from now on.
func (p *Proxy) SetDelays(delays Delays) {
	p.states.mu.Lock()
	defer p.states.mu.Unlock()
	p.states.delays = delays
}

// Settle ends all delays that run: what comes is there, what goes is gone.
func (p *Proxy) Settle() {
	for _, finish := range p.states.settle() {
		finish()
	}
}

// states are what is to be seen instead of what the emulator says. Attachments
// and modifications have keys of their own, made of the volume's id.
type states struct {
	mu      sync.Mutex
	delays  Delays
	coming  map[string]coming
	leaving map[string]*leaving
}

type coming struct {
	state string
	until time.Time
}

type leaving struct {
	state  string
	timer  *time.Timer
	finish func()
}

func attachmentKey(volume string) string   { return volume + " attachment" }
func modificationKey(volume string) string { return volume + " modification" }

// now are the delays that hold.
func (s *states) now() Delays {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.delays
}

// come shows a state for that long.
func (s *states) come(key, state string, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.coming, key)
	if d > 0 {
		s.coming[key] = coming{state, time.Now().Add(d)}
	}
}

// stay shows a state until another comes.
func (s *states) stay(key, state string) { s.come(key, state, 1<<62) }

// of is the state to show, "" for what the emulator says.
func (s *states) of(key string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if going := s.leaving[key]; going != nil {
		return going.state
	}
	if came, ok := s.coming[key]; ok {
		if time.Now().Before(came.until) {
			return came.state
		}
		delete(s.coming, key)
	}
	return ""
}

// leave shows a state until the end comes that much later; at once if the time
// is zero. The emulator must be held, and is while end runs, so that nobody
// sees it half done.
func (p *Proxy) leave(key, state string, d time.Duration, end func()) {
	if d <= 0 {
		p.states.come(key, "", 0)
		end()
		return
	}
	s := &p.states
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.coming, key)
	going := &leaving{state: state}
	going.finish = func() {
		p.emulator.Lock()
		defer p.emulator.Unlock()
		if s.take(key, going) {
			end()
		}
	}
	going.timer = time.AfterFunc(d, going.finish)
	s.leaving[key] = going
}

// take removes an entry and tells whether it was still there: of timer, Settle
// and Reset only the first may end it.
func (s *states) take(key string, going *leaving) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leaving[key] != going {
		return false
	}
	going.timer.Stop()
	delete(s.leaving, key)
	return true
}

func (s *states) settle() []func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.coming)
	var finish []func()
	for _, going := range s.leaving {
		finish = append(finish, going.finish)
	}
	return finish
}

// forget drops all states; what was to go stays.
func (s *states) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, going := range s.leaving {
		going.timer.Stop()
	}
	s.coming = map[string]coming{}
	s.leaving = map[string]*leaving{}
}
