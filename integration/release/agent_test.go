package release_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/fakeregistry"
)

// settings is what the agent of a VM is told in its user data.
func (i *installed) settings(ctx context.Context) map[string]any {
	GinkgoHelper()
	var settings map[string]any
	i.inVM(ctx, nil, func(string) {
		data, err := base64.StdEncoding.DecodeString(launched().Param("UserData"))
		Expect(err).NotTo(HaveOccurred())
		Expect(json.Unmarshal(data, &settings)).To(Succeed())
	})
	return settings
}

func describeAgent() {
	It("tells the agent its time servers and its message bus", func(ctx SpecContext) {
		i := install(ctx, with(map[string]any{
			"ntp": []string{"1.distinct", "2.distinct"}, "agent.mbus": "https://mbus:distinct@0.0.0.0:6868", "nats.address": "10.9.9.9", "nats.password": "x",
		}))
		settings := i.settings(ctx)
		i.shows("ntp", "user data ntp", text(settings["ntp"]))
		i.shows("agent.mbus", "user data mbus", text(settings["mbus"]))
	})

	It("makes the message bus from the NATS properties", func(ctx SpecContext) {
		i := install(ctx, with(map[string]any{
			"nats.address": "10.7.7.7", "nats.port": 4777, "nats.user": "distinct-user", "nats.password": "distinct:p@ss",
		}))
		mbus := text(i.settings(ctx)["mbus"])
		parsed, err := url.Parse(mbus)
		Expect(err).NotTo(HaveOccurred())
		i.shows("nats.address", "user data mbus", mbus)
		i.shows("nats.port", "user data mbus", mbus)
		i.shows("nats.user", "user data mbus", mbus)
		password, _ := parsed.User.Password()
		i.shows("nats.password", "user data mbus, decoded:", password)

		properties := with(i.properties)
		properties["agent.nats.address"] = "10.8.8.8"
		i = install(ctx, properties)
		i.shows("agent.nats.address", "user data mbus", text(i.settings(ctx)["mbus"]))
	})
}

func describeRegistry() {
	It("tells where agents of old stemcells find their settings", func(ctx SpecContext) {
		registry, err := fakeregistry.Start("distinct user", "distinct:p@ss")
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(registry.Close)
		address, err := url.Parse(registry.URL)
		Expect(err).NotTo(HaveOccurred())
		i := install(ctx, with(map[string]any{
			"registry.username": registry.User, "registry.password": registry.Password,
			"registry.host": address.Hostname(), "registry.port": address.Port(), "nats.address": "10.0.0.6", "nats.password": "x",
		}))
		cpi := i.cpi()
		cpi.APIVersion, cpi.StemcellAPIVersion = 1, 1
		aws.Clear()
		created := cpi.Call(ctx, "create_vm", newVM(nil)...)
		Expect(created.Err()).NotTo(HaveOccurred())
		defer i.succeed(ctx, "delete_vm", created.VM())
		Expect(registry.Content()).To(HaveKey(created.VM()))
		i.proves("registry.username", "the registry took the settings from this user")
		i.proves("registry.password", "the registry took the settings with this password")

		data, err := base64.StdEncoding.DecodeString(launched().Param("UserData"))
		Expect(err).NotTo(HaveOccurred())
		var settings struct{ Registry struct{ Endpoint string } }
		Expect(json.Unmarshal(data, &settings)).To(Succeed())
		endpoint, err := url.Parse(settings.Registry.Endpoint)
		Expect(err).NotTo(HaveOccurred())
		Expect(endpoint.User.Username()).To(Equal(registry.User))
		i.shows("registry.host", "user data registry.endpoint", endpoint.Host)
		i.shows("registry.port", "user data registry.endpoint", endpoint.Host)
	})
}

func describeBlobstores() {
	It("tells the agent its blobstore: dav", func(ctx SpecContext) {
		i := install(ctx, with(map[string]any{
			"blobstore.address": "10.6.6.6", "blobstore.port": 25666, "blobstore.agent.user": "distinct-agent", "blobstore.agent.password": "distinct-pw",
		}))
		options := i.blobstore(ctx)
		i.shows("blobstore.address", "user data blobstore.options.endpoint", text(options["endpoint"]))
		i.shows("blobstore.port", "user data blobstore.options.endpoint", text(options["endpoint"]))
		i.shows("blobstore.agent.user", "user data blobstore.options.user", text(options["user"]))
		i.shows("blobstore.agent.password", "user data blobstore.options.password", text(options["password"]))

		properties := with(i.properties)
		properties["agent.blobstore.address"] = "10.5.5.5"
		i = install(ctx, properties)
		i.shows("agent.blobstore.address", "user data blobstore.options.endpoint", text(i.blobstore(ctx)["endpoint"]))
	})

	It("tells the agent its blobstore: local", func(ctx SpecContext) {
		i := install(ctx, with(map[string]any{"blobstore.provider": "local", "blobstore.path": "/var/vcap/distinct"}))
		i.shows("blobstore.path", "user data blobstore.options.blobstore_path", text(i.blobstore(ctx)["blobstore_path"]))
	})

	It("tells the agent its blobstore: s3", func(ctx SpecContext) {
		own := map[string]any{
			"credentials_source": "distinct-source", "access_key_id": "AKIADISTINCTBLOBS", "secret_access_key": "distinct/blobs",
			"s3_region": "eu-distinct-1", "host": "s3.distinct", "s3_port": 8443, "use_ssl": false, "ssl_verify_peer": false,
			"s3_signature_version": "44", "server_side_encryption": "distinct-encryption", "sse_kms_key_id": "distinct-key",
		}
		properties := with(map[string]any{"blobstore.provider": "s3", "blobstore.bucket_name": "distinct-bucket"})
		for name, value := range own {
			properties["blobstore."+name] = value
		}
		i := install(ctx, properties)
		options := i.blobstore(ctx)
		i.shows("blobstore.bucket_name", "user data blobstore.options.bucket_name", text(options["bucket_name"]))
		for name := range own {
			i.shows("blobstore."+name, "user data blobstore.options."+option(name), text(options[option(name)]))
		}

		for name, value := range own {
			properties["agent.blobstore."+name] = other(value)
		}
		i = install(ctx, properties)
		options = i.blobstore(ctx)
		for name := range own {
			i.shows("agent.blobstore."+name, "user data blobstore.options."+option(name), text(options[option(name)]))
		}
	})
}

// blobstore are the options of the agent's blobstore.
func (i *installed) blobstore(ctx context.Context) map[string]any {
	GinkgoHelper()
	settings := i.settings(ctx)
	blobstore, ok := settings["blobstore"].(map[string]any)
	Expect(ok).To(BeTrue(), "the agent is told of no blobstore: %v", settings)
	if _, set := i.properties["blobstore.provider"]; set {
		i.shows("blobstore.provider", "user data blobstore.provider", text(blobstore["provider"]))
	}
	return blobstore["options"].(map[string]any)
}

// option is the name of an S3 property among the agent's options.
func option(property string) string {
	names := map[string]string{"s3_region": "region", "s3_port": "port", "s3_signature_version": "signature_version"}
	if name, renamed := names[property]; renamed {
		return name
	}
	return property
}

// other is another value than this one.
func other(value any) any {
	switch value := value.(type) {
	case bool:
		return !value
	case int:
		return value + 1
	}
	return text(value) + "-of-agents"
}
