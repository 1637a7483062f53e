package action

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/aws"
	"bosh-aws-cpi/aws/instancetypes"
	"bosh-aws-cpi/registry"
)

var _ = Describe("The block devices of a launch", func() {
	image := aws.Image{RootDevice: "/dev/sda1", Devices: []aws.ImageDevice{{Name: "/dev/sdb", SizeGiB: 1}, {Name: "/dev/sda1", SizeGiB: 5}}}
	// made are the mappings, root first, and the agent's disks.
	made := func(properties VMProperties, kind string, image aws.Image, defaults Defaults) ([]aws.Mapping, registry.Disks) {
		GinkgoHelper()
		known, found := instancetypes.Lookup(kind)
		Expect(found).To(BeTrue(), kind)
		mappings, disks, err := blockDevices(properties, known, image, defaults)
		Expect(err).NotTo(HaveOccurred())
		return mappings, disks
	}
	gp3 := func(gib int32) aws.VolumeSpec { return aws.VolumeSpec{SizeGiB: gib, Type: "gp3"} }

	It("are the root and an ephemeral disk", func() {
		mappings, disks := made(VMProperties{}, "m5.large", image, Defaults{})
		Expect(mappings).To(Equal([]aws.Mapping{{Device: "/dev/sda1", Volume: gp3(5)}, {Device: "/dev/sdb", Volume: gp3(10)}}))
		Expect(disks).To(Equal(registry.Disks{System: "/dev/sda1", Ephemeral: "/dev/sdb", Persistent: map[string]string{}}))
	})

	DescribeTable("have the root on the image's own root device, of the image's size",
		func(image aws.Image, device string, gib int32, system string) {
			mappings, disks := made(VMProperties{}, "m5.large", image, Defaults{})
			Expect(mappings[0]).To(Equal(aws.Mapping{Device: device, Volume: gp3(gib)}))
			Expect(disks.System).To(Equal(system))
		},
		Entry("by its name", aws.Image{RootDevice: "/dev/xvda", Devices: []aws.ImageDevice{{Name: "/dev/xvda", SizeGiB: 3}}}, "/dev/xvda", int32(3), "/dev/xvda"),
		Entry("the disk of which it is a partition", aws.Image{RootDevice: "/dev/sda1", Devices: []aws.ImageDevice{{Name: "/dev/sda", SizeGiB: 3}}}, "/dev/sda", int32(3), "/dev/sda1"),
		Entry("without devices, of whatever size it has", aws.Image{RootDevice: "/dev/sda1"}, "/dev/sda1", int32(0), "/dev/sda1"),
		Entry("without a name", aws.Image{}, "/dev/xvda", int32(0), "/dev/xvda"),
	)

	DescribeTable("have a root",
		func(root RootDisk, defaults Defaults, expected aws.VolumeSpec) {
			mappings, _ := made(VMProperties{RootDisk: root}, "m5.large", image, defaults)
			Expect(mappings[0].Volume).To(Equal(expected))
		},
		Entry("larger than the image's when asked", RootDisk{Size: pointer(int64(20*1024 + 1))}, Defaults{}, gp3(21)),
		Entry("not smaller than the image's", RootDisk{Size: pointer(int64(1024))}, Defaults{}, gp3(5)),
		Entry("of a type and speed", RootDisk{VolumeProperties: VolumeProperties{Type: "io1", IOPS: 100}}, Defaults{}, aws.VolumeSpec{SizeGiB: 5, Type: "io1", IOPS: 100}),
		Entry("encrypted by the configuration", RootDisk{}, Defaults{Encrypted: true, KMSKeyARN: "arn:global"}, aws.VolumeSpec{SizeGiB: 5, Type: "gp3", Encrypted: true, KMSKey: "arn:global"}),
		Entry("encrypted by itself", RootDisk{VolumeProperties: VolumeProperties{Encrypted: pointer(true), KMSKeyARN: "arn:own"}}, Defaults{}, aws.VolumeSpec{SizeGiB: 5, Type: "gp3", Encrypted: true, KMSKey: "arn:own"}),
	)

	DescribeTable("have an ephemeral disk of a size",
		func(properties VMProperties, kind string, gib int32) {
			mappings, _ := made(properties, kind, image, Defaults{})
			Expect(mappings[1]).To(Equal(aws.Mapping{Device: "/dev/sdb", Volume: gp3(gib)}))
		},
		Entry("10 GiB", VMProperties{}, "m5.large", int32(10)),
		Entry("given", VMProperties{EphemeralDisk: EphemeralDisk{Size: pointer(int64(4096))}}, "m5.large", int32(4)),
		Entry("as the first local disk has, for some families", VMProperties{}, "i3.large", int32(475)),
		Entry("given, before the local disk's", VMProperties{EphemeralDisk: EphemeralDisk{Size: pointer(int64(1))}}, "i3.large", int32(1)),
		Entry("10 GiB when the local disks are given to the VM raw", VMProperties{RawInstanceStorage: true}, "i3.large", int32(10)),
		Entry("10 GiB for a family with local disks that never counted", VMProperties{}, "m5d.large", int32(10)),
	)

	It("have an ephemeral disk with the properties that it is given", func() {
		disk := EphemeralDisk{VolumeProperties: VolumeProperties{Type: "gp3", IOPS: 4000, Throughput: 200, Encrypted: pointer(true), KMSKeyARN: "arn:own"}}
		mappings, _ := made(VMProperties{EphemeralDisk: disk}, "m5.large", image, Defaults{KMSKeyARN: "arn:global"})
		Expect(mappings[1].Volume).To(Equal(aws.VolumeSpec{SizeGiB: 10, Type: "gp3", IOPS: 4000, Throughput: 200, Encrypted: true, KMSKey: "arn:own"}))
	})

	It("are the root alone when the ephemeral data go there", func() {
		mappings, disks := made(VMProperties{EphemeralDisk: EphemeralDisk{UseRootDisk: true}}, "m5.large", image, Defaults{})
		Expect(mappings).To(HaveLen(1))
		Expect(disks).To(Equal(registry.Disks{System: "/dev/sda1", Persistent: map[string]string{}}))
	})

	Context("when the ephemeral disk is a local one", func() {
		properties := VMProperties{EphemeralDisk: EphemeralDisk{UseInstanceStorage: true}}

		It("map it by its virtual name", func() {
			mappings, disks := made(properties, "m3.xlarge", image, Defaults{Encrypted: true})
			Expect(mappings[1:]).To(Equal([]aws.Mapping{{Device: "/dev/sdb", VirtualName: "ephemeral0"}}))
			Expect(disks.Ephemeral).To(Equal("/dev/sdb"))
		})

		It("leave NVMe ones to AWS", func() {
			mappings, _ := made(properties, "m5d.large", image, Defaults{})
			Expect(mappings).To(HaveLen(1))
		})
	})

	Context("when the local disks are given to the VM raw", func() {
		properties := VMProperties{RawInstanceStorage: true}

		It("map each of them", func() {
			mappings, disks := made(properties, "m3.xlarge", image, Defaults{})
			Expect(mappings[2:]).To(Equal([]aws.Mapping{{Device: "/dev/xvdba", VirtualName: "ephemeral0"}, {Device: "/dev/xvdbb", VirtualName: "ephemeral1"}}))
			Expect(disks.RawEphemeral).To(Equal([]registry.Disk{{Path: "/dev/xvdba"}, {Path: "/dev/xvdbb"}}))
			Expect(disks.Ephemeral).To(Equal("/dev/sdb"))
		})

		It("map all 24 of the type that has most", func() {
			mappings, _ := made(properties, "d2.8xlarge", image, Defaults{})
			Expect(mappings[2:]).To(HaveLen(24))
			Expect(mappings[25]).To(Equal(aws.Mapping{Device: "/dev/xvdbx", VirtualName: "ephemeral23"}))
		})

		It("leave NVMe ones to AWS and name them for the agent", func() {
			mappings, disks := made(properties, "m5d.4xlarge", image, Defaults{})
			Expect(mappings).To(HaveLen(2))
			Expect(disks.RawEphemeral).To(Equal([]registry.Disk{{Path: "/dev/nvme0n1"}, {Path: "/dev/nvme1n1"}}))
		})
	})

	DescribeTable("cannot be local disks of a type that has none",
		func(properties VMProperties, key string) {
			kind, _ := instancetypes.Lookup("m5.large")
			_, _, err := blockDevices(properties, kind, image, Defaults{})
			Expect(err).To(MatchError(And(HavePrefix("cloud_properties."+key+": instance type m5.large"), ContainSubstring("local disks"))))
		},
		Entry(nil, VMProperties{RawInstanceStorage: true}, "raw_instance_storage"),
		Entry(nil, VMProperties{EphemeralDisk: EphemeralDisk{UseInstanceStorage: true}}, "ephemeral_disk.use_instance_storage"),
	)
})

var _ = Describe("A persistent disk", func() {
	DescribeTable("is found by the agent under",
		func(kind, hint string) {
			known, found := instancetypes.Lookup(kind)
			Expect(found).To(BeTrue())
			Expect(diskHint(known, "/dev/sdf", "vol-0a1b")).To(Equal(hint))
		},
		Entry("udev's name, where EBS is always NVMe", "m5.large", "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol0a1b"),
		Entry("its device name, where it is not", "m3.xlarge", "/dev/sdf"),
	)

	It("is found under udev's name on a type that nobody knows", func() {
		Expect(diskHint(instancetypes.AssumeNewest("z9.large"), "/dev/sdf", "vol-0a1b")).To(Equal("/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol0a1b"))
	})

	at := func(names ...string) aws.Instance {
		instance := aws.Instance{ID: "i-1", Tags: aws.Tags{"Name": "web/0"}}
		for _, name := range names {
			instance.Devices = append(instance.Devices, aws.Device{Name: name, VolumeID: "vol-of-" + name})
		}
		return instance
	}
	DescribeTable("is attached as the first of /dev/sdf to /dev/sdp that is free",
		func(instance aws.Instance, tried map[string]bool, device string) {
			Expect(freeDevice("attach_disk", instance, tried)).To(Equal(device))
		},
		Entry("with nothing else there", at("/dev/sda1", "/dev/sdb"), nil, "/dev/sdf"),
		Entry("with a gap", at("/dev/sdf", "/dev/sdh"), nil, "/dev/sdg"),
		Entry("with names as the kernel has them", at("/dev/xvdf", "/dev/xvdg"), nil, "/dev/sdh"),
		Entry("when others took names a moment ago", at("/dev/sdf"), map[string]bool{"/dev/sdg": true}, "/dev/sdh"),
		Entry("the last one", at("/dev/sdf", "/dev/sdg", "/dev/sdh", "/dev/sdi", "/dev/sdj", "/dev/sdk", "/dev/sdl", "/dev/sdm", "/dev/sdn", "/dev/sdo"), nil, "/dev/sdp"),
	)

	It("cannot be attached when no name is free", func() {
		full := at("/dev/sdf", "/dev/sdg", "/dev/sdh", "/dev/sdi", "/dev/sdj", "/dev/sdk", "/dev/sdl", "/dev/sdm", "/dev/sdn", "/dev/sdo", "/dev/xvdp")
		_, err := freeDevice("attach_disk", full, nil)
		Expect(err).To(MatchError(`attach_disk: instance i-1 "web/0" has no free device name left for another disk (/dev/sdf to /dev/sdp); detach one first`))
	})

	It("is attached already when the instance has it, unless it is on its way off", func() {
		device, attached := deviceOf(aws.Instance{Devices: []aws.Device{{Name: "/dev/sdf", VolumeID: "vol-1", State: "attached"}}}, "vol-1")
		Expect(attached).To(BeTrue())
		Expect(device).To(Equal("/dev/sdf"))
		_, attached = deviceOf(aws.Instance{Devices: []aws.Device{{Name: "/dev/sdf", VolumeID: "vol-1", State: "detaching"}}}, "vol-1")
		Expect(attached).To(BeFalse())
		_, attached = deviceOf(aws.Instance{Devices: []aws.Device{{Name: "/dev/sdf", VolumeID: "vol-1"}}}, "vol-2")
		Expect(attached).To(BeFalse())
	})

	DescribeTable("is among a VM's disks, as the root and the ephemeral one are not",
		func(root string, names []string, expected []string) {
			instance := at(names...)
			instance.RootDevice = root
			Expect(persistentDisks(instance)).To(Equal(expected))
		},
		Entry("none", "/dev/sda1", []string{"/dev/sda1", "/dev/sdb"}, []string{}),
		Entry("two", "/dev/xvda", []string{"/dev/xvda", "/dev/sdf", "/dev/sdb", "/dev/sdg"}, []string{"vol-of-/dev/sdf", "vol-of-/dev/sdg"}),
		Entry("with the root as a partition", "/dev/sda1", []string{"/dev/sda", "/dev/sdf"}, []string{"vol-of-/dev/sdf"}),
		Entry("of a VM without devices", "/dev/sda1", nil, []string{}),
	)

	DescribeTable("met a name that another call took meanwhile",
		func(err error, taken bool) { Expect(isDeviceTaken(err)).To(Equal(taken)) },
		Entry("as EC2 says it", &aws.Error{Code: "InvalidParameterValue", Message: "Invalid value '/dev/sdf' for unixDevice. Attachment point /dev/sdf is already in use"}, true),
		Entry("not for another value", &aws.Error{Code: "InvalidParameterValue", Message: "Value (x) is invalid"}, false),
		Entry("not for a volume in use", &aws.Error{Code: "VolumeInUse", Message: "vol-1 is already in use"}, false),
	)
})
