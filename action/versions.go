package action

import "bosh-aws-cpi/cpi"

// versions are the released versions of the CPI API, oldest first. What a
// method returns is version 3's; each older version says what it has instead.
// Arguments that came later are marked in the methods' arguments structs. What
// a version changes beyond arguments and results is the registry's use; see
// session.usesRegistry.
var versions = []cpi.Version{
	{Number: 1, Results: map[string]func(any) any{
		"create_vm":   func(newer any) any { return newer.(createdVM)[0] },
		"attach_disk": func(any) any { return nil },
	}},
	{Number: 2},
	{Number: newestVersion},
}
