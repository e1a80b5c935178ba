package youtube

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/scrollery/scrollery/plugins/stage/site"
)

// asker is the transport under Google's client: it asks as politely as every
// source does, and keeps the bytes of the answer.
type asker struct {
	site *site.Site
	key  string

	status int
	body   []byte
	after  string // Retry-After
}

func (a *asker) client() *http.Client {
	return &http.Client{Transport: a, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// RoundTrip asks. The key travels in a header: as a parameter it would end up in
// the logs of every proxy on the way.
func (a *asker) RoundTrip(request *http.Request) (*http.Response, error) {
	a.status, a.body, a.after = 0, nil, ""
	if request.Method != http.MethodGet {
		return nil, errors.New("this source only reads")
	}
	header := request.Header.Clone()
	header.Set("X-Goog-Api-Key", a.key)
	answer, err := a.site.Ask(request.Context(), site.Request{Method: request.Method, URL: request.URL.String(), Header: header})
	if err != nil {
		return nil, err
	}
	a.status, a.body, a.after = answer.Status, answer.Body, answer.Header.Get("Retry-After")
	return &http.Response{
		StatusCode: answer.Status, Status: http.StatusText(answer.Status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: answer.Header, Body: io.NopCloser(bytes.NewReader(answer.Body)), ContentLength: int64(len(answer.Body)), Request: request,
	}, nil
}

// midnight is when quotas are renewed: in Los Angeles, where it may be a day of 23
// or 25 hours.
func midnight(now time.Time) time.Time {
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil { // the zones are compiled in
		zone = time.FixedZone("PST", -8*60*60)
	}
	year, month, day := now.In(zone).Date()
	return time.Date(year, month, day+1, 0, 0, 0, 0, zone)
}
