package proxy

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// createTags: moto tags instances and interfaces that do not exist, with keys
// and values of any length. AWS: refuses.
func createTags(p *Proxy, x *exchange) *answer {
	for _, id := range x.List("ResourceId") {
		var err error
		switch kind, _, _ := strings.Cut(id, "-"); kind {
		case "i":
			_, err = p.instance(x, id)
		case "eni":
			_, err = p.networkInterface(x, id)
		}
		if err != nil {
			return relay(x, err)
		}
	}
	for i := 1; x.Params.Has("Tag." + strconv.Itoa(i) + ".Key"); i++ {
		tag := "Tag." + strconv.Itoa(i)
		switch key := x.Param(tag + ".Key"); {
		case utf8.RuneCountInString(key) > 128:
			return refuse(x, "InvalidParameterValue", "Tag key exceeds the maximum length of 128 characters")
		case utf8.RuneCountInString(x.Param(tag+".Value")) > 256:
			return refuse(x, "InvalidParameterValue", "Tag value exceeds the maximum length of 256 characters")
		case strings.HasPrefix(strings.ToLower(key), "aws:"):
			return refuse(x, "InvalidParameterValue", "Tag keys starting with 'aws:' are reserved for internal use")
		}
	}
	if !x.Params.Has("Tag.1.Key") {
		return refuse(x, "MissingParameter", "The request must contain the parameter tagSet")
	}
	return pass(p, x)
}
