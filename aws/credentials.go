package aws

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
)

// credentialSource gives credentials, and says in its errors which keys of the
// configuration tell where they come from: the SDK's errors are about the call
// that needed them.
type credentialSource struct {
	sdk.CredentialsProvider
	check string
}

// credentialsError is the failure to get credentials.
type credentialsError struct {
	cause error
	check string
}

func (e *credentialsError) Error() string { return e.cause.Error() }
func (e *credentialsError) Unwrap() error { return e.cause }

// Retrieve returns the credentials; the provider within keeps them.
func (s credentialSource) Retrieve(ctx context.Context) (sdk.Credentials, error) {
	found, err := s.CredentialsProvider.Retrieve(ctx)
	if err != nil {
		return found, &credentialsError{err, s.check}
	}
	return found, nil
}
