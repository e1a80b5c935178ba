package app_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/kernel/api/apitest/described"
)

// openAPI reads the description that a running app serves.
func openAPI(t *testing.T, running *apptest.Running) *described.Document {
	t.Helper()
	answer := running.Anonymous().Do(t, "GET /openapi.json", "")
	if answer.Status != http.StatusOK {
		t.Fatalf("/openapi.json answered %d, want %v", answer.Status, http.StatusOK)
	}
	text := strings.ReplaceAll(string(answer.Body), running.BaseURL, "http://localhost")
	read, _ := descriptions.LoadOrStore(text, sync.OnceValues(func() (*described.Document, error) { return described.Read([]byte(text)) }))
	document, err := read.(func() (*described.Document, error))()
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// descriptions are those that servers served, by their text without an address: reading one
// takes seconds.
var descriptions sync.Map

// isDescribed compares an answer with the description. Answers that no operation gives
// (an unknown path, a wrong method) are not described.
func isDescribed(t *testing.T, document *described.Document, answer *apptest.Answer) {
	t.Helper()
	if answer.Status == http.StatusNotFound || answer.Status == http.StatusMethodNotAllowed {
		return
	}
	response := &http.Response{
		StatusCode: answer.Status, Header: answer.Header,
		Body: io.NopCloser(bytes.NewReader(answer.Body)), Request: answer.Request,
	}
	for _, fault := range document.Faults(answer.Request, response) {
		t.Errorf("the answer breaks the description: %s", fault)
	}
}
