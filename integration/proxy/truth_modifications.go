package proxy

import (
	"net/http"
	"strconv"

	"bosh-aws-cpi/integration/emulator/query"
)

// modifyVolume: moto accepts anything. AWS: never makes a volume smaller. (It
// also limits how often a volume is modified; that is left to rules, so that
// tests can modify twice.)
func modifyVolume(p *Proxy, x *exchange) *answer {
	id := x.Param("VolumeId")
	volume, err := p.volume(x, id)
	if err != nil {
		return relay(x, err)
	}
	if state := p.states.of(id); state != "" {
		return refuse(x, "IncorrectState", "Volume '"+id+"' is in the '"+state+"' state.")
	}
	if p.states.of(modificationKey(id)) == "modifying" {
		return refuse(x, "IncorrectModificationState", "Cannot modify volume '"+id+"' currently in modification state MODIFYING.")
	}
	size, _ := strconv.Atoi(x.Param("Size"))
	if had, _ := strconv.Atoi(volume.Value("size")); size != 0 && size < had {
		return refuse(x, "InvalidParameterValue", "New size cannot be smaller than existing size")
	}
	a := pass(p, x)
	if !a.ok() {
		return a
	}
	p.states.come(modificationKey(id), "modifying", p.states.now().VolumeModified)
	return a.rewrite(func(root *query.Node) {
		modification := root.Get("volumeModification")
		completeModification(modification, volume)
		modification.Set("modificationState", "modifying")
		modification.Set("progress", "0")
	})
}

// completeModification: moto tells only what changes. AWS: all values, before
// and after.
func completeModification(modification, volume *query.Node) {
	for original, attribute := range map[string]string{
		"Size": "size", "VolumeType": "volumeType", "Iops": "iops", "Throughput": "throughput",
	} {
		value := volume.Value(attribute)
		if modification == nil || value == "" {
			continue
		}
		if modification.Value("original"+original) == "" {
			modification.Set("original"+original, value)
		}
		if modification.Value("target"+original) == "" {
			modification.Set("target"+original, value)
		}
	}
}

// describeVolumesModifications: moto tells the whole history of a volume, all
// of it completed. AWS: the last modification, which goes on optimizing for
// hours; and an error when a volume is named that was never modified.
func describeVolumesModifications(p *Proxy, x *exchange) *answer {
	a := pass(p, x)
	if !a.ok() {
		return a
	}
	missing := ""
	a = a.rewrite(func(root *query.Node) {
		last := map[string]*query.Node{}
		for _, item := range root.All("volumeModificationSet/item") {
			last[item.Value("volumeId")] = item
		}
		root.Get("volumeModificationSet").Filter(func(item *query.Node) bool { return last[item.Value("volumeId")] == item })
		for id, item := range last {
			p.showModification(x, id, item)
		}
		for _, id := range x.List("VolumeId") {
			if last[id] == nil {
				missing = id
			}
		}
	})
	if missing != "" {
		return Failure{http.StatusBadRequest, "InvalidVolumeModification.NotFound",
			"Modification for volume '" + missing + "' does not exist."}.render(x.Call, "as AWS")
	}
	return a
}

func (p *Proxy) showModification(x *exchange, id string, item *query.Node) {
	if volume, err := p.volume(x, id); err == nil {
		completeModification(item, volume)
	}
	state, progress := "optimizing", "1"
	if p.states.of(modificationKey(id)) != "" {
		state, progress = "modifying", "0"
	}
	item.Set("modificationState", state)
	item.Set("progress", progress)
	item.Remove("endTime")
}
