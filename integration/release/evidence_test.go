package release_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// evidence is what shows that a property reached the executable.
type evidence struct{ property, value, rendered, understood string }

// gathered is the evidence of all specs, for the table and to find properties for
// which there is none.
var gathered []evidence

// shows expects to find a property's value, as the manifest has it, in what was
// observed of the executable.
func (i *installed) shows(property, where, observed string) {
	GinkgoHelper()
	Expect(observed).To(ContainSubstring(text(i.properties[property])), "%s does not show in %s", property, where)
	i.proves(property, where+" "+shorten(observed, text(i.properties[property])))
}

// proves notes what an effect that was checked otherwise proves.
func (i *installed) proves(property, understood string) {
	GinkgoHelper()
	Expect(theJob.Properties).To(HaveKey(property), "the job's spec has no such property")
	Expect(i.properties).To(HaveKey(property), "the manifest of this spec says nothing about it")
	value := text(i.properties[property])
	Expect(text(theJob.Properties[property].Default)).NotTo(Equal(value), "%s has its default value, which proves nothing", property)
	gathered = append(gathered, evidence{property, value, i.rendered(property), understood})
}

// rendered tells where a property's value is in the rendered files.
func (i *installed) rendered(property string) string {
	var config any
	Expect(json.Unmarshal([]byte(i.files["config/cpi.json"]), &config)).To(Succeed())
	value := text(i.properties[property])
	paths := append(find(config, value), find(config, url.PathEscape(value))...)
	if len(paths) > 0 {
		// The same value may stand at several places: the property's own is meant.
		slices.SortStableFunc(paths, func(a, b string) int { return likeness(b, property) - likeness(a, property) })
		return "cpi.json " + strings.TrimPrefix(paths[0], ".cloud.properties.")
	}
	for _, file := range []string{"bin/cpi", "config/cacert.pem"} {
		if strings.Contains(i.files[file], value) {
			return file
		}
	}
	return "?"
}

// find returns the paths of a value in JSON.
func find(in any, value string) []string {
	contained, isText := in.(string)
	if text(in) == value || isText && len(value) > 3 && strings.Contains(contained, value) {
		return []string{""}
	}
	object, _ := in.(map[string]any)
	var paths []string
	for _, name := range slices.Sorted(maps.Keys(object)) {
		for _, below := range find(object[name], value) {
			paths = append(paths, "."+name+below)
		}
	}
	return paths
}

// likeness counts the parts of a property's name in a path.
func likeness(path, property string) int {
	count := 0
	for _, part := range strings.Split(property, ".") {
		if strings.Contains(path+".", "."+part+".") {
			count++
		}
	}
	return count
}

// text is a value as it shows in requests.
func text(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case []string:
		return strings.Join(value, ",")
	case []any:
		var all []string
		for _, each := range value {
			all = append(all, text(each))
		}
		return strings.Join(all, ",")
	case map[string]any:
		content, err := json.Marshal(value)
		Expect(err).NotTo(HaveOccurred())
		return string(content)
	}
	return fmt.Sprint(value)
}

// shorten is the part of an observation around a value that fits into the table.
func shorten(observed, value string) string {
	const margin = 24
	at := max(strings.Index(observed, value), 0)
	from, to := max(at-margin, 0), min(at+len(value)+margin, len(observed))
	return strings.Join(strings.Fields(observed[from:min(to, from+100)]), " ")
}

func printEvidence(to io.Writer) {
	slices.SortFunc(gathered, func(a, b evidence) int { return strings.Compare(a.property, b.property) })
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nproperty\tvalue\trendered as\tunderstood")
	for _, e := range gathered {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", e.property, shorten(e.value, ""), e.rendered, e.understood)
	}
	_ = table.Flush()
}

var _ = ReportAfterSuite("evidence", func(Report) { printEvidence(os.Stdout) })
