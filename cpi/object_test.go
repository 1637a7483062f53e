package cpi_test

import (
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/cpi"
)

var _ = Describe("An object", func() {
	object := func(text string) cpi.Object {
		GinkgoHelper()
		var o cpi.Object
		Expect(json.Unmarshal([]byte(text), &o)).To(Succeed())
		return o
	}
	text := func(o cpi.Object) string {
		GinkgoHelper()
		data, err := json.Marshal(o)
		Expect(err).NotTo(HaveOccurred())
		return string(data)
	}

	DescribeTable("is written as it was read",
		func(read, written string) { Expect(text(object(read))).To(Equal(written)) },
		Entry("empty", `{}`, `{}`),
		Entry("null, which is the empty one", `null`, `{}`),
		Entry("keys in their order", `{"b":1,"a":2,"c":3}`, `{"b":1,"a":2,"c":3}`),
		Entry("values in their form", `{"n":1.50,"big":12345678901234567890,"u":"\u00e9\u0000","x":null}`, `{"n":1.50,"big":12345678901234567890,"u":"\u00e9\u0000","x":null}`),
		Entry("keys that need quoting", `{"a\"b\n":1}`, `{"a\"b\n":1}`),
		Entry("of a key that stands twice the last value", `{"a":1,"b":2,"a":3}`, `{"a":3,"b":2}`),
	)

	It("takes the members of another one over, in their places", func() {
		o := object(`{"a":1,"b":2}`)
		Expect(text(o.Merged(object(`{"c":3,"b":4,"d":5}`)))).To(Equal(`{"a":1,"b":4,"c":3,"d":5}`))
		Expect(text(o)).To(Equal(`{"a":1,"b":2}`))
	})

	It("is empty again when it is read a second time", func() {
		o := object(`{"a":1}`)
		Expect(json.Unmarshal([]byte(`{"b":2}`), &o)).To(Succeed())
		Expect(text(o)).To(Equal(`{"b":2}`))
	})

	It("finds a member by its key", func() {
		o := object(`{"a":1,"b":[2]}`)
		value, found := o.Get("b")
		Expect(found).To(BeTrue())
		Expect(value).To(MatchJSON(`[2]`))
		_, found = o.Get("B")
		Expect(found).To(BeFalse())
		Expect(o.Len()).To(Equal(2))
	})

	Describe("with a key set", func() {
		It("has it in its place, or behind all others", func() {
			Expect(text(object(`{"a":1,"b":2}`).With("a", []int{9}))).To(Equal(`{"a":[9],"b":2}`))
			Expect(text(object(`{"a":1}`).With("b", "x"))).To(Equal(`{"a":1,"b":"x"}`))
		})

		It("is another one", func() {
			o := object(`{"a":1,"b":2}`)
			first, second := o.With("c", 3), o.With("d", 4)
			o.With("a", 9)
			Expect(text(o)).To(Equal(`{"a":1,"b":2}`))
			Expect(text(first)).To(Equal(`{"a":1,"b":2,"c":3}`))
			Expect(text(second)).To(Equal(`{"a":1,"b":2,"d":4}`))
		})

		It("panics on a value without a JSON form", func() {
			Expect(func() { cpi.Object{}.With("f", func() {}) }).To(PanicWith(ContainSubstring("f has no JSON form")))
		})
	})

	It("without some keys is another one", func() {
		o := object(`{"a":1,"b":2,"c":3}`)
		Expect(text(o.Without("a", "c", "z"))).To(Equal(`{"b":2}`))
		Expect(text(o)).To(Equal(`{"a":1,"b":2,"c":3}`))
	})

	Describe("decoded into a struct", func() {
		type nested struct {
			On *bool `json:"on"`
		}
		type wanted struct {
			Name   string            `json:"name"`
			Size   int64             `json:"size"`
			Small  int32             `json:"small"`
			Ratio  float64           `json:"ratio"`
			Names  []string          `json:"names"`
			ByName map[string]string `json:"by_name"`
			Nested nested            `json:"nested"`
			Tags   cpi.Object        `json:"tags"`
		}

		It("fills it and ignores what the struct does not know", func() {
			var w wanted
			Expect(object(`{"name":"n","nested":{"on":true,"more":1},"tags":{"b":1,"a":2},"unknown":[{}]}`).Decode(&w)).To(Succeed())
			Expect(w.Name).To(Equal("n"))
			Expect(*w.Nested.On).To(BeTrue())
			Expect(text(w.Tags)).To(Equal(`{"b":1,"a":2}`))
		})

		DescribeTable("names the key, what was expected and what came, but not the value",
			func(sent, message string) {
				var w wanted
				Expect(object(sent).Decode(&w)).To(MatchError(message))
			},
			Entry("string", `{"name":["canary"]}`, "name: expected a string, got a list"),
			Entry("whole number", `{"size":"canary"}`, "size: expected a whole number, got a string"),
			Entry("whole number, got a fraction", `{"size":0.5}`, "size: expected a whole number, got another number"),
			Entry("whole number, got one too large", `{"small":2147483648}`, "small: expected a whole number, got another number"),
			Entry("number", `{"ratio":"canary"}`, "ratio: expected a number, got a string"),
			Entry("list", `{"names":"canary"}`, "names: expected a list, got a string"),
			Entry("member of a list", `{"names":["a",5]}`, "names: expected a string, got a number"),
			Entry("map", `{"by_name":"canary"}`, "by_name: expected an object, got a string"),
			Entry("value of a map", `{"by_name":{"a":true}}`, "by_name: expected a string, got true or false"),
			Entry("object", `{"nested":"canary"}`, "nested: expected an object, got a string"),
			Entry("key of an object", `{"nested":{"on":"canary"}}`, "nested.on: expected true or false, got a string"),
			Entry("object that keeps its order", `{"tags":["canary"]}`, "tags: expected an object, got a list"),
		)
	})
})
