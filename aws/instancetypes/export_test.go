package instancetypes

// Table is the whole table, for the tests of its order and contents.
var Table = table

// IsSmallestCandidate tells what Smallest chooses from. Its answers cannot tell
// about bare metal, as every candidate of that kind has a virtual twin.
var IsSmallestCandidate = isSmallestCandidate
