// Package cpi speaks the BOSH CPI protocol: one JSON request on stdin, one
// JSON response on stdout, versions of the API converted at the edge.
//
// It knows nothing of any infrastructure and nothing of what a method means,
// so the main of any CPI can hand it a table of methods and be done.
package cpi
