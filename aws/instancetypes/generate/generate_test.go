package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// item is one element of a DescribeInstanceTypes answer; more is XML added to it.
func item(name string, vcpus int, more string) string {
	return fmt.Sprintf(`<item><instanceType>%s</instanceType><currentGeneration>true</currentGeneration>
		<vCpuInfo><defaultVCpus>%d</defaultVCpus></vCpuInfo><memoryInfo><sizeInMiB>4096</sizeInMiB></memoryInfo>
		<processorInfo><supportedArchitectures><item>x86_64</item><item>i386</item></supportedArchitectures></processorInfo>
		<supportedBootModes><item>uefi</item><item>legacy-bios</item></supportedBootModes>
		<ebsInfo><nvmeSupport>required</nvmeSupport></ebsInfo>%s</item>`, name, vcpus, more)
}

func answer(nextToken string, items ...string) string {
	return fmt.Sprintf(`<DescribeInstanceTypesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">
		<instanceTypeSet>%s</instanceTypeSet><nextToken>%s</nextToken></DescribeInstanceTypesResponse>`,
		strings.Join(items, ""), nextToken)
}

var _ = Describe("generate", func() {
	var (
		endpoint string
		answers  map[string]string // by region, a slash and the page's token
		asked    []string
		out      string
	)

	BeforeEach(func() {
		for name, value := range map[string]string{
			"AWS_ACCESS_KEY_ID":           "x",
			"AWS_SECRET_ACCESS_KEY":       "x",
			"AWS_CONFIG_FILE":             os.DevNull,
			"AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
		} {
			GinkgoT().Setenv(name, value)
		}
		answers, asked = map[string]string{}, nil
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			// ".../20260101/us-east-1/ec2/aws4_request, SignedHeaders=..."
			region := strings.Split(r.Header.Get("Authorization"), "/")[2]
			page := region + "/" + r.FormValue("NextToken")
			asked = append(asked, page)
			if _, ok := answers[page]; !ok {
				http.Error(w, "no such page", http.StatusBadRequest)
				return
			}
			_, _ = io.WriteString(w, answers[page])
		}))
		DeferCleanup(server.Close)
		endpoint = server.URL
		out = filepath.Join(GinkgoT().TempDir(), "table.go")
	})

	generate := func(regions string) error {
		return run(context.Background(), []string{"-endpoint", endpoint, "-regions", regions, "-out", out}, io.Discard)
	}
	entries := func() []string {
		source, err := os.ReadFile(out)
		Expect(err).NotTo(HaveOccurred())
		var lines []string
		for line := range strings.Lines(string(source)) {
			if entry, ok := strings.CutPrefix(line, "\t{"); ok {
				lines = append(lines, strings.TrimSuffix(entry, "},\n"))
			}
		}
		return lines
	}

	It("merges the pages of every region into one sorted table", func() {
		answers["r-1/"] = answer("p2", item("m5.large", 2, ""))
		answers["r-1/p2"] = answer("", item("c5.large", 2, ""))
		answers["r-2/"] = answer("", item("m5.large", 2, ""), item("a1.large", 1, ""))

		Expect(generate("r-1, r-2")).To(Succeed())

		Expect(asked).To(Equal([]string{"r-1/", "r-1/p2", "r-2/"}))
		const rest = `MemoryMiB: 4096, Architectures: ArchI386 | ArchX8664, BootModes: BootLegacyBIOS | BootUEFI, ` +
			`EBSNVMe: NVMeRequired, CurrentGeneration: true`
		Expect(entries()).To(Equal([]string{
			`Name: "a1.large", VCPUs: 1, ` + rest,
			`Name: "c5.large", VCPUs: 2, ` + rest,
			`Name: "m5.large", VCPUs: 2, ` + rest,
		}))
	})

	It("starts with the line that marks generated code", func() {
		answers["r-1/"] = answer("", item("m5.large", 2, ""))
		Expect(generate("r-1")).To(Succeed())
		source, err := os.ReadFile(out)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(source)).To(MatchRegexp(`\A// Code generated .* DO NOT EDIT\.\n\npackage instancetypes\n`))
	})

	It("writes local disks and bare metal", func() {
		answers["r-1/"] = answer("", item("m5d.metal", 96, `<bareMetal>true</bareMetal><instanceStorageInfo>
			<disks><item><count>4</count><sizeInGB>900</sizeInGB></item></disks><nvmeSupport>supported</nvmeSupport></instanceStorageInfo>`))
		Expect(generate("r-1")).To(Succeed())
		Expect(entries()).To(ConsistOf(HaveSuffix(
			"EBSNVMe: NVMeRequired, InstanceStoreDisks: 4, InstanceStoreDiskGB: 900, " +
				"InstanceStoreNVMe: NVMeSupported, BareMetal: true, CurrentGeneration: true")))
	})

	DescribeTable("writes nothing and says why",
		func(first, second string, message string) {
			answers["r-1/"], answers["r-2/"] = first, second
			Expect(generate("r-1,r-2")).To(MatchError(ContainSubstring(message)))
			Expect(out).NotTo(BeAnExistingFile())
		},
		Entry("when regions differ about a type",
			answer("", item("m5.large", 2, "")), answer("", item("m5.large", 4, "")),
			`region "r-2": m5.large differs from a region asked before`),
		Entry("when the API has a new word",
			answer("", item("m5.large", 2, `<instanceStorageInfo>
				<disks><item><count>1</count></item></disks><nvmeSupport>perhaps</nvmeSupport></instanceStorageInfo>`)), "",
			`region "r-1": m5.large: unknown word "perhaps"`),
		Entry("when a type has disks of several kinds",
			answer("", item("m5.large", 2, `<instanceStorageInfo>
				<disks><item/><item/></disks><nvmeSupport>required</nvmeSupport></instanceStorageInfo>`)), "",
			"has 2 kinds of local disk"),
		Entry("when a type lacks what the CPI needs",
			answer("", "<item><instanceType>m5.large</instanceType></item>"), "", "m5.large: lacks"),
		Entry("when there are no types", answer(""), answer(""), "no instance types at all"),
	)

	It("says so when -out is missing", func() {
		Expect(run(context.Background(), nil, io.Discard)).To(MatchError("-out is required"))
	})
})
