package driver

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Static credentials of a Config, of the shape that real ones have.
const (
	AccessKey = "AKIATESTTESTTESTTEST"
	SecretKey = "secret/of/AKIATESTTESTTESTTEST/40characters"
)

// Config is a configuration file. Its zero value but for Endpoint and Region
// makes a complete one.
type Config struct {
	Endpoint string         // for EC2, ELB, STS and EBS: all must be on the loopback
	Region   string         // "" leaves the key out
	AWS      map[string]any // further keys of the aws section, or others in place; nil takes a key out

	Registry *Registry
	Agent    map[string]any // default: an ntp server and an mbus

	APIVersion  int     // debug.cpi.api_version
	TimeScale   float64 // debug.cpi.time_scale
	HTTPTimeout float64 // debug.cpi.http_timeout, seconds
	LogLevel    string  // debug.cpi.log_level
}

// Registry is the registry section.
type Registry struct {
	Endpoint string `json:"endpoint"`
	User     string `json:"user"`
	Password string `json:"password"`
}

// Render is the file's content.
func (c Config) Render() ([]byte, error) {
	properties := map[string]any{"aws": c.aws(), "agent": c.agent(), "debug": map[string]any{"cpi": c.debug()}}
	if c.Registry != nil {
		properties["registry"] = c.Registry
	}
	content, err := json.MarshalIndent(map[string]any{
		"cloud": map[string]any{"plugin": "aws", "properties": properties},
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("rendering the configuration: %w", err)
	}
	return content, nil
}

// Write writes the file into a directory and returns its path.
func (c Config) Write(dir string) (string, error) {
	content, err := c.Render()
	if err != nil {
		return "", err
	}
	file, err := os.CreateTemp(dir, "cpi-*.json") // for its owner only
	if err != nil {
		return "", fmt.Errorf("writing the configuration: %w", err)
	}
	defer file.Close()
	if _, err := file.Write(content); err != nil {
		return "", fmt.Errorf("writing the configuration: %w", err)
	}
	return filepath.Abs(file.Name())
}

func (c Config) aws() map[string]any {
	section := map[string]any{
		"credentials_source": "static",
		"access_key_id":      AccessKey,
		"secret_access_key":  SecretKey,
		"ec2_endpoint":       c.Endpoint,
		"elb_endpoint":       c.Endpoint,
		"sts_endpoint":       c.Endpoint,
		"ebs_endpoint":       c.Endpoint,
	}
	if c.Region != "" {
		section["region"] = c.Region
	}
	for key, value := range c.AWS {
		section[key] = value
		if value == nil {
			delete(section, key)
		}
	}
	return section
}

func (c Config) agent() map[string]any {
	if c.Agent != nil {
		return c.Agent
	}
	return map[string]any{"ntp": []string{"0.pool.ntp.org"}, "mbus": "nats://10.0.0.6:4222"}
}

func (c Config) debug() map[string]any {
	section := map[string]any{}
	if c.APIVersion != 0 {
		section["api_version"] = c.APIVersion
	}
	if c.TimeScale != 0 {
		section["time_scale"] = c.TimeScale
	}
	if c.HTTPTimeout != 0 {
		section["http_timeout"] = c.HTTPTimeout
	}
	if c.LogLevel != "" {
		section["log_level"] = c.LogLevel
	}
	return section
}
