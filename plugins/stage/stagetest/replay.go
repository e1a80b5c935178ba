package stagetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/scrollery/scrollery/plugins/stage/redact"
)

// RecordVariable is the environment variable that makes Replay ask the real site
// and save what it answers: SCROLLERY_RECORD=1 go test.
const RecordVariable = "SCROLLERY_RECORD"

// unsaved are the headers that hold secrets, or no longer fit the saved text.
func unsaved(name string) bool {
	switch name {
	case "Authorization", "Cookie", "Set-Cookie", "X-Api-Key", "Proxy-Authorization", "Content-Length", "Content-Encoding":
		return true
	}
	return false
}

// Exchange is one saved request and its answer, as it is in the file.
type Exchange struct {
	Method string `json:"method"`
	URL    string `json:"url"`
	// Body is what was sent; it is compared, so that a changed query is noticed.
	Body   string      `json:"body,omitempty"`
	Status int         `json:"status"`
	Header http.Header `json:"header,omitempty"`
	Answer string      `json:"answer"`
}

// Replay is a transport that answers from the file at path and never from the
// network. Each exchange is used once, in any order. A request that is not in the
// file fails, and so does the test; one that was not asked for fails the test too.
//
// With SCROLLERY_RECORD set it asks the site and writes the file, secrets (values
// that must not be saved) and authorising headers left out.
func Replay(t testing.TB, path string, secrets ...string) http.RoundTripper {
	t.Helper()
	if os.Getenv(RecordVariable) != "" {
		r := &recorder{secrets: secrets}
		t.Cleanup(func() {
			if err := r.save(path); err != nil {
				t.Errorf("save the exchanges: %v", err)
			}
		})
		return r
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (record it with %s=1)", err, RecordVariable)
	}
	p := &player{t: t, secrets: secrets}
	if err := json.Unmarshal(raw, &p.left); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	t.Cleanup(p.rest)
	return p
}

type player struct {
	t       testing.TB
	secrets []string
	mu      sync.Mutex
	left    []Exchange
}

func (p *player) RoundTrip(request *http.Request) (*http.Response, error) {
	asked, err := question(request, p.secrets)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.left, func(e Exchange) bool {
		return e.Method == asked.Method && e.URL == asked.URL && e.Body == asked.Body
	})
	if i < 0 {
		p.t.Errorf("nothing is saved for %s %s %s", asked.Method, asked.URL, asked.Body)
		return nil, fmt.Errorf("replay: %s %s was not recorded", asked.Method, asked.URL)
	}
	e := p.left[i]
	p.left = slices.Delete(p.left, i, i+1)
	return &http.Response{
		StatusCode: e.Status, Status: fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status)),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: e.Header.Clone(), Request: request,
		Body: io.NopCloser(strings.NewReader(e.Answer)), ContentLength: int64(len(e.Answer)),
	}, nil
}

func (p *player) rest() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.left {
		p.t.Errorf("nothing asked for %s %s", e.Method, e.URL)
	}
}

type recorder struct {
	secrets []string
	mu      sync.Mutex
	all     []Exchange
}

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	e, err := question(request, r.secrets)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(answer) {
		return nil, errors.New("record: only text can be saved")
	}
	response.Body = io.NopCloser(bytes.NewReader(answer))
	e.Status, e.Answer, e.Header = response.StatusCode, hide(string(answer), r.secrets), http.Header{}
	for name, values := range response.Header {
		if !unsaved(name) {
			for _, value := range values {
				e.Header.Add(name, hide(value, r.secrets))
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, e)
	return response, nil
}

func (r *recorder) save(path string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	raw, err := json.MarshalIndent(r.all, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, append(raw, '\n'), 0o644)
}

// question is the request as it is saved: without its headers, which hold secrets
// and change from one library version to the next.
func question(request *http.Request, secrets []string) (Exchange, error) {
	e := Exchange{Method: request.Method, URL: hide(request.URL.String(), secrets)}
	if request.Body == nil {
		return e, nil
	}
	body, err := io.ReadAll(request.Body)
	_ = request.Body.Close()
	if err != nil {
		return e, err
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	e.Body = hide(string(body), secrets)
	return e, nil
}

// hide leaves secrets out, as they are and as an address or a form has them.
func hide(text string, secrets []string) string {
	words := map[string]string{}
	for _, secret := range secrets {
		for _, form := range redact.Forms(secret) {
			words[form] = "SECRET"
		}
	}
	return redact.Replacer(words).Replace(text)
}
