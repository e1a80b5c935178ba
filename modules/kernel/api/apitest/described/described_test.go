package described_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/api/apitest/described"
)

const description = `{"openapi":"3.1.0","info":{"title":"a","version":"1"},"paths":{"/a":{"get":{
	"responses":{"200":{"description":"a","content":{"application/json":{"schema":{
		"type":"object","required":["count"],"properties":{"count":{"type":"integer"}}}}}}}}}}}`

func TestFaults(t *testing.T) {
	t.Parallel()
	document, err := described.Read([]byte(description))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		body   string
		status int
		fault  string
	}{
		{`{"count":1}`, 200, ""},
		{`{"count":"one"}`, 200, "want integer"},
		{`{}`, 200, "count"},
		{`{"count":1}`, 418, "418"},
	} {
		request := httptest.NewRequest(http.MethodGet, "http://localhost/a", nil)
		response := &http.Response{
			StatusCode: c.status, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(strings.NewReader(c.body)), Request: request,
		}
		faults := document.Faults(request, response)
		if said := strings.Join(faults, "\n"); (c.fault == "") != (len(faults) == 0) || !strings.Contains(said, c.fault) {
			t.Errorf("%d %s: got %q, want %q", c.status, c.body, said, c.fault)
		}
	}
}

func TestReadRefusesWhatIsNotADescription(t *testing.T) {
	t.Parallel()
	for _, text := range []string{``, `{}`, `{"openapi":"3.1.0","paths":{}}`} {
		if _, err := described.Read([]byte(text)); err == nil {
			t.Errorf("%q was read, want an error", text)
		}
	}
}
