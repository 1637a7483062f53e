package instancetypes

import (
	"cmp"
	"slices"
	"strings"
)

// smallestFamilies are the families Smallest chooses from: x86_64, as almost
// every stemcell is, and offered by nearly every region. In the offerings of 30
// regions, each of the four is missing from one at most: c5, m5 and r5 from
// ap-southeast-5, t3 from me-central-1; of the families that follow them, c6i is
// missing from five, m6i from two and r6i from three.
//
// Where members of two families are alike in processors and memory, the earlier
// family is taken: t3 is last because its processors are slowed, or charged
// extra, once their credits are spent, so that it serves only where nothing else
// is as small.
var smallestFamilies = [...]string{"c5", "m5", "r5", "t3"}

// Smallest returns the smallest type that has at least cpu virtual processors
// and ramMiB MiB of memory, out of the families c5, m5, r5 and t3. Smallest is
// the one with the fewest processors, of these the one with the least memory,
// of these the one of the first family in that order. Processors come first
// because price follows them most closely within these families. Bare-metal
// types are left out: they cost and boot like a host.
//
// When no type fits, ok is false. largest is always the largest candidate by
// the same order, for the error message.
func Smallest(cpu int, ramMiB int64) (smallest, largest InstanceType, ok bool) {
	for _, t := range table {
		if !isSmallestCandidate(t) {
			continue
		}
		if bySize(t, largest) > 0 {
			largest = t
		}
		fits := int64(t.VCPUs) >= int64(cpu) && t.MemoryMiB >= ramMiB
		if fits && (!ok || bySize(t, smallest) < 0) {
			smallest, ok = t, true
		}
	}
	return smallest, largest, ok
}

func isSmallestCandidate(t InstanceType) bool {
	return familyRank(t.Name) >= 0 && t.Architectures&ArchX8664 != 0 && !t.BareMetal
}

func bySize(a, b InstanceType) int {
	return cmp.Or(
		cmp.Compare(a.VCPUs, b.VCPUs),
		cmp.Compare(a.MemoryMiB, b.MemoryMiB),
		cmp.Compare(familyRank(a.Name), familyRank(b.Name)),
	)
}

// familyRank is the place of a type's family in smallestFamilies, or -1. The
// family is the whole of the name before the dot: c5d is not c5.
func familyRank(name string) int {
	family, _, _ := strings.Cut(name, ".")
	return slices.Index(smallestFamilies[:], family)
}
