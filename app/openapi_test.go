package app_test

import (
	"bytes"
	"io"
	"net/http"
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
	document, err := described.Read(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return document
}

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
