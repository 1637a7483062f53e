package action

import (
	"encoding/binary"
	"net/netip"

	"bosh-aws-cpi/aws"
)

func subnetSpec(s *session, block netip.Prefix, properties createNetworkProperties) aws.SubnetSpec {
	return aws.SubnetSpec{
		VPC:              properties.VPC,
		AvailabilityZone: properties.AvailabilityZone,
		Range:            block,
		Tags:             s.originTags(tagsFrom(properties.Tags)),
	}
}

// addressPlan tells the Director which addresses of a subnet are AWS's: the
// first four, of which the second is the gateway, and the last (VPC User Guide,
// "Subnet sizing").
func addressPlan(method string, block netip.Prefix, gateway string) (networkAddresses, error) {
	first := address(block, 0)
	router := first.Next()
	if gateway != "" {
		if asked, err := netip.ParseAddr(gateway); err != nil || asked != router {
			return networkAddresses{}, invalid(method, "gateway: a subnet of range %s has its gateway at %s, got %q", block, router, gateway)
		}
	}
	plan := networkAddresses{Range: block.String(), Gateway: router.String()}
	for offset := range uint32(4) {
		plan.Reserved = append(plan.Reserved, address(block, offset).String())
	}
	plan.Reserved = append(plan.Reserved, address(block, size(block)-1).String())
	return plan, nil
}

// freeBlock returns the first range of a size within whole that overlaps none
// that is taken.
func freeBlock(whole netip.Prefix, taken []netip.Prefix, bits int) (netip.Prefix, bool) {
	if !whole.Addr().Is4() || bits < whole.Bits() {
		return netip.Prefix{}, false
	}
	for i := range uint32(1) << (bits - whole.Bits()) {
		candidate := netip.PrefixFrom(address(whole, i<<(32-bits)), bits)
		if !overlapsAny(candidate, taken) {
			return candidate, true
		}
	}
	return netip.Prefix{}, false
}

func overlapsAny(candidate netip.Prefix, taken []netip.Prefix) bool {
	for _, other := range taken {
		if candidate.Overlaps(other) {
			return true
		}
	}
	return false
}

// address returns an address of an IPv4 range by its distance from the first.
func address(block netip.Prefix, offset uint32) netip.Addr {
	first := block.Masked().Addr().As4()
	var sum [4]byte
	binary.BigEndian.PutUint32(sum[:], binary.BigEndian.Uint32(first[:])+offset)
	return netip.AddrFrom4(sum)
}

func size(block netip.Prefix) uint32 { return 1 << (32 - block.Bits()) }
