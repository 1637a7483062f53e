package aws

import (
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
)

// metadataLimit bounds the question for the instance id: the service is on the
// link, and anywhere else than on EC2 nobody answers.
const metadataLimit = 5 * time.Second

// CurrentInstanceID returns the id of the instance that the process runs on. It
// asks the instance metadata service and makes no AWS call. Proxies are not
// used, and the service's address may be overridden by the SDK's variable
// AWS_EC2_METADATA_SERVICE_ENDPOINT.
func CurrentInstanceID(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, metadataLimit)
	defer cancel()
	client := imds.New(imds.Options{Endpoint: os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT"), HTTPClient: &http.Client{Transport: &http.Transport{}}})
	out, err := client.GetMetadata(ctx, &imds.GetMetadataInput{Path: "instance-id"})
	if err != nil {
		return "", failure(err, "instance metadata service")
	}
	defer out.Content.Close()
	id, err := io.ReadAll(io.LimitReader(out.Content, 64))
	if err != nil {
		return "", failure(err, "instance metadata service")
	}
	return strings.TrimSpace(string(id)), nil
}
