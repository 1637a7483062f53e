package iam

// Need is an action that no call of the CPI's own asks for: AWS asks for it when a
// parameter of some call says so.
type Need struct {
	Action string
	Calls  []string // with the parameter, as recorded
	Reason string
}

var (
	keyed = []string{
		"ec2 RunInstances BlockDeviceMapping.Ebs.KmsKeyId", "ec2 CreateVolume KmsKeyId", "ec2 CopyImage KmsKeyId", "ebs StartSnapshot KmsKeyArn",
	}
	tagged = []string{
		"ec2 RunInstances TagSpecification.ResourceType", "ec2 CreateVolume TagSpecification.ResourceType",
		"ec2 CreateSnapshot TagSpecification.ResourceType", "ec2 CreateNetworkInterface TagSpecification.ResourceType",
		"ec2 CreateSubnet TagSpecification.ResourceType", "ec2 CopyImage TagSpecification.ResourceType", "ec2 RegisterImage TagSpecification.ResourceType", "ebs StartSnapshot Tags",
	}
)

// Needs are all of them. The KMS actions are those that AWS documents for EBS
// encryption and for the EBS direct APIs with a customer's key.
var Needs = []Need{
	{"iam:PassRole", []string{"ec2 RunInstances IamInstanceProfile.Name", "ec2 RunInstances IamInstanceProfile.Arn"}, "the instance gets the role of an instance profile"},
	{"iam:CreateServiceLinkedRole", []string{"ec2 RunInstances InstanceMarketOptions.MarketType"}, "the account's first spot launch makes EC2's role for spot"},
	{"ec2:CreateTags", tagged, "what is made is tagged in the same call"},
	{"kms:CreateGrant", keyed, "EC2 and EBS use a customer's key on the CPI's behalf"},
	{"kms:Decrypt", keyed, "the data key of a volume or snapshot is decrypted"},
	{"kms:DescribeKey", keyed, "the key is looked up"},
	{"kms:GenerateDataKey", keyed[3:], "blocks of an encrypted snapshot are written"},
	{"kms:GenerateDataKeyWithoutPlaintext", keyed, "a new volume or snapshot gets a data key"},
	{"kms:ReEncryptFrom", keyed[:3], "what is encrypted with one key is copied to another"},
	{"kms:ReEncryptTo", keyed[:3], "what is encrypted with one key is copied to another"},
}
