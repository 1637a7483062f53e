package query_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/emulator/query"
)

func TestQuery(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "the query protocol")
}

const document = `<?xml version="1.0" encoding="utf-8"?>
<DescribeInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15"><reservationSet>
  <item><instancesSet><item><instanceId>i-1</instanceId><note>a &lt;b&gt; &amp; "c"</note></item></instancesSet></item>
  <item><instancesSet><item><instanceId>i-2</instanceId></item><item><instanceId>i-3</instanceId></item></instancesSet></item>
</reservationSet></DescribeInstancesResponse>`

var _ = Describe("Node", func() {
	var root *query.Node

	BeforeEach(func() {
		var err error
		root, err = query.Parse([]byte(document))
		Expect(err).NotTo(HaveOccurred())
	})

	It("finds elements in every branch", func() {
		var ids []string
		for _, instance := range root.All("reservationSet/item/instancesSet/item") {
			ids = append(ids, instance.Value("instanceId"))
		}
		Expect(ids).To(Equal([]string{"i-1", "i-2", "i-3"}))
	})

	It("answers nothing for a path that is not there", func() {
		Expect(root.Value("reservationSet/item/nothing/here")).To(BeEmpty())
		Expect(root.All("nothing/here")).To(BeEmpty())
	})

	It("survives being written and read again, namespace and escapes included", func() {
		again, err := query.Parse(root.Encode())
		Expect(err).NotTo(HaveOccurred())
		Expect(again).To(Equal(root))
		Expect(again.Space).To(Equal("http://ec2.amazonaws.com/doc/2016-11-15"))
		Expect(again.Value("reservationSet/item/instancesSet/item/note")).To(Equal(`a <b> & "c"`))
	})

	It("changes, makes and removes elements", func() {
		item := root.Get("reservationSet/item/instancesSet/item")
		item.Set("instanceState/name", "pending")
		item.Set("instanceId", "i-9")
		item.Remove("note")
		Expect(item.Value("instanceState/name")).To(Equal("pending"))
		Expect(item.Value("instanceId")).To(Equal("i-9"))
		Expect(item.Child("note")).To(BeNil())
	})

	DescribeTable("refuses what is not a document",
		func(text string) {
			_, err := query.Parse([]byte(text))
			Expect(err).To(HaveOccurred())
		},
		Entry("nothing", ""),
		Entry("no end", "<a><b></b>"),
		Entry("crossed elements", "<a><b></a></b>"),
	)
})
