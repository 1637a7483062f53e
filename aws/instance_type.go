package aws

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"bosh-aws-cpi/aws/instancetypes"
)

// InstanceType tells what a type has: from the table that is compiled in, no
// call; for a type that the table lacks, from the API (1
// DescribeInstanceTypes) unless ask is false. A type of which neither tells is
// taken to be as the newest generation is. An error says that AWS does not know
// the type, or could not be asked for another reason than a missing permission.
func (c *Client) InstanceType(ctx context.Context, name string, ask bool) (instancetypes.InstanceType, error) {
	if known, found := instancetypes.Lookup(name); found {
		return known, nil
	}
	if !ask {
		return instancetypes.AssumeNewest(name), nil
	}
	out, err := c.ec2.DescribeInstanceTypes(ctx, &ec2.DescribeInstanceTypesInput{InstanceTypes: []types.InstanceType{types.InstanceType(name)}})
	if IsPermission(err) {
		c.infof("no permission to ask what %s has: it is taken to be Nitro with NVMe", name)
		return instancetypes.AssumeNewest(name), nil
	}
	if err != nil {
		return instancetypes.InstanceType{}, failure(err, "instance type "+name)
	}
	for _, described := range out.InstanceTypes {
		return instanceTypeOf(described), nil
	}
	return instancetypes.InstanceType{}, &Error{Action: "DescribeInstanceTypes", Resource: "instance type " + name, Code: "InvalidInstanceType",
		Message: "AWS shows no such type in region " + c.region}
}

func instanceTypeOf(described types.InstanceTypeInfo) instancetypes.InstanceType {
	known := instancetypes.InstanceType{Name: string(described.InstanceType)}
	if described.EbsInfo != nil {
		known.EBSNVMe = instancetypes.ParseNVMeSupport(string(described.EbsInfo.NvmeSupport))
	}
	if store := described.InstanceStorageInfo; store != nil {
		known.InstanceStoreNVMe = instancetypes.ParseNVMeSupport(string(store.NvmeSupport))
		for _, disk := range store.Disks {
			known.InstanceStoreDisks += sdk.ToInt32(disk.Count)
			known.InstanceStoreDiskGB = int32(sdk.ToInt64(disk.SizeInGB))
		}
	}
	return known
}
