package emulator

import "encoding/json"

// The images every region of the emulator has. moto gives all of them a root
// disk of 15 GiB.
const (
	ImageX86      = "ami-0b050000000000a01" // root device /dev/xvda, as BOSH stemcells have it
	ImageX86New   = "ami-0b050000000000a02" // the same again, for a stemcell update
	ImageX86SDA   = "ami-0b050000000000a03" // root device /dev/sda1
	ImageARM      = "ami-0b050000000000b01" // arm64, root device /dev/xvda
	imagesOwner   = "999999999999"          // another account's: the tester owns none of them
	ImageRootGiB  = 15                      // fixed in moto
	ImageRootName = "/dev/xvda"             // root device of ImageX86, ImageX86New and ImageARM
)

// image is an entry of the file moto loads its images from.
type image struct {
	ID                 string `json:"ami_id"`
	Name               string `json:"name"`
	Description        string `json:"description"`
	State              string `json:"state"`
	Public             bool   `json:"public"`
	Owner              string `json:"owner_id"`
	Location           string `json:"image_location"`
	Type               string `json:"image_type"`
	Architecture       string `json:"architecture"`
	VirtualizationType string `json:"virtualization_type"`
	Hypervisor         string `json:"hypervisor"`
	RootDeviceType     string `json:"root_device_type"`
	RootDeviceName     string `json:"root_device_name"`
	SRIOV              string `json:"sriov"`
}

func newImage(id, name, architecture, root string) image {
	return image{
		ID: id, Name: name, Description: name, State: "available", Public: true,
		Owner: imagesOwner, Location: imagesOwner + "/" + name, Type: "machine",
		Architecture: architecture, VirtualizationType: "hvm", Hypervisor: "xen",
		RootDeviceType: "ebs", RootDeviceName: root, SRIOV: "simple",
	}
}

func imagesFile() []byte {
	file, err := json.Marshal([]image{
		newImage(ImageX86, "BOSH stemcell 1", "x86_64", ImageRootName),
		newImage(ImageX86New, "BOSH stemcell 2", "x86_64", ImageRootName),
		newImage(ImageX86SDA, "BOSH stemcell sda", "x86_64", "/dev/sda1"),
		newImage(ImageARM, "BOSH stemcell arm", "arm64", ImageRootName),
	})
	if err != nil {
		panic(err) // a struct of strings and bools
	}
	return file
}
