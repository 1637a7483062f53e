package aws

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
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
	client := imds.New(imds.Options{Endpoint: os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT"), HTTPClient: bounded{&http.Client{Transport: &http.Transport{}}}})
	out, err := client.GetMetadata(ctx, &imds.GetMetadataInput{Path: "instance-id"})
	if err != nil {
		return "", failure(err, "instance metadata service")
	}
	defer out.Content.Close()
	text, err := io.ReadAll(out.Content)
	if err != nil {
		return "", failure(err, "instance metadata service")
	}
	id := strings.TrimSpace(string(text))
	if !instanceID.MatchString(id) {
		return "", fmt.Errorf("what answers there is no instance metadata service: its instance-id begins: %q", printable(text))
	}
	return id, nil
}

var instanceID = regexp.MustCompile(`^i-[0-9a-f]+$`)

// bounded keeps what answers from filling the memory: the SDK's metadata client
// reads an answer whole.
type bounded struct{ next sdk.HTTPClient }

func (b bounded) Do(request *http.Request) (*http.Response, error) {
	response, err := b.next.Do(request)
	if err != nil {
		return nil, err
	}
	response.Body = rest{&boundedReader{from: response.Body, host: request.URL.Host, left: maxAnswer}, response.Body}
	return response, nil
}
