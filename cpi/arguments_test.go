package cpi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/cpi"
)

var _ = Describe("The arguments of a method", func() {
	type makeArguments struct {
		Name       string     `cpi:"name"`
		Size       int64      `cpi:"size"`
		Properties cpi.Object `cpi:"properties"`
		Disks      []string   `cpi:"disks,optional"`
		Note       string     `cpi:"note,optional"`
		Env        cpi.Object `cpi:"env,optional,since=3"`
	}
	var got *makeArguments
	makeThing := cpi.NewMethod("make", func(_ context.Context, _ *cpi.Call, arguments makeArguments) (any, error) {
		got = &arguments
		return nil, nil
	})
	BeforeEach(func() { got = nil })

	call := func(version int, arguments string) exchange {
		GinkgoHelper()
		return serve(fmt.Sprintf(`{"method":"make","arguments":%s,"api_version":%d}`, arguments, version), makeThing)
	}
	accepted := func(version int, arguments string) makeArguments {
		GinkgoHelper()
		answer := call(version, arguments)
		Expect(answer.err).To(BeNil(), answer.stdout)
		return *got
	}

	It("are taken by their positions", func() {
		arguments := accepted(3, `["n",5,{"b":1,"a":2},["d1","d2"],"hello",{"tags":{}}]`)
		Expect(arguments.Name).To(Equal("n"))
		Expect(arguments.Size).To(Equal(int64(5)))
		Expect(json.Marshal(arguments.Properties)).To(BeEquivalentTo(`{"b":1,"a":2}`))
		Expect(arguments.Disks).To(Equal([]string{"d1", "d2"}))
		Expect(arguments.Note).To(Equal("hello"))
		Expect(json.Marshal(arguments.Env)).To(MatchJSON(`{"tags":{}}`))
	})

	DescribeTable("that are optional may be",
		func(arguments string) {
			received := accepted(3, arguments)
			Expect(received.Disks).To(BeEmpty())
			Expect(received.Note).To(BeEmpty())
			Expect(received.Env.Len()).To(BeZero())
		},
		Entry("absent", `["n",5,{}]`),
		Entry("null", `["n",5,{},null,null,null]`),
		Entry("empty", `["n",5,{},[],"",{}]`),
		Entry("absent but for the first ones", `["n",5,{},null]`),
	)

	Context("when one came with a newer version of the API", func() {
		It("is taken from callers of that version", func() {
			Expect(accepted(3, `["n",5,{},[],"",{"a":1}]`).Env.Len()).To(Equal(1))
		})

		DescribeTable("is one too many from older ones",
			func(version int) {
				answer := call(version, `["n",5,{},[],"",{}]`)
				Expect(got).To(BeNil())
				Expect(answer.err.Type).To(Equal(cpi.InvalidCall))
				Expect(answer.err.Message).To(Equal("make takes 3 to 5 arguments (name, size, properties, disks, note), got 6"))
			},
			Entry("version 1", 1), Entry("version 2", 2),
		)
	})

	DescribeTable("that are wrong are an InvalidCall which names method, position, argument, what was expected and what came, but not the value",
		func(arguments, message string) {
			answer := call(3, arguments)
			Expect(got).To(BeNil(), "the method is not called")
			Expect(answer.err.Type).To(Equal(cpi.InvalidCall))
			Expect(answer.err.Message).To(Equal(message))
			Expect(*answer.err.OKToRetry).To(BeFalse())
			Expect(answer.stdout + answer.stderr).NotTo(ContainSubstring("canary"))
		},
		Entry("none", `[]`, "make takes 3 to 6 arguments (name, size, properties, disks, note, env), got 0"),
		Entry("too few", `["canary",5]`, "make takes 3 to 6 arguments (name, size, properties, disks, note, env), got 2"),
		Entry("too many", `["n",5,{},[],"",{},"canary"]`, "make takes 3 to 6 arguments (name, size, properties, disks, note, env), got 7"),
		Entry("null for a string", `[null,5,{}]`, "make: argument 1 (name): expected a string, got null"),
		Entry("an empty string", `["",5,{}]`, "make: argument 1 (name): expected a string that is not empty"),
		Entry("a string beyond all measure", `["`+strings.Repeat("canary", 1000)+`",5,{}]`, "make: argument 1 (name): expected at most 4096 bytes, got 6000"),
		Entry("a number for a string", `[7,5,{}]`, "make: argument 1 (name): expected a string, got a number"),
		Entry("an object for a string", `[{"canary":1},5,{}]`, "make: argument 1 (name): expected a string, got an object"),
		Entry("null for a number", `["n",null,{}]`, "make: argument 2 (size): expected a whole number, got null"),
		Entry("a string for a number", `["n","canary",{}]`, "make: argument 2 (size): expected a whole number, got a string"),
		Entry("a fraction", `["n",1.5,{}]`, "make: argument 2 (size): expected a whole number, got another number"),
		Entry("a number too large for any size", `["n",9223372036854775808,{}]`, "make: argument 2 (size): expected a whole number, got another number"),
		Entry("zero", `["n",0,{}]`, "make: argument 2 (size): expected a whole number above 0, got 0"),
		Entry("a negative number", `["n",-1,{}]`, "make: argument 2 (size): expected a whole number above 0, got -1"),
		Entry("null for an object", `["n",5,null]`, "make: argument 3 (properties): expected an object, got null"),
		Entry("a list for an object", `["n",5,["canary"]]`, "make: argument 3 (properties): expected an object, got a list"),
		Entry("a string for an object", `["n",5,"canary"]`, "make: argument 3 (properties): expected an object, got a string"),
		Entry("true for an object", `["n",5,true]`, "make: argument 3 (properties): expected an object, got true or false"),
		Entry("a string for a list", `["n",5,{},"canary"]`, "make: argument 4 (disks): expected a list, got a string"),
		Entry("an object for a list", `["n",5,{},{"canary":1}]`, "make: argument 4 (disks): expected a list, got an object"),
		Entry("a number in a list of strings", `["n",5,{},["canary",4]]`, "make: argument 4 (disks): expected a string, got a number"),
		Entry("a list for an optional string", `["n",5,{},[],["canary"]]`, "make: argument 5 (note): expected a string, got a list"),
	)

	It("are counted exactly when none is optional", func() {
		type exact struct {
			VM   string `cpi:"vm_cid"`
			Disk string `cpi:"disk_cid"`
		}
		attach := cpi.NewMethod("attach", func(context.Context, *cpi.Call, exact) (any, error) { return nil, nil })
		answer := serve(`{"method":"attach","arguments":["v"]}`, attach)
		Expect(answer.err.Message).To(Equal("attach takes 2 arguments (vm_cid, disk_cid), got 1"))
	})

	DescribeTable("are declared wrong by a programmer who learns it at once",
		func(declare func(), fault string) {
			Expect(declare).To(PanicWith(ContainSubstring(fault)))
		},
		Entry("no tag", func() {
			type untagged struct{ VM string }
			cpi.NewMethod("m", func(context.Context, *cpi.Call, untagged) (any, error) { return nil, nil })
		}, "VM has no cpi tag"),
		Entry("a word that is none", func() {
			type misspelt struct {
				VM string `cpi:"vm,optinal"`
			}
			cpi.NewMethod("m", func(context.Context, *cpi.Call, misspelt) (any, error) { return nil, nil })
		}, `VM: unknown tag "optinal"`),
	)
})
