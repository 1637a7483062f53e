package proxy

import (
	"regexp"
	"strings"

	"bosh-aws-cpi/integration/emulator/query"
)

// idShape is how EC2 looks at a parameter that holds an id, before anything
// else.
type idShape struct {
	parameter *regexp.Regexp
	prefix    string
	malformed string // code for an id that starts right
	foreign   string // code for one that does not
}

var (
	idShapes = []idShape{
		{regexp.MustCompile(`^InstanceId(\.\d+)?$`), "i-", "InvalidInstanceID.Malformed", "InvalidInstanceID.Malformed"},
		{regexp.MustCompile(`^VolumeId(\.\d+)?$`), "vol-", "InvalidVolumeID.Malformed", "InvalidParameterValue"},
		{regexp.MustCompile(`^SnapshotId(\.\d+)?$`), "snap-", "InvalidSnapshotID.Malformed", "InvalidParameterValue"},
		{regexp.MustCompile(`^(Source)?ImageId(\.\d+)?$`), "ami-", "InvalidAMIID.Malformed", "InvalidAMIID.Malformed"},
		{regexp.MustCompile(`(^|\.)(SecurityGroupId|GroupId)\.\d+$`), "sg-", "InvalidGroupId.Malformed", "InvalidGroupId.Malformed"},
	}
	idSuffix = regexp.MustCompile(`^([0-9a-f]{8}|[0-9a-f]{17})$`)
)

// checkIDs: moto says that an id of a wrong shape is not found. AWS: says that
// it is malformed, and of a volume or snapshot with another prefix that the
// value is invalid (seen in reports of CreateSnapshot; which of the two it says
// for the rest is from its list of error codes).
func checkIDs(x *exchange) *answer {
	if x.Service != query.EC2 {
		return nil
	}
	for name, values := range x.Params {
		for _, shape := range idShapes {
			if shape.parameter.MatchString(name) && values[0] != "" {
				if refused := shape.check(x, values[0]); refused != nil {
					return refused
				}
			}
		}
	}
	return nil
}

func (s idShape) check(x *exchange, id string) *answer {
	suffix, right := strings.CutPrefix(id, s.prefix)
	switch {
	case right && idSuffix.MatchString(suffix):
		return nil
	case right:
		return refuse(x, s.malformed, `Invalid id: "`+id+`"`)
	case s.foreign == s.malformed:
		return refuse(x, s.foreign, `Invalid id: "`+id+`" (expecting "`+s.prefix+`...")`)
	default:
		return refuse(x, s.foreign, "Value ("+id+") for parameter "+parameterName[s.prefix]+" is invalid. Expected: '"+s.prefix+"...'.")
	}
}

var parameterName = map[string]string{"vol-": "volumeId", "snap-": "snapshotId"}
