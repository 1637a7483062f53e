package release_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/release/job"
)

// minimal are the properties without which bosh-deployment's aws/cpi.yml does not work.
func minimal() map[string]any {
	return map[string]any{
		"aws.access_key_id": "AKIAMINIMAL", "aws.secret_access_key": "minimal/secret", "aws.region": "us-east-1",
		"aws.default_key_name": "bosh", "aws.default_security_groups": []string{"bosh"},
	}
}

// examples are all properties of the spec with their examples.
func examples() map[string]any {
	all := map[string]any{}
	for name, property := range theJob.Properties {
		all[name] = property.Example
	}
	return all
}

var _ = Describe("the job's templates", func() {
	It("render the minimal manifest as today's release does", func(ctx SpecContext) {
		i := install(ctx, minimal())
		Expect(i.files["config/cpi.json"]).To(MatchJSON(`{"cloud": {"plugin": "aws", "properties": {
			"aws": {"credentials_source": "static", "access_key_id": "AKIAMINIMAL", "secret_access_key": "minimal/secret", "region": "us-east-1",
				"dualstack": false, "fips": false, "max_retries": 8, "default_key_name": "bosh", "default_security_groups": ["bosh"],
				"encrypted": false, "enable_describe_instance_types": true, "fast_path_delete": false},
			"agent": {"ntp": ["0.pool.ntp.org", "1.pool.ntp.org"]},
			"debug": {"cpi": {"api_version": 3}}}}}`))
		Expect(strings.TrimSpace(i.files["config/cacert.pem"])).To(BeEmpty())
		Expect(i.files["bin/cpi"]).NotTo(Or(ContainSubstring("BOSH_CA_CERT_FILE"), ContainSubstring("proxy")))
		Expect(i.succeed(ctx, "info").Response.Result).To(MatchJSON(`{"stemcell_formats":["aws-raw","aws-light"],"api_version":3}`))
	})

	It("render a manifest that talks to AWS", func(ctx SpecContext) {
		i := install(ctx, with(nil))
		Expect(string(i.succeed(ctx, "has_vm", hasVM...).Response.Result)).To(Equal("false"))
		Expect(aws.Calls()).NotTo(BeEmpty())
	})

	It("render every property, as its example says", func(ctx SpecContext) {
		i := install(ctx, examples())
		i.succeed(ctx, "info")
		var config struct {
			Cloud struct {
				Properties struct {
					AWS   map[string]any
					Debug map[string]map[string]any
				}
			}
		}
		Expect(json.Unmarshal([]byte(i.files["config/cpi.json"]), &config)).To(Succeed())
		properties := config.Cloud.Properties
		for name, property := range theJob.Properties {
			section, key, _ := strings.Cut(name, ".")
			switch {
			case name == "aws.connection_options.ca_cert":
				Expect(i.files["config/cacert.pem"]).To(ContainSubstring(property.Example.(string)))
			case section == "aws" && name != "aws.stemcell.kernel_id":
				Expect(properties.AWS).To(HaveKeyWithValue(key, property.Example), name)
			case section == "debug":
				Expect(properties.Debug["cpi"]).To(HaveKeyWithValue(strings.TrimPrefix(key, "cpi."), property.Example), name)
			case section == "env":
				Expect(i.files["bin/cpi"]).To(ContainSubstring("export "+key+"="), name)
			}
		}
	})

	It("need no registry, no NATS and no blobstore", func(ctx SpecContext) {
		i := install(ctx, minimal())
		Expect(i.files["config/cpi.json"]).NotTo(Or(ContainSubstring("registry"), ContainSubstring("mbus"), ContainSubstring("blobstore")))
	})

	It("keep a registry that is not there whole out of the configuration", func(ctx SpecContext) {
		properties := minimal()
		properties["registry.host"] = "10.0.0.6"
		Expect(install(ctx, properties).files["config/cpi.json"]).NotTo(ContainSubstring("registry"))
	})
})

var _ = Describe("bin/cpi", func() {
	It("holds no secret, and gives the executable nothing but a path", func(ctx SpecContext) {
		properties := examples()
		i := install(ctx, properties)
		for name, value := range properties {
			if strings.Contains(name, "password") || strings.Contains(name, "secret") || strings.Contains(name, "token") || strings.Contains(name, "key") {
				Expect(i.files["bin/cpi"]).NotTo(ContainSubstring(text(value)), name)
			}
		}
		Expect(strings.TrimSpace(i.files["bin/cpi"])).To(HaveSuffix(`exec "$packages/aws_cpi/bin/aws_cpi" "$config/cpi.json"`))
	})

	It("keeps the configuration from everybody else, when it belongs to the caller", func(ctx SpecContext) {
		i := install(ctx, minimal())
		path := filepath.Join(i.root, "jobs", job.Name, "config", "cpi.json")
		Expect(os.Chmod(path, 0o644)).To(Succeed())
		i.succeed(ctx, "info")
		info, err := os.Stat(path)
		Expect(err).NotTo(HaveOccurred())
		Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))
	})

	It("takes proxies literally", func(ctx SpecContext) {
		properties := minimal()
		witness := filepath.Join(GinkgoT().TempDir(), "witness")
		properties["env.no_proxy"] = `a'b"c $(touch ` + witness + `) d`
		i := install(ctx, properties)
		// Instead of the executable, one that shows its environment.
		Expect(os.WriteFile(filepath.Join(i.root, "packages", job.Name, "bin", job.Name), []byte("#!/bin/sh\nprintf %s \"$no_proxy|$NO_PROXY\"\n"), 0o755)).To(Succeed())
		command := exec.CommandContext(ctx, job.Script(i.root))
		command.Env = append([]string{"PATH=" + os.Getenv("PATH")}, i.env...)
		out, err := command.Output()
		Expect(err).NotTo(HaveOccurred())
		Expect(string(out)).To(Equal(text(properties["env.no_proxy"]) + "|" + text(properties["env.no_proxy"])))
		Expect(witness).NotTo(BeAnExistingFile())
	})

	It("keeps the caller's proxies where the manifest names none", func(ctx SpecContext) {
		seen := plainWitness()
		i := install(ctx, with(map[string]any{"aws.ec2_endpoint": nil, "aws.max_retries": 0}))
		i.env = append(i.env, "HTTPS_PROXY="+seen.URL)
		i.fail(ctx, "has_vm", hasVM...)
		Expect(seen.first().Method).To(Equal("CONNECT"))
	})

	It("looks where a Director VM has the job, when nobody says otherwise", func(ctx SpecContext) {
		script := install(ctx, minimal()).files["bin/cpi"]
		Expect(script).To(ContainSubstring(`"${BOSH_PACKAGES_DIR:-/var/vcap/packages}"`))
		Expect(script).To(ContainSubstring(`"${BOSH_JOBS_DIR:-/var/vcap/jobs}/aws_cpi/config"`))
	})
})
