package proxy

import (
	"slices"
	"strconv"

	"bosh-aws-cpi/integration/emulator/query"
)

// imageMemory is what moto forgets about an image that was registered or
// copied.
type imageMemory struct {
	name      string
	fields    map[string]string // of the image, e.g. rootDeviceName
	mappings  []*query.Node     // block devices, in place of moto's; nil for a copy
	encrypted bool              // a copy's disk
	spare     string            // the snapshot moto makes for a registered image and AWS does not
}

func (w *world) setImage(id string, memory *imageMemory) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.images[id] = memory
}

// takeImage forgets an image and returns what was known of it.
func (w *world) takeImage(id string) *imageMemory {
	w.mu.Lock()
	defer w.mu.Unlock()
	memory := w.images[id]
	delete(w.images, id)
	return memory
}

func (w *world) imageOf(id string) *imageMemory {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.images[id]
}

// imageNamed is the image that has this name, imageOn one that was registered
// from this snapshot; "" for none.
func (w *world) imageNamed(region, name string) string {
	return w.findImage(func(m *imageMemory) bool { return m.name == region+" "+name })
}

func (w *world) imageOn(snapshot string) string {
	return w.findImage(func(m *imageMemory) bool {
		return slices.ContainsFunc(m.mappings, func(n *query.Node) bool { return n.Value("ebs/snapshotId") == snapshot })
	})
}

func (w *world) findImage(is func(*imageMemory) bool) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, memory := range w.images {
		if is(memory) {
			return id
		}
	}
	return ""
}

// registerImage: moto keeps name and description, takes any snapshot and any
// name, and makes a snapshot of its own. AWS: keeps all, and neither.
func registerImage(p *Proxy, x *exchange) *answer {
	name := x.Param("Name")
	if name == "" {
		return refuse(x, "MissingParameter", "The request must contain the parameter name")
	}
	if len(name) < 3 || len(name) > 128 {
		return refuse(x, "InvalidAMIName.Malformed", "AMI names must be between 3 and 128 characters long")
	}
	if image := p.world.imageNamed(x.Region, name); image != "" {
		return refuse(x, "InvalidAMIName.Duplicate", "AMI name "+name+" is already in use by AMI "+image)
	}
	memory := &imageMemory{name: x.Region + " " + name, fields: registeredFields(x)}
	for i := 1; ; i++ {
		prefix := "BlockDeviceMapping." + strconv.Itoa(i) + "."
		if !x.Params.Has(prefix + "DeviceName") {
			break
		}
		mapping, refused := p.registeredMapping(x, prefix)
		if refused != nil {
			return refused
		}
		memory.mappings = append(memory.mappings, mapping)
	}
	a := pass(p, x)
	if !a.ok() {
		return a
	}
	id := p.newImage(x, a)
	if image, err := p.image(x, id); err == nil {
		memory.spare = image.Value("blockDeviceMapping/item/ebs/snapshotId")
	}
	p.world.setImage(id, memory)
	return a
}

func registeredFields(x *exchange) map[string]string {
	fields := map[string]string{}
	for element, parameter := range map[string]string{
		"architecture": "Architecture", "virtualizationType": "VirtualizationType", "rootDeviceName": "RootDeviceName",
		"bootMode": "BootMode", "enaSupport": "EnaSupport", "sriovNetSupport": "SriovNetSupport",
		"imdsSupport": "ImdsSupport", "tpmSupport": "TpmSupport", "kernelId": "KernelId",
	} {
		if value := x.Param(parameter); value != "" {
			fields[element] = value
		}
	}
	fields["rootDeviceType"] = "ebs"
	return fields
}

func (p *Proxy) registeredMapping(x *exchange, prefix string) (*query.Node, *answer) {
	mapping := query.List("item", query.New("deviceName", x.Param(prefix+"DeviceName")))
	if name := x.Param(prefix + "VirtualName"); name != "" {
		mapping.Set("virtualName", name)
		return mapping, nil
	}
	snapshot := x.Param(prefix + "Ebs.SnapshotId")
	if snapshot != "" {
		item, err := p.describe(x, "DescribeSnapshots", "SnapshotId", snapshot, "snapshotSet/item")
		if err != nil {
			return nil, notFound(query.EC2, snapshot).render(x.Call, "")
		}
		if p.states.of(snapshot) != "" {
			return nil, refuse(x, "IncorrectState", "Snapshot '"+snapshot+"' is not 'completed'.")
		}
		mapping.Set("ebs/snapshotId", snapshot)
		mapping.Set("ebs/volumeSize", item.Value("volumeSize"))
		mapping.Set("ebs/encrypted", item.Value("encrypted"))
	}
	mapping.Set("ebs/deleteOnTermination", "true")
	mapping.Set("ebs/volumeType", "gp2")
	for element, parameter := range map[string]string{
		"volumeSize": "VolumeSize", "deleteOnTermination": "DeleteOnTermination", "volumeType": "VolumeType",
		"iops": "Iops", "throughput": "Throughput",
	} {
		if value := x.Param(prefix + "Ebs." + parameter); value != "" {
			mapping.Set("ebs/"+element, value)
		}
	}
	return mapping, nil
}

// newImage tags the new image of an answer, with its snapshot if there is one,
// and shows it pending. moto: drops the tags. AWS: keeps them.
func (p *Proxy) newImage(x *exchange, a *answer) (id string) {
	root, err := query.Parse(a.body)
	if err != nil {
		return ""
	}
	id = root.Value("imageId")
	p.tag(x, id, x.Tags("image"))
	p.states.come(id, "pending", p.states.now().ImageAvailable)
	return id
}

// copyImage: moto forgets root device, encryption and tags. AWS: copies or
// does what was asked.
func copyImage(p *Proxy, x *exchange) *answer {
	if x.Param("Name") == "" {
		return refuse(x, "MissingParameter", "The request must contain the parameter name")
	}
	elsewhere := *x.Call
	elsewhere.Region = x.Param("SourceRegion")
	source, err := p.image(&exchange{Call: &elsewhere, proxy: p, ctx: x.ctx}, x.Param("SourceImageId"))
	if err != nil {
		return relay(x, err)
	}
	a := pass(p, x)
	if !a.ok() {
		return a
	}
	p.showImage(source)
	memory := &imageMemory{
		name:      x.Region + " " + x.Param("Name"),
		fields:    map[string]string{"rootDeviceName": source.Value("rootDeviceName"), "rootDeviceType": "ebs"},
		encrypted: x.Param("Encrypted") == "true",
	}
	id := p.newImage(x, a)
	p.world.setImage(id, memory)
	if image, err := p.image(x, id); err == nil {
		p.tag(x, image.Value("blockDeviceMapping/item/ebs/snapshotId"), x.Tags("snapshot"))
	}
	return a
}

// describeImages: moto leaves out ids that it does not know as long as it knows
// one. AWS: refuses them.
func describeImages(p *Proxy, x *exchange) *answer {
	for _, id := range x.List("ImageId") {
		if _, err := p.ask(x, query.EC2, "DescribeImages", "ImageId.1", id); err != nil {
			return relay(x, err)
		}
	}
	return view(func(p *Proxy, _ *exchange, root *query.Node) {
		for _, item := range root.All("imagesSet/item") {
			p.showImage(item)
		}
	})(p, x)
}

func (p *Proxy) showImage(item *query.Node) {
	id := item.Value("imageId")
	if state := p.states.of(id); state != "" {
		item.Set("imageState", state)
	}
	memory := p.world.imageOf(id)
	if memory == nil {
		return
	}
	for name, value := range memory.fields {
		item.Set(name, value)
	}
	if memory.mappings != nil {
		item.Replace(query.List("blockDeviceMapping", memory.mappings...))
		return
	}
	for _, mapping := range item.All("blockDeviceMapping/item") {
		mapping.Set("deviceName", memory.fields["rootDeviceName"])
		mapping.Set("ebs/encrypted", strconv.FormatBool(memory.encrypted))
	}
}

// deregisterImage takes away the snapshot that moto has made by itself.
func deregisterImage(p *Proxy, x *exchange) *answer {
	a := pass(p, x)
	if !a.ok() {
		return a
	}
	if memory := p.world.takeImage(x.Param("ImageId")); memory != nil && memory.spare != "" {
		_, _ = p.ask(x, query.EC2, "DeleteSnapshot", "SnapshotId", memory.spare) // it is there
	}
	return a
}
