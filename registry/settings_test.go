package registry_test

import (
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/registry"
)

var _ = Describe("An agent's settings", func() {
	text := func(fields registry.Fields) string {
		GinkgoHelper()
		data, err := json.Marshal(fields)
		Expect(err).NotTo(HaveOccurred())
		return string(data)
	}

	all := registry.Settings{
		VMName:   "vm-1",
		AgentID:  "agent-1",
		Networks: json.RawMessage(`{"b":{"use_dhcp":true},"a":{"use_dhcp":true}}`),
		Disks: registry.Disks{
			System:       "/dev/sda1",
			Ephemeral:    "/dev/sdb",
			RawEphemeral: []registry.Disk{{Path: "/dev/nvme0n1"}, {Path: "/dev/nvme1n1"}},
			Persistent:   map[string]string{},
		},
		Env:      json.RawMessage(`{"bosh":{"password":"x"}}`),
		Agent:    registry.Fields{{Key: "ntp", Value: []string{"0.pool.ntp.org"}}, {Key: "mbus", Value: json.RawMessage(`"nats://nats"`)}},
		DNS:      json.RawMessage(`["10.0.0.2"]`),
		Registry: registry.Server{Endpoint: "http://user:secret@10.0.0.6:25777", User: "user", Password: "secret"},
	}
	least := registry.Settings{
		VMName: "vm-1", AgentID: "agent-1",
		Networks: json.RawMessage(`{"a":{}}`),
		Disks:    registry.Disks{System: "/dev/xvda", Persistent: map[string]string{}},
	}

	const allFull = `"vm":{"name":"vm-1"},"agent_id":"agent-1",` +
		`"networks":{"b":{"use_dhcp":true},"a":{"use_dhcp":true}},` +
		`"disks":{"system":"/dev/sda1","ephemeral":"/dev/sdb","raw_ephemeral":[{"path":"/dev/nvme0n1"},{"path":"/dev/nvme1n1"}],"persistent":{}},` +
		`"env":{"bosh":{"password":"x"}},"ntp":["0.pool.ntp.org"],"mbus":"nats://nats"`
	const leastFull = `"vm":{"name":"vm-1"},"agent_id":"agent-1","networks":{"a":{}},"disks":{"system":"/dev/xvda","persistent":{}}`

	It("are in the registry in full, but for DNS and the registry itself", func() {
		Expect(text(all.Full())).To(Equal(`{` + allFull + `}`))
		Expect(text(least.Full())).To(Equal(`{` + leastFull + `}`))
	})

	It("are in the user data in full when no registry is asked; a registry that is configured goes along", func() {
		Expect(text(all.UserData())).To(Equal(`{` + allFull + `,"dns":{"nameserver":["10.0.0.2"]},"registry":{"endpoint":"http://user:secret@10.0.0.6:25777"}}`))
		Expect(text(least.UserData())).To(Equal(`{` + leastFull + `}`))
	})

	It("are in the user data as far as it takes to reach the registry, when that is asked", func() {
		Expect(text(all.RegistryUserData())).To(Equal(`{"registry":{"endpoint":"http://user:secret@10.0.0.6:25777"},` +
			`"dns":{"nameserver":["10.0.0.2"]},"networks":{"b":{"use_dhcp":true},"a":{"use_dhcp":true}}}`))
		Expect(text(least.RegistryUserData())).To(Equal(`{"registry":{"endpoint":""},"networks":{"a":{}}}`))
	})

	It("are made anew each time", func() {
		all.UserData()
		Expect(text(all.Full())).To(Equal(`{` + allFull + `}`))
	})

	Describe("as fields", func() {
		DescribeTable("are an object with its keys in order",
			func(fields registry.Fields, written string) { Expect(text(fields)).To(Equal(written)) },
			Entry("none", registry.Fields(nil), `{}`),
			Entry("one", registry.Fields{{Key: "a", Value: 1}}, `{"a":1}`),
			Entry("several", registry.Fields{{Key: "b", Value: "x"}, {Key: "a", Value: nil}}, `{"b":"x","a":null}`),
			Entry("a key that needs quoting", registry.Fields{{Key: "a\"b", Value: true}}, `{"a\"b":true}`),
			Entry("of a key that is there twice the last one, in its own place",
				registry.Fields{{Key: "a", Value: 1}, {Key: "b", Value: 2}, {Key: "a", Value: 3}}, `{"b":2,"a":3}`),
			Entry("of a key that is there three times the last one",
				registry.Fields{{Key: "a", Value: 1}, {Key: "a", Value: 2}, {Key: "a", Value: 3}, {Key: "b", Value: 4}}, `{"a":3,"b":4}`),
		)

		It("name the key whose value has no JSON form, and not the value", func() {
			_, err := json.Marshal(registry.Fields{{Key: "mbus", Value: json.RawMessage(`{canary`)}})
			Expect(err).To(MatchError(And(ContainSubstring("mbus has no JSON form"), Not(ContainSubstring("canary")))))
		})
	})
})
