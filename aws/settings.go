package aws

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// The values of Settings.CredentialsSource.
const (
	// StaticCredentials are access_key_id and secret_access_key.
	StaticCredentials = "static"
	// EnvOrProfile is the SDK's full chain: environment, web identity,
	// container, instance profile.
	EnvOrProfile = "env_or_profile"
)

// DefaultMaxRetries is how often a failing call is made again when max_retries
// is not set, as in today's CPI.
const DefaultMaxRetries = 8

// Settings are the keys of the configuration's `aws` section that decide how
// AWS is reached.
type Settings struct {
	CredentialsSource string `json:"credentials_source"`
	AccessKeyID       string `json:"access_key_id"`
	SecretAccessKey   string `json:"secret_access_key"`
	SessionToken      string `json:"session_token"`
	RoleARN           string `json:"role_arn"`
	ExternalID        string `json:"external_id"`
	Region            string `json:"region"`
	EC2Endpoint       string `json:"ec2_endpoint"`
	ELBEndpoint       string `json:"elb_endpoint"`
	STSEndpoint       string `json:"sts_endpoint"`
	EBSEndpoint       string `json:"ebs_endpoint"`
	DualStack         bool   `json:"dualstack"`
	FIPS              bool   `json:"fips"`
	MaxRetries        *int   `json:"max_retries"`
}

// Validate checks the settings and fills in what follows from others: the
// schemes of endpoints, the region of an endpoint, the credentials source. Its
// errors name the key.
func (s *Settings) Validate() error {
	for _, endpoint := range []struct {
		key   string
		value *string
	}{
		{"ec2_endpoint", &s.EC2Endpoint},
		{"elb_endpoint", &s.ELBEndpoint},
		{"sts_endpoint", &s.STSEndpoint},
		{"ebs_endpoint", &s.EBSEndpoint},
	} {
		if err := normalizeEndpoint(endpoint.key, endpoint.value); err != nil {
			return err
		}
	}
	if s.FIPS && (s.EC2Endpoint+s.ELBEndpoint+s.EBSEndpoint+s.STSEndpoint) != "" {
		return fmt.Errorf("aws.fips is set beside an endpoint (aws.ec2_endpoint, aws.elb_endpoint, aws.sts_endpoint or aws.ebs_endpoint): name the FIPS endpoints there and remove aws.fips, or remove the endpoints")
	}
	if s.MaxRetries != nil && *s.MaxRetries < 0 {
		return fmt.Errorf("aws.max_retries: expected 0 or more, got %d", *s.MaxRetries)
	}
	if err := s.validateCredentials(); err != nil {
		return err
	}
	return s.findRegion()
}

func (s *Settings) validateCredentials() error {
	switch s.CredentialsSource {
	case "":
		s.CredentialsSource = StaticCredentials
		return s.validateCredentials()
	case StaticCredentials:
		if s.AccessKeyID == "" {
			return fmt.Errorf("aws.access_key_id is missing: aws.credentials_source %q needs aws.access_key_id and aws.secret_access_key", StaticCredentials)
		}
		if s.SecretAccessKey == "" {
			return fmt.Errorf("aws.secret_access_key is missing: aws.credentials_source %q needs aws.access_key_id and aws.secret_access_key", StaticCredentials)
		}
	case EnvOrProfile:
		for key, value := range map[string]string{"access_key_id": s.AccessKeyID, "secret_access_key": s.SecretAccessKey} {
			if value != "" {
				return fmt.Errorf("aws.%s is set, and aws.credentials_source %q must not be given keys: remove them, or use %q", key, EnvOrProfile, StaticCredentials)
			}
		}
	default:
		return fmt.Errorf("aws.credentials_source: expected %q or %q, got %q", StaticCredentials, EnvOrProfile, s.CredentialsSource)
	}
	if s.ExternalID != "" && s.RoleARN == "" {
		return fmt.Errorf("aws.external_id is set without aws.role_arn, to which it belongs")
	}
	return nil
}

// normalizeEndpoint gives an endpoint without a scheme the scheme https: both
// forms are in use.
func normalizeEndpoint(key string, endpoint *string) error {
	if *endpoint == "" {
		return nil
	}
	if !strings.Contains(*endpoint, "://") {
		*endpoint = "https://" + *endpoint
	}
	parsed, err := url.Parse(*endpoint)
	if err != nil || parsed.Host == "" || (parsed.Scheme != "https" && parsed.Scheme != "http") || parsed.User != nil {
		return fmt.Errorf("aws.%s: expected a host name or an http(s) URL without credentials", key)
	}
	return nil
}

// regionLabel matches a region within a host name (us-east-1, us-gov-west-1).
var regionLabel = regexp.MustCompile(`^[a-z]{2,4}(-[a-z]+)+-[0-9]+$`)

// findRegion derives a missing region from the host name of an endpoint, such
// as ec2.eu-central-1.amazonaws.com.
func (s *Settings) findRegion() error {
	if s.Region != "" {
		return nil
	}
	for _, endpoint := range []string{s.EC2Endpoint, s.ELBEndpoint} {
		parsed, err := url.Parse(endpoint)
		if err != nil {
			continue
		}
		for _, label := range strings.Split(parsed.Hostname(), ".") {
			if regionLabel.MatchString(label) {
				s.Region = label
				return nil
			}
		}
	}
	return fmt.Errorf("aws.region is missing, and no endpoint's host name tells it")
}

func (s *Settings) maxRetries() int {
	if s.MaxRetries == nil {
		return DefaultMaxRetries
	}
	return *s.MaxRetries
}
