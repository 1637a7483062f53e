package proxy

import (
	"net/netip"
	"sync"
)

// world is what the proxy remembers because the emulator does not.
type world struct {
	mu         sync.Mutex
	terminated map[string]bool             // instances
	interfaces map[string]*interfaceMemory // by id
	images     map[string]*imageMemory     // by id
	balancers  map[string][]string         // classic load balancers by instance
	subnets    map[string]subnetMemory     // by region and id
	known      map[string]bool             // region and id of things that do not go: groups, zones
}

// interfaceMemory is what moto forgets about a network interface.
type interfaceMemory struct {
	deleteOnTermination bool     // set after the launch
	orphaned            bool     // its instance is terminated, moto shows it attached
	prefixes4           []string // delegated
	prefixes6           []string
}

// subnetMemory is what addresses and zones are checked against.
type subnetMemory struct {
	zone string
	cidr netip.Prefix
}

func (w *world) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.terminated = map[string]bool{}
	w.interfaces = map[string]*interfaceMemory{}
	w.images = map[string]*imageMemory{}
	w.balancers = map[string][]string{}
	w.subnets = map[string]subnetMemory{}
	w.known = map[string]bool{}
}

func (w *world) isTerminated(instance string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.terminated[instance]
}

func (w *world) setTerminated(instance string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.terminated[instance] = true
}

// interfaceOf is a copy of what is remembered about a network interface.
func (w *world) interfaceOf(id string) interfaceMemory {
	w.mu.Lock()
	defer w.mu.Unlock()
	if memory := w.interfaces[id]; memory != nil {
		return *memory
	}
	return interfaceMemory{}
}

func (w *world) setInterface(id string, change func(*interfaceMemory)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	memory := w.interfaces[id]
	if memory == nil {
		memory = &interfaceMemory{}
		w.interfaces[id] = memory
	}
	change(memory)
}

func (w *world) forgetInterface(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.interfaces, id)
}

// addBalancer remembers that an instance is registered; takeBalancers returns
// and forgets all its registrations.
func (w *world) addBalancer(instance, balancer string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.balancers[instance] = append(w.balancers[instance], balancer)
}

func (w *world) takeBalancers(instance string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	balancers := w.balancers[instance]
	delete(w.balancers, instance)
	return balancers
}

// isKnown tells, and learn remembers, what was found in the emulator once.
func (w *world) isKnown(key string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.known[key]
}

func (w *world) learn(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.known[key] = true
}
