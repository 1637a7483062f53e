package aws

import (
	"context"
	"fmt"
	"strings"
	"sync"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/ebs"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	boshlog "github.com/cloudfoundry/bosh-utils/logger"
)

// Options are what a Client needs beside its settings.
type Options struct {
	// Version of the CPI, Director and Request name the caller in CloudTrail.
	Version, Director, Request string
	HTTP                       *awshttp.BuildableClient
	Timing                     Timing
	Logger                     boshlog.Logger
	// Tag goes first in every line of the log.
	Tag string
}

// Client makes the AWS calls of one CPI call.
type Client struct {
	ec2   *ec2.Client
	elb   func() *elb.Client
	elbv2 func() *elbv2.Client
	ebs   func() *ebs.Client

	region     string
	userAgent  string
	maxRetries int
	timing     Timing
	figures    figures
	logger     boshlog.Logger
	tag        string
}

// New makes a client from validated settings. It reads credentials where the
// settings say, but asks nobody for them: that happens at the first call.
func New(ctx context.Context, settings Settings, options Options) (*Client, error) {
	c := &Client{
		region:     settings.Region,
		userAgent:  userAgent(options),
		maxRetries: settings.maxRetries(),
		timing:     options.Timing,
		logger:     options.Logger,
		tag:        options.Tag,
	}
	base, err := baseConfig(ctx, settings, options.HTTP)
	if err != nil {
		return nil, err
	}
	base.HTTPClient = answerCheck{options.HTTP}
	if settings.RoleARN != "" {
		base.Credentials = c.assumeRole(base, settings)
	}
	base.APIOptions = append(base.APIOptions, c.instrument)
	c.ec2 = ec2.NewFromConfig(base, func(o *ec2.Options) {
		o.BaseEndpoint, o.EndpointOptions.UseDualStackEndpoint, o.EndpointOptions.UseFIPSEndpoint = settings.endpoint(settings.EC2Endpoint)
	})
	c.elb = sync.OnceValue(func() *elb.Client {
		return elb.NewFromConfig(base, func(o *elb.Options) {
			o.BaseEndpoint, o.EndpointOptions.UseDualStackEndpoint, o.EndpointOptions.UseFIPSEndpoint = settings.endpoint(settings.ELBEndpoint)
		})
	})
	c.elbv2 = sync.OnceValue(func() *elbv2.Client {
		return elbv2.NewFromConfig(base, func(o *elbv2.Options) {
			o.BaseEndpoint, o.EndpointOptions.UseDualStackEndpoint, o.EndpointOptions.UseFIPSEndpoint = settings.endpoint(settings.ELBEndpoint)
		})
	})
	c.ebs = sync.OnceValue(func() *ebs.Client {
		return ebs.NewFromConfig(base, func(o *ebs.Options) {
			o.BaseEndpoint, o.EndpointOptions.UseDualStackEndpoint, o.EndpointOptions.UseFIPSEndpoint = settings.endpoint(settings.EBSEndpoint)
		})
	})
	return c, nil
}

// baseConfig returns region and credentials. Static credentials read neither
// environment nor files: what the configuration says is all there is.
func baseConfig(ctx context.Context, settings Settings, client *awshttp.BuildableClient) (sdk.Config, error) {
	if settings.CredentialsSource == StaticCredentials {
		return sdk.Config{
			Region:      settings.Region,
			Credentials: credentials.NewStaticCredentialsProvider(settings.AccessKeyID, settings.SecretAccessKey, settings.SessionToken),
		}, nil
	}
	base, err := config.LoadDefaultConfig(ctx, config.WithRegion(settings.Region), config.WithHTTPClient(client))
	if err != nil {
		return sdk.Config{}, fmt.Errorf("aws.credentials_source %q: the environment's AWS configuration cannot be read: %w", EnvOrProfile, err)
	}
	base.Credentials = credentialSource{base.Credentials,
		`no credentials in the environment, the shared configuration files or the instance metadata; check aws.credentials_source`}
	// Endpoints come from the CPI's configuration alone.
	base.BaseEndpoint = nil
	return base, nil
}

// assumeRole returns the credentials of settings.RoleARN, asked for with the
// base credentials (1 AssumeRole for each process).
func (c *Client) assumeRole(base sdk.Config, settings Settings) sdk.CredentialsProvider {
	base.APIOptions = append(base.APIOptions, c.instrument)
	client := sts.NewFromConfig(base, func(o *sts.Options) {
		o.BaseEndpoint, o.EndpointOptions.UseDualStackEndpoint, o.EndpointOptions.UseFIPSEndpoint = settings.endpoint(settings.STSEndpoint)
	})
	return credentialSource{sdk.NewCredentialsCache(stscreds.NewAssumeRoleProvider(client, settings.RoleARN, func(o *stscreds.AssumeRoleOptions) {
		o.RoleSessionName = "bosh-aws-cpi"
		if settings.ExternalID != "" {
			o.ExternalID = sdk.String(settings.ExternalID)
		}
	})), "check aws.role_arn, aws.external_id and whom the role trusts"}
}

// endpoint returns a service's endpoint, which is as it is configured, or else
// AWS's own, in the variant that is asked for.
func (s Settings) endpoint(url string) (*string, sdk.DualStackEndpointState, sdk.FIPSEndpointState) {
	if url != "" {
		return sdk.String(url), sdk.DualStackEndpointStateUnset, sdk.FIPSEndpointStateUnset
	}
	dualStack, fips := sdk.DualStackEndpointStateUnset, sdk.FIPSEndpointStateUnset
	if s.DualStack {
		dualStack = sdk.DualStackEndpointStateEnabled
	}
	if s.FIPS {
		fips = sdk.FIPSEndpointStateEnabled
	}
	return nil, dualStack, fips
}

// userAgent names the caller. What came from outside is reduced to characters
// that a header field takes.
func userAgent(options Options) string {
	clean := func(text string) string {
		return strings.Map(func(r rune) rune {
			if r == '-' || r == '_' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
				return r
			}
			return '_'
		}, text)
	}
	return fmt.Sprintf("bosh-aws-cpi/%s director/%s request/%s", clean(options.Version), clean(options.Director), clean(options.Request))
}

// Region returns the region that the client works in.
func (c *Client) Region() string { return c.region }

// Figures sums up what the client did: calls, throttling, seconds waited.
func (c *Client) Figures() string { return c.figures.String() }

func (c *Client) infof(format string, operands ...any) {
	c.logger.Info(c.tag, format, operands...)
}

func (c *Client) warnf(format string, operands ...any) {
	c.logger.Warn(c.tag, format, operands...)
}
