// Package aws does for the CPI what EC2, EBS, ELB and STS can do, noun by noun:
// image, instance, network interface, volume and so on. Set-up of the clients,
// retrying, waiting, logging and the classification of errors are each in one
// place here.
//
// It knows no CPI method. Its functions take and return its own types; units
// are in the names or comments (GiB for EBS sizes). Each function that talks to
// AWS says which calls it makes on its clean path. Every error that comes from
// AWS is an *Error.
package aws
