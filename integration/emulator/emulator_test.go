package emulator_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"bosh-aws-cpi/integration/emulator"
	"bosh-aws-cpi/integration/emulator/query"
)

func TestEmulator(t *testing.T) {
	if out := os.Getenv("EMULATOR_TEST_PARENT"); out != "" {
		parent(out)
		return
	}
	RegisterFailHandler(Fail)
	RunSpecs(t, "the emulator")
}

// parent starts an emulator, tells its URL and waits to be killed.
func parent(out string) {
	started, err := emulator.Start(context.Background(), emulator.Options{})
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile(out+".new", []byte(started.URL), 0o600); err != nil {
		panic(err)
	}
	if err := os.Rename(out+".new", out); err != nil {
		panic(err)
	}
	select {}
}

var moto *emulator.Emulator

var _ = BeforeSuite(func(ctx SpecContext) {
	var err error
	moto, err = emulator.Start(ctx, emulator.Options{Stderr: GinkgoWriter})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(moto.Stop)
})

var _ = Describe("Emulator", func() {
	BeforeEach(func(ctx SpecContext) {
		Expect(moto.Reset(ctx)).To(Succeed())
	})

	It("makes the basics of an account", func(ctx SpecContext) {
		account, err := moto.NewAccount(ctx, "")
		Expect(err).NotTo(HaveOccurred())
		Expect(account.VPC).To(HavePrefix("vpc-"))
		Expect(account.Subnets[0].ID).To(HavePrefix("subnet-"))
		Expect(account.Subnets[1].Zone).To(Equal("us-east-1b"))
		Expect(account.Subnets[1].IP(300)).To(Equal("10.0.17.44"))
		Expect(account.Subnets[0].IPv6CIDR).NotTo(Equal(account.Subnets[1].IPv6CIDR))
		Expect(account.Groups[0].ID).To(HavePrefix("sg-"))
		Expect(account.ElasticIP.AllocationID).To(HavePrefix("eipalloc-"))
		Expect(account.TargetGroup.ARN).To(HavePrefix("arn:aws:elasticloadbalancing:"))
		Expect(account.RouteTable).To(HavePrefix("rtb-"))
	})

	It("makes them in two regions at once", func(ctx SpecContext) {
		for _, region := range []string{"us-east-1", "eu-west-1"} {
			account, err := moto.NewAccount(ctx, region)
			Expect(err).NotTo(HaveOccurred())
			Expect(account.Subnets[0].Zone).To(Equal(region + "a"))
		}
	})

	It("lists what comes to an account and what goes", func(ctx SpecContext) {
		account, err := moto.NewAccount(ctx, "")
		Expect(err).NotTo(HaveOccurred())
		before, err := moto.Inventory(ctx, "")
		Expect(err).NotTo(HaveOccurred())

		client := query.Client{Endpoint: moto.URL, Region: account.Region}
		run, err := client.Do(ctx, query.EC2, "RunInstances", "ImageId", account.Image, "InstanceType", "t3.micro",
			"MinCount", "1", "MaxCount", "1", "KeyName", account.KeyName,
			"NetworkInterface.1.DeviceIndex", "0", "NetworkInterface.1.SubnetId", account.Subnets[0].ID,
			"BlockDeviceMapping.1.DeviceName", account.RootDevice, "BlockDeviceMapping.1.Ebs.VolumeSize", "15")
		Expect(err).NotTo(HaveOccurred())
		instance := run.Value("instancesSet/item/instanceId")
		_, err = client.Do(ctx, query.EC2, "AssociateAddress", "InstanceId", instance, "AllocationId", account.ElasticIP.AllocationID)
		Expect(err).NotTo(HaveOccurred())
		_, err = client.Do(ctx, query.ELBv2, "RegisterTargets", "TargetGroupArn", account.TargetGroup.ARN, "Targets.member.1.Id", instance)
		Expect(err).NotTo(HaveOccurred())
		_, err = client.Do(ctx, query.ELB, "RegisterInstancesWithLoadBalancer",
			"LoadBalancerName", account.LoadBalancer, "Instances.member.1.InstanceId", instance)
		Expect(err).NotTo(HaveOccurred())

		after, err := moto.Inventory(ctx, "")
		Expect(err).NotTo(HaveOccurred())
		Expect(emulator.Diff(before, after)).To(ConsistOf(
			"+ instance "+instance,
			HavePrefix("+ volume vol-"),
			And(HavePrefix("+ attachment vol-"), HaveSuffix(" -> "+instance)),
			HavePrefix("+ network-interface eni-"),
			HavePrefix("+ address "+account.ElasticIP.IP+" -> eni-"),
			"+ target bosh "+instance,
			"+ elb bosh-classic "+instance,
		))
		Expect(emulator.Diff(after, before)).To(ContainElement("- instance " + instance))
	})

	It("is empty after a reset", func(ctx SpecContext) {
		account, err := moto.NewAccount(ctx, "")
		Expect(err).NotTo(HaveOccurred())
		Expect(moto.Reset(ctx)).To(Succeed())
		left, err := moto.Inventory(ctx, "")
		Expect(err).NotTo(HaveOccurred())
		Expect(left).NotTo(ContainElement("subnet " + account.Subnets[0].ID))
	})

	It("says how to get it when there is none", func(ctx SpecContext) {
		GinkgoT().Setenv("MOTO_SERVER", "")
		GinkgoT().Setenv("PATH", GinkgoT().TempDir())
		GinkgoT().Chdir(GinkgoT().TempDir())
		_, err := emulator.Start(ctx, emulator.Options{})
		Expect(err).To(MatchError(ContainSubstring("make emulator")))
	})

	It("dies with a parent that is killed", func() {
		if _, err := os.Stat("/proc/self"); err != nil {
			Skip("only Linux ties a child's life to its parent's")
		}
		told := filepath.Join(GinkgoT().TempDir(), "url")
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), "EMULATOR_TEST_PARENT="+told)
		Expect(command.Start()).To(Succeed())
		DeferCleanup(func() { _ = command.Process.Kill() })
		Eventually(told).WithTimeout(30 * time.Second).Should(BeAnExistingFile())
		url, err := os.ReadFile(told)
		Expect(err).NotTo(HaveOccurred())

		Expect(command.Process.Signal(syscall.SIGKILL)).To(Succeed())
		_ = command.Wait()
		port := url[strings.LastIndexByte(string(url), ':')+1:]
		Eventually(func() bool { return listening(string(port)) }).WithTimeout(10 * time.Second).Should(BeFalse())
	})
})

func listening(port string) bool {
	number, err := strconv.Atoi(port)
	Expect(err).NotTo(HaveOccurred())
	client := query.Client{Endpoint: "http://127.0.0.1:" + strconv.Itoa(number), Region: "us-east-1"}
	_, err = client.Do(context.Background(), query.EC2, "DescribeAvailabilityZones")
	return err == nil
}
