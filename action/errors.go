package action

import (
	"errors"
	"fmt"
	"strings"

	"bosh-aws-cpi/aws"
	"bosh-aws-cpi/cpi"
)

// answered maps an error of a method to what the Director knows. Typed errors
// pass; what AWS said is mapped by its code.
func answered(method string, err error) error {
	var typed *cpi.Error
	if errors.As(err, &typed) {
		return err
	}
	var failed *aws.Error
	if !errors.As(err, &failed) {
		return &cpi.Error{Type: cpi.CloudError, Message: method + ": " + err.Error(), Cause: err}
	}
	kind := cpi.CloudError
	for _, known := range notFoundTypes {
		if aws.HasCode(err, known.codes...) {
			kind = known.kind
		}
	}
	return &cpi.Error{Type: kind, Message: fmt.Sprintf("%s: %s%s", method, err, remedy(failed)), OKToRetry: kind == cpi.CloudError && aws.IsPassing(err), Cause: err}
}

// notFoundTypes says which of the Director's types names a missing resource.
var notFoundTypes = []struct {
	kind  cpi.ErrorType
	codes []string
}{
	{cpi.VMNotFound, []string{"InvalidInstanceID.NotFound", "InvalidInstanceID.Malformed"}},
	{cpi.DiskNotFound, []string{"InvalidVolume.NotFound", "InvalidVolumeID.Malformed", "InvalidVolumeID.NotFound", "InvalidSnapshot.NotFound", "InvalidSnapshotID.Malformed"}},
	{cpi.NetworkNotFound, []string{"InvalidSubnetID.NotFound", "InvalidSubnetID.Malformed", "InvalidSubnet.NotFound"}},
	{cpi.NoDiskSpace, []string{"VolumeLimitExceeded", "MaxStorageExceeded", "MaxIOPSLimitExceeded", "InsufficientVolumeCapacity"}},
}

// remedies say what an operator can do about an AWS error code.
var remedies = map[string]string{
	"UnauthorizedOperation":                "the IAM policy of the CPI's credentials lacks this action or the resource",
	"AccessDenied":                         "the IAM policy of the CPI's credentials lacks this action or the resource",
	"AuthFailure":                          "check aws.access_key_id, aws.secret_access_key and this machine's clock",
	"InvalidClientTokenId":                 "check aws.access_key_id, and aws.session_token for temporary credentials",
	"SignatureDoesNotMatch":                "check aws.secret_access_key",
	"ExpiredToken":                         "renew the temporary credentials",
	"RequestExpired":                       "renew the temporary credentials, and check this machine's clock",
	"OptInRequired":                        "subscribe to the AMI in AWS Marketplace, or enable the region for the account",
	"InvalidGroup.NotFound":                "check security_groups: names and ids must be of the subnet's VPC",
	"InvalidSubnetID.NotFound":             "check the network's cloud property subnet and aws.region",
	"InvalidSubnet.NotFound":               "check the network's cloud property subnet and aws.region",
	"InvalidKeyPair.NotFound":              "check key_name and aws.default_key_name",
	"InvalidAMIID.NotFound":                "upload the stemcell again: its AMI is gone, or belongs to another region",
	"InvalidAMIID.Unavailable":             "upload the stemcell again: its AMI is deregistered",
	"InvalidAddress.NotFound":              "check the vip network's static IP and aws.region",
	"InvalidRouteTableID.NotFound":         "check advertised_routes",
	"TargetGroupNotFound":                  "check lb_target_groups",
	"LoadBalancerNotFound":                 "check elbs",
	"InvalidPlacementGroup.Unknown":        "check placement_group",
	"InstanceLimitExceeded":                "ask AWS for a higher limit of instances in this region",
	"VcpuLimitExceeded":                    "ask AWS for a higher vCPU limit of this instance family in this region",
	"VolumeLimitExceeded":                  "ask AWS for a higher limit of EBS volumes in this region",
	"MaxSpotInstanceCountExceeded":         "ask AWS for a higher limit of spot instances, or set spot_ondemand_fallback",
	"SpotMaxPriceTooLow":                   "raise spot_bid_price, or set spot_ondemand_fallback",
	"InsufficientInstanceCapacity":         "use another availability zone or instance type, or try later",
	"InsufficientHostCapacity":             "use another availability zone or instance type, or try later",
	"InsufficientReservedInstanceCapacity": "use another availability zone or instance type, or try later",
	"InsufficientFreeAddressesInSubnet":    "use a larger subnet, or delete what holds its addresses",
	"Unsupported":                          "use another availability zone or instance type",
	"OperationNotPermitted":                "the resource is protected (termination or deletion protection): remove the protection first",
	"Client.InternalError":                 "the usual reason is an encrypted volume whose KMS key the CPI's credentials may not use (kms:CreateGrant, kms:Decrypt, kms:GenerateDataKeyWithoutPlaintext, kms:DescribeKey)",
	"DependencyViolation":                  "something still uses it: delete that first",
}

// parameterRemedies are for AWS's one code for a value that it does not like, by
// the parameter that its message names.
var parameterRemedies = map[string]string{
	"iamInstanceProfile": "check iam_instance_profile and aws.default_iam_instance_profile",
	"availabilityZone":   "check availability_zone: it must be the subnet's",
}

func remedy(failed *aws.Error) string {
	if hint := remedies[failed.Code]; hint != "" {
		return "; " + hint
	}
	for parameter, hint := range parameterRemedies {
		if failed.Code == "InvalidParameterValue" && strings.Contains(failed.Message, parameter) {
			return "; " + hint
		}
	}
	return ""
}

// invalid is bad input of an operator that was found before anything changed.
func invalid(method, format string, operands ...any) error {
	return cpi.Errorf(cpi.CloudError, "%s: %s", method, fmt.Sprintf(format, operands...))
}

// named says where in the request the cause of an error stands.
func named(where string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", where, err)
}

// decodeProperties reads cloud properties or another object that an operator
// wrote. argument names it: "cloud_properties".
func decodeProperties(method, argument string, sent cpi.Object, into any) error {
	if err := sent.Decode(into); err != nil {
		return invalid(method, "%s.%s", argument, err)
	}
	return nil
}
