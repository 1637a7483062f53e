package action

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/aws"
	"bosh-aws-cpi/cpi"
)

var _ = Describe("Tags", func() {
	long := func(letter string, length int) string { return strings.Repeat(letter, length) }

	DescribeTable("are made of metadata",
		func(metadata string, expected aws.Tags) { Expect(tagsFrom(jsonObject(metadata))).To(Equal(expected)) },
		Entry("none", `{}`, aws.Tags{}),
		Entry("strings", `{"a":"1","b":""}`, aws.Tags{"a": "1", "b": ""}),
		Entry("without nulls and empty keys", `{"a":null,"":"x","b":"2"}`, aws.Tags{"b": "2"}),
		Entry("with numbers and booleans as they are written", `{"i":7,"f":1.50,"t":true}`, aws.Tags{"i": "7", "f": "1.50", "t": "true"}),
		Entry("with lists and objects as JSON", `{"l":[1, "x"],"o":{ "a" : null }}`, aws.Tags{"l": `[1,"x"]`, "o": `{"a":null}`}),
		Entry("with the string null", `{"a":"null"}`, aws.Tags{"a": "null"}),
		Entry("with text unescaped", `{"a":"\u00e9\"<>"}`, aws.Tags{"a": `é"<>`}),
	)

	It("are cut to 127 and 255 characters, not bytes", func() {
		Expect(tagsFrom(jsonObject(fmt.Sprintf(`{%q:%q}`, long("é", 200), long("ü", 300))))).To(Equal(aws.Tags{long("é", 127): long("ü", 255)}))
		Expect(tagsFrom(jsonObject(fmt.Sprintf(`{%q:%q}`, long("k", 127), long("v", 255))))).To(Equal(aws.Tags{long("k", 127): long("v", 255)}))
	})

	It("are merged when they are alike after the cut", func() {
		Expect(tagsFrom(jsonObject(fmt.Sprintf(`{"%[1]sA":"first","%[1]sB":"last"}`, long("k", 127))))).To(Equal(aws.Tags{long("k", 127): "last"}))
	})

	Describe("of a VM", func() {
		DescribeTable("name it",
			func(metadata, name string) { Expect(vmTags(jsonObject(metadata))).To(HaveKeyWithValue("Name", name)) },
			Entry("by name", `{"name":"web/0a1b","job":"web","index":"0","compiling":"ruby"}`, "web/0a1b"),
			Entry("by job and index", `{"job":"web","index":0,"compiling":"ruby"}`, "web/0"),
			Entry("by what it compiles", `{"compiling":"ruby"}`, "compiling/ruby"),
			Entry("by what it compiles when the index is unknown", `{"job":"web","index":null,"compiling":"ruby"}`, "compiling/ruby"),
		)

		It("do not name it when nothing does", func() {
			Expect(vmTags(jsonObject(`{"deployment":"cf","job":"web"}`))).To(Equal(aws.Tags{"deployment": "cf", "job": "web"}))
		})

		It("have its name once", func() {
			Expect(vmTags(jsonObject(`{"name":"web/0","deployment":"cf"}`))).To(Equal(aws.Tags{"Name": "web/0", "deployment": "cf"}))
		})

		It("keep job and index", func() {
			Expect(vmTags(jsonObject(`{"job":"web","index":"0"}`))).To(Equal(aws.Tags{"Name": "web/0", "job": "web", "index": "0"}))
		})

		It("have a name that is not too long", func() {
			Expect(vmTags(jsonObject(fmt.Sprintf(`{"job":%q,"index":"0"}`, long("j", 255))))["Name"]).To(Equal(long("j", 255)))
		})
	})

	DescribeTable("of a snapshot",
		func(metadata, device, description string, expected aws.Tags) {
			got, tags := snapshotTags(jsonObject(metadata), device)
			Expect(got).To(Equal(description))
			Expect(tags).To(Equal(expected))
		},
		Entry("tell all there is to tell",
			`{"deployment":"cf","job":"web","index":"0","director_name":"bosh","director_uuid":"u","agent_id":"a","instance_id":"i","extra":1}`, "/dev/sdf",
			"cf/web/0/sdf", aws.Tags{
				"Name": "cf/web/0/sdf", "deployment": "cf", "instance_index": "0", "director": "bosh", "director_uuid": "u", "agent_id": "a",
				"instance_id": "i", "instance_name": "web/i", "device": "/dev/sdf", "extra": "1",
			}),
		Entry("of a disk that is attached nowhere", `{"deployment":"cf","job":"web","index":"0"}`, "", "cf/web/0",
			aws.Tags{"Name": "cf/web/0", "deployment": "cf", "instance_index": "0"}),
		Entry("without job", `{"deployment":"cf","index":"0","instance_id":"i"}`, "/dev/sdf", "cf/0/sdf",
			aws.Tags{"Name": "cf/0/sdf", "deployment": "cf", "instance_index": "0", "instance_id": "i", "device": "/dev/sdf"}),
		Entry("without instance id", `{"job":"web"}`, "", "web", aws.Tags{"Name": "web"}),
		Entry("without anything", `{}`, "", "", aws.Tags{}),
		Entry("with nulls", `{"deployment":null,"job":null,"index":null,"director_name":null,"instance_id":null}`, "/dev/sdf", "sdf", aws.Tags{"Name": "sdf", "device": "/dev/sdf"}),
	)

	It("of a snapshot have a name that is not too long", func() {
		description, tags := snapshotTags(jsonObject(fmt.Sprintf(`{"deployment":%q,"job":%q}`, long("d", 200), long("j", 200))), "")
		Expect(description).To(HaveLen(255))
		Expect(tags["Name"]).To(Equal(description))
	})

	Describe("of origin", func() {
		It("say which Director and which call made a resource, whatever other tags say", func() {
			s, _ := testSession("create_disk", Config{})
			more := aws.Tags{"a": "1", "bosh-director": "forged", "bosh-request-id": "forged"}
			Expect(s.originTags(more)).To(Equal(aws.Tags{"a": "1", "bosh-director": "director-1", "bosh-request-id": "req-1"}))
			Expect(more).To(HaveKeyWithValue("bosh-director", "forged"), "the given ones stay as they are")
			Expect(s.originTags(nil)).To(Equal(aws.Tags{"bosh-director": "director-1", "bosh-request-id": "req-1"}))
		})
	})

	DescribeTable("of the environment are those of env.bosh.tags",
		func(env string, expected aws.Tags) {
			Expect(environmentTags("create_vm", jsonObject(env))).To(Equal(expected))
		},
		Entry("none", `{}`, aws.Tags{}),
		Entry("none in bosh", `{"bosh":{"password":"x"}}`, aws.Tags{}),
		Entry("nulls", `{"bosh":{"tags":null}}`, aws.Tags{}),
		Entry("some", `{"bosh":{"tags":{"project":"cf","cost":12}}}`, aws.Tags{"project": "cf", "cost": "12"}),
	)

	DescribeTable("of the environment are refused without showing what env holds",
		func(env, key string) {
			_, err := environmentTags("create_vm", jsonObject(env))
			Expect(err).To(beTyped(cpi.CloudError, "create_vm: env."+key))
		},
		Entry(nil, `{"bosh":"canary"}`, "bosh: expected an object, got a string"),
		Entry(nil, `{"bosh":{"tags":["canary"]}}`, "bosh.tags: expected an object, got a list"),
	)
})
