// Package action holds the CPI's methods, one file each, named after it: its
// typed arguments, its steps in the order a reader expects, its result in the
// newest version of the API. Beside them are cloud properties and their
// precedence, the mapping of AWS errors to the Director's, and the undoing of
// what a failed call made.
package action
