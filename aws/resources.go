package aws

import (
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// unnamed are fields that end like ids and are none, or are secret.
var unnamed = []string{"ExternalId", "KmsKeyId", "AccessKeyId"}

// resourcesOf lists the ids, names and ARNs of resources in a call's input, for
// the log, and what a look-up filters by. It reads only fields whose names say
// that they hold one, so that user data and the like never get there.
func resourcesOf(input any) string {
	value := reflect.Indirect(reflect.ValueOf(input))
	if value.Kind() != reflect.Struct {
		return ""
	}
	var found []string
	for i := range value.NumField() {
		name := value.Type().Field(i).Name
		if !value.Type().Field(i).IsExported() {
			continue
		}
		if namesResource(name) {
			found = append(found, stringsIn(value.Field(i))...)
		}
		if filters, are := value.Field(i).Interface().([]types.Filter); are {
			for _, filter := range filters {
				if !strings.HasPrefix(*filter.Name, "tag:") { // an operator's, perhaps
					found = append(found, filter.Values...)
				}
			}
		}
	}
	return strings.Join(found, ",")
}

func namesResource(field string) bool {
	if slices.Contains(unnamed, field) {
		return false
	}
	for _, ending := range []string{"Id", "Ids", "Arn", "Arns", "AllocationId", "Resources", "InstanceType", "LoadBalancerName"} {
		if strings.HasSuffix(field, ending) {
			return true
		}
	}
	return false
}

func stringsIn(value reflect.Value) []string {
	value = reflect.Indirect(value)
	switch {
	case value.Kind() == reflect.String && value.Len() > 0:
		return []string{value.String()}
	case value.Kind() == reflect.Slice:
		var all []string
		for i := range value.Len() {
			all = append(all, stringsIn(value.Index(i))...)
		}
		return all
	default:
		return nil
	}
}
