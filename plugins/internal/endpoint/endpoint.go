// Package endpoint reaches a service that speaks as OpenAI's does. Three processes
// ask one, each for its own ends; this package keeps the key and the process safe.
package endpoint

import (
	"io"
	"net/http"
	"strings"

	"github.com/openai/openai-go/option"
)

// Options make requests go through client to a base address, such as
// https://api.example.com/v1, with a bearer key unless that is empty. Of one answer
// maxAnswer bytes are read at most; the rest is cut off. Redirects are not followed:
// the key goes to the address that was set, and nowhere else.
func Options(client *http.Client, address, key string, maxAnswer int64) []option.RequestOption {
	own := *client
	if own.Transport == nil {
		own.Transport = http.DefaultTransport
	}
	own.Transport = bounded{own.Transport, maxAnswer}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	options := []option.RequestOption{option.WithBaseURL(strings.TrimRight(address, "/") + "/"), option.WithHTTPClient(&own)}
	if key != "" {
		options = append(options, option.WithAPIKey(key))
	}
	return options
}

// bounded cuts answers that are too long to be read.
type bounded struct {
	next http.RoundTripper
	most int64
}

func (b bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := b.next.RoundTrip(request)
	if err == nil {
		answer.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(answer.Body, b.most), answer.Body}
	}
	return answer, err
}
