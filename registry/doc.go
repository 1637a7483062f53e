// Package registry writes what a VM's agent reads at its first boot: the user
// data and, for callers or stemcells of API version 1, the agent registry.
//
// Everything here is secret: settings hold passwords, keys and certificates.
// Nothing of it goes into a log or an error.
package registry
