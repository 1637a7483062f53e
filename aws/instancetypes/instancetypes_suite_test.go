package instancetypes_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestInstanceTypes(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Instance types")
}
