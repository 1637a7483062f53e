package hostile_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// twisted is a configuration with every value of another type than its own.
func twisted(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key := range value {
			value[key] = twisted(value[key])
		}
		return value
	case string:
		return 17
	default:
		return "other"
	}
}

var _ = Describe("A configuration", func() {
	// configured calls with a file of this content.
	configured := func(ctx SpecContext, what string, content []byte, says ...string) {
		GinkgoHelper()
		cpi := director()
		cpi.ConfigPath = filepath.Join(GinkgoT().TempDir(), "cpi.json")
		Expect(os.WriteFile(cpi.ConfigPath, content, 0o600)).To(Succeed())
		refuses(what, cpi.Call(ctx, "has_disk", noDisk), cpiError, says...)
		Expect(aws.Calls()).To(BeEmpty())
	}

	It("full of wrong types is told by the first", func(ctx SpecContext) {
		content, err := config.Render()
		Expect(err).NotTo(HaveOccurred())
		var all map[string]any
		Expect(json.Unmarshal(content, &all)).To(Succeed())
		content, err = json.Marshal(twisted(all))
		Expect(err).NotTo(HaveOccurred())
		configured(ctx, "a configuration full of wrong types", content, "configuration", "expected", "got a")
	}, SpecTimeout(specLimit))

	It("full of nulls is told by what is missing", func(ctx SpecContext) {
		configured(ctx, "a configuration full of nulls", []byte(`{"cloud":{"properties":{"aws":{"region":null,"access_key_id":null,"secret_access_key":null},"agent":null,"registry":null,"debug":null}}}`), "is missing")
	}, SpecTimeout(specLimit))

	It("of 100 000 levels is refused for what it is", func(ctx SpecContext) {
		configured(ctx, "a configuration of 100 000 levels", []byte(nested(100_000)), "depth")
	}, SpecTimeout(specLimit))

	It("of random bytes is refused for what it is", func(ctx SpecContext) {
		configured(ctx, "a configuration of random bytes", random(64<<10), "JSON")
	}, SpecTimeout(specLimit))

	It("of 10 MB is as good as any other", func(ctx SpecContext) {
		config.Agent = map[string]any{"mbus": "nats://10.0.0.6:4222", "large": large}
		succeeds("a configuration of 10 MB", director().Call(ctx, "has_disk", noDisk))
		refuses("a configuration of 10 MB, to create_vm", director().Call(ctx, "create_vm", vmArguments(nil, nil)...), cloudError, "EC2 takes 16384")
	}, SpecTimeout(specLimit))

	It("with a CA file of 10 MB that holds none is told by its variable", func(ctx SpecContext) {
		path := filepath.Join(GinkgoT().TempDir(), "ca.pem")
		Expect(os.WriteFile(path, []byte(large), 0o600)).To(Succeed())
		cpi := director()
		cpi.Env = []string{"BOSH_CA_CERT_FILE=" + path}
		refuses("a CA file of 10 MB without certificates", cpi.Call(ctx, "has_disk", noDisk), cpiError, "BOSH_CA_CERT_FILE", "PEM")
	}, SpecTimeout(specLimit))

	It("without end is not read to its end", func(ctx SpecContext) {
		cpi := director()
		cpi.ConfigPath = "/dev/zero"
		if _, err := os.Stat(cpi.ConfigPath); err != nil {
			Skip(fmt.Sprintf("needs %s", cpi.ConfigPath))
		}
		// A limit of the address space, so that the machine survives a failure.
		refuses("a configuration without end", within(cpi, "ulimit -v 4000000\n"+run).Call(ctx, "has_disk", noDisk), cpiError, "configuration")
	}, SpecTimeout(specLimit))
})
