package release_test

import (
	"maps"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// Each spec sets some properties to values that nothing else could explain, runs
// bin/cpi, and finds the values in what the executable did: AWS calls and their
// signatures, connections, user data, the registry, the log.
var _ = Describe("a property of the job", Ordered, func() {
	describeAccess()
	describeConnections()
	describeDefaults()
	describeBehaviour()
	describeAgent()
	describeRegistry()
	describeBlobstores()

	It("has an example, a description, and reached the executable in one of these specs", func() {
		proved := map[string]bool{}
		for _, each := range gathered {
			proved[each.property] = true
		}
		for name, property := range theJob.Properties {
			Expect(property.Description).NotTo(BeEmpty(), name)
			Expect(property.Example).NotTo(BeNil(), "%s has no example", name)
		}
		Expect(slices.Sorted(maps.Keys(proved))).To(Equal(slices.Sorted(maps.Keys(theJob.Properties))))
	})
})
