package proxy

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"bosh-aws-cpi/integration/emulator/query"
)

// Hiding is eventual consistency: a resource that was just made is unknown to
// the calls that name it, for a time or for its first uses, whichever lasts
// longer. Calls that find it by a filter are not affected.
type Hiding struct {
	For     time.Duration
	Uses    int      // by resource; Forever for always
	Kinds   []string // id prefixes: "i", "vol", "eni", "snap", "ami", "subnet"; none: all
	Actions []string // that do not know it yet; none: all
}

// Forever is a number of uses that does not come to an end.
const Forever = 1 << 30

// Hide hides resources that are made from now on, and shows all older ones.
func (p *Proxy) Hide(hiding Hiding) {
	p.hidden.mu.Lock()
	defer p.hidden.mu.Unlock()
	p.hidden.hiding = hiding
	p.hidden.fresh = map[string]*freshness{}
}

type hidden struct {
	mu     sync.Mutex
	hiding Hiding
	fresh  map[string]*freshness // by resource id
}

type freshness struct {
	made time.Time
	uses int
}

var resourceID = regexp.MustCompile(`\b(i|vol|eni|snap|ami|subnet)-[0-9a-f]{8,17}\b`)

// creating are the calls whose answers name a new resource.
var creating = []string{
	"RunInstances", "CreateVolume", "CreateSnapshot", "CreateNetworkInterface",
	"CopyImage", "RegisterImage", "CreateSubnet", "StartSnapshot",
}

// note remembers what a call has made.
func (h *hidden) note(call *Call, a *answer) {
	if !a.ok() || !slices.Contains(creating, call.Action) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.hiding.For == 0 && h.hiding.Uses == 0 {
		return
	}
	known := named(call)
	for _, id := range resourceID.FindAllString(string(a.body), -1) {
		if h.fresh[id] == nil && !slices.Contains(known, id) && h.hides(id) {
			h.fresh[id] = &freshness{made: time.Now()}
		}
	}
}

func (h *hidden) hides(id string) bool {
	kind, _, _ := strings.Cut(id, "-")
	return len(h.hiding.Kinds) == 0 || slices.Contains(h.hiding.Kinds, kind)
}

// check answers for a resource that cannot be seen yet.
func (h *hidden) check(call *Call) *Failure {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.fresh) == 0 || (len(h.hiding.Actions) > 0 && !slices.Contains(h.hiding.Actions, call.Action)) {
		return nil
	}
	for _, id := range named(call) {
		fresh := h.fresh[id]
		if fresh == nil {
			continue
		}
		if time.Since(fresh.made) < h.hiding.For || fresh.uses < h.hiding.Uses {
			fresh.uses++
			failure := notFound(call.Service, id)
			return &failure
		}
	}
	return nil
}

func (h *hidden) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fresh = map[string]*freshness{}
}

// named are the resource ids that a call's parameters are, in order.
func named(call *Call) []string {
	if call.Service == EBS {
		return resourceID.FindAllString(call.Path, -1)
	}
	var names []string
	for name := range call.Params {
		if !strings.HasPrefix(name, "Filter.") && !strings.HasPrefix(name, "Tag") { // values of tags are no names
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var ids []string
	for _, name := range names {
		if value := call.Params.Get(name); resourceID.FindString(value) == value && value != "" {
			ids = append(ids, value)
		}
	}
	return ids
}

// notFound is how a service says that it does not know a resource.
func notFound(service, id string) Failure {
	switch service {
	case query.ELBv2:
		return Failure{http.StatusBadRequest, "InvalidTarget",
			"The following targets are not in a running state and cannot be registered: '" + id + "'"}
	case query.ELB:
		return Failure{http.StatusBadRequest, "InvalidInstance", "Could not find EC2 instance " + id + "."}
	case EBS:
		return Failure{http.StatusNotFound, "ResourceNotFoundException", "The snapshot '" + id + "' does not exist."}
	}
	kind, _, _ := strings.Cut(id, "-")
	switch kind {
	case "i":
		return Failure{http.StatusBadRequest, "InvalidInstanceID.NotFound", "The instance ID '" + id + "' does not exist"}
	case "vol":
		return Failure{http.StatusBadRequest, "InvalidVolume.NotFound", "The volume '" + id + "' does not exist."}
	case "eni":
		return Failure{http.StatusBadRequest, "InvalidNetworkInterfaceID.NotFound", "The networkInterface ID '" + id + "' does not exist"}
	case "snap":
		return Failure{http.StatusBadRequest, "InvalidSnapshot.NotFound", "The snapshot '" + id + "' does not exist."}
	case "ami":
		return Failure{http.StatusBadRequest, "InvalidAMIID.NotFound", "The image id '[" + id + "]' does not exist"}
	default:
		return Failure{http.StatusBadRequest, "InvalidSubnetID.NotFound", "The subnet ID '" + id + "' does not exist"}
	}
}
