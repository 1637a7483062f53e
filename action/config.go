package action

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	boshlog "github.com/cloudfoundry/bosh-utils/logger"

	"bosh-aws-cpi/aws"
	"bosh-aws-cpi/cpi"
	"bosh-aws-cpi/registry"
)

// newestVersion is the newest version of the CPI API; see versions.
const newestVersion = 3

// ConfigFile is the configuration file as it was read, before the overrides of
// a call.
type ConfigFile struct {
	path  string
	aws   cpi.Object
	agent cpi.Object
	// registry is absent where no agent needs one.
	registry *registry.Server
	debug    Debug
}

// Debug is the `debug.cpi` section.
type Debug struct {
	// APIVersion lowers what info answers.
	APIVersion int `json:"api_version"`
	// LogLevel is debug, info (when it is empty), warn, error or none.
	LogLevel string `json:"log_level"`
	// TimeScale multiplies waits and backoffs, for tests; 1 when it is 0.
	TimeScale float64 `json:"time_scale"`
	// HTTPTimeout limits an HTTP request, in seconds; a minute when it is 0.
	HTTPTimeout float64 `json:"http_timeout"`
}

// Defaults are the keys of the `aws` section that stand in for cloud properties
// or say how a method works.
type Defaults struct {
	KeyName               string               `json:"default_key_name"`
	SecurityGroups        []string             `json:"default_security_groups"`
	IAMInstanceProfile    string               `json:"default_iam_instance_profile"`
	Encrypted             bool                 `json:"encrypted"`
	KMSKeyARN             string               `json:"kms_key_arn"`
	MetadataOptions       *aws.MetadataOptions `json:"metadata_options"`
	DescribeInstanceTypes *bool                `json:"enable_describe_instance_types"`
	FastPathDelete        bool                 `json:"fast_path_delete"`
}

// Config is the configuration that holds for one call.
type Config struct {
	AWS      aws.Settings
	Defaults Defaults
	Agent    cpi.Object
	Registry registry.Server
	Timing   aws.Timing
}

// ReadConfig reads a configuration file of the shape
// {"cloud":{"properties":{"aws":{},"registry":{},"agent":{},"debug":{"cpi":{}}}}}.
// Its errors are CpiErrors that name the file and the key.
func ReadConfig(path string) (ConfigFile, error) {
	file := ConfigFile{path: path}
	data, err := readFile(path)
	if err != nil {
		return file, cpi.Errorf(cpi.CpiError, "the configuration file cannot be read: %w", err)
	}
	if len(data) > maxConfigBytes {
		return file, file.errorf("it is larger than %d MiB", maxConfigBytes>>20)
	}
	if !json.Valid(data) {
		return file, file.errorf("it is not valid JSON: %s", cpi.SyntaxError(data))
	}
	var whole cpi.Object
	if err := json.Unmarshal(data, &whole); err != nil {
		return file, file.errorf("expected an object")
	}
	var shape struct {
		Cloud struct {
			Properties struct {
				AWS      cpi.Object       `json:"aws"`
				Agent    cpi.Object       `json:"agent"`
				Registry *registry.Server `json:"registry"`
				Debug    struct {
					CPI Debug `json:"cpi"`
				} `json:"debug"`
			} `json:"properties"`
		} `json:"cloud"`
	}
	if err := whole.Decode(&shape); err != nil {
		return file, file.errorf("%s", err)
	}
	properties := shape.Cloud.Properties
	file.aws, file.agent, file.registry, file.debug = properties.AWS, properties.Agent, properties.Registry, properties.Debug.CPI
	return file, file.validateDebug()
}

// maxConfigBytes bounds the configuration file, which has a few KiB and
// certificates.
const maxConfigBytes = 16 << 20

// readFile reads a file, and of one that is too large not much more than may be.
func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxConfigBytes+1))
}

func (f ConfigFile) validateDebug() error {
	if _, err := f.LogLevel(); err != nil {
		return err
	}
	if f.debug.APIVersion < 0 || f.debug.APIVersion > newestVersion {
		return f.errorf("debug.cpi.api_version: expected 1 to %d, got %d", newestVersion, f.debug.APIVersion)
	}
	if f.debug.TimeScale < 0 || f.debug.HTTPTimeout < 0 {
		return f.errorf("debug.cpi.time_scale and debug.cpi.http_timeout: expected numbers above 0")
	}
	return nil
}

// LogLevel returns the log's level of detail: debug.cpi.log_level, or the CLI's
// BOSH_LOG_LEVEL, or info.
func (f ConfigFile) LogLevel() (boshlog.LogLevel, error) {
	if f.debug.LogLevel != "" {
		level, err := boshlog.Levelify(f.debug.LogLevel)
		if err != nil {
			return boshlog.LevelInfo, f.errorf("debug.cpi.log_level: expected debug, info, warn, error or none")
		}
		return level, nil
	}
	// The CLI's own variable; a value it does not know is its business.
	if level, err := boshlog.Levelify(os.Getenv("BOSH_LOG_LEVEL")); err == nil {
		return level, nil
	}
	return boshlog.LevelInfo, nil
}

// credentialKeys are replaced together by a CPI config that names any of the
// first two: half of one account's credentials is of no use with half of
// another's.
var credentialKeys = []string{"credentials_source", "access_key_id", "secret_access_key", "session_token", "role_arn", "external_id"}

// For returns the configuration that holds for a call: the file's, with the keys
// of a CPI config in the call's context instead of the `aws` section's. Errors
// are CpiErrors that name the key.
func (f ConfigFile) For(overrides cpi.Object) (Config, error) {
	config := Config{Agent: f.agent, Timing: f.timing()}
	if overrides.Len() > 0 {
		f.path += ", with the CPI config of this call"
	}
	section := f.aws
	if overridesCredentials(overrides) {
		section = section.Without(credentialKeys...)
	}
	section = section.Merged(overrides)
	for _, into := range []any{&config.AWS, &config.Defaults} {
		if err := section.Decode(into); err != nil {
			return config, f.errorf("aws.%s", err)
		}
	}
	if err := config.AWS.Validate(); err != nil {
		return config, f.errorf("%s", err)
	}
	if err := checkMetadataOptions(config.Defaults.MetadataOptions); err != nil {
		return config, f.errorf("aws.%s", err)
	}
	if f.registry != nil && f.registry.Configured() {
		config.Registry = *f.registry
		if err := config.Registry.Validate(); err != nil {
			return config, f.errorf("%s", err)
		}
	}
	return config, nil
}

func overridesCredentials(overrides cpi.Object) bool {
	_, source := overrides.Get("credentials_source")
	_, key := overrides.Get("access_key_id")
	return source || key
}

func (f ConfigFile) timing() aws.Timing {
	timing := aws.DefaultTiming()
	if f.debug.TimeScale > 0 {
		timing.Scale = f.debug.TimeScale
	}
	if f.debug.HTTPTimeout > 0 {
		timing.HTTP = time.Duration(f.debug.HTTPTimeout * float64(time.Second))
	}
	return timing
}

func (f ConfigFile) errorf(format string, operands ...any) error {
	return cpi.Errorf(cpi.CpiError, "configuration file %s: %s", f.path, fmt.Sprintf(format, operands...))
}
