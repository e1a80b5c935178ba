package apptest

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
)

// Document is the service description that an app serves.
type Document struct{ validator validator.Validator }

// OpenAPI reads the description from the running app.
func OpenAPI(t testing.TB, running *Running) *Document {
	t.Helper()
	answer := running.Anonymous().Do(t, "GET /openapi.json", "")
	if answer.Status != http.StatusOK {
		t.Fatalf("/openapi.json answered %d, want %v", answer.Status, http.StatusOK)
	}
	document, err := libopenapi.NewDocument(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	checker, errs := validator.NewValidator(document)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if valid, faults := checker.ValidateDocument(); !valid {
		for _, fault := range faults {
			t.Errorf("the description: %s: %s", fault.Message, fault.Reason)
		}
	}
	return &Document{validator: checker}
}

// Validate checks an answer against the description. Answers that no operation
// gives (an unknown path, a wrong method) are not described.
func (d *Document) Validate(t testing.TB, answer *Answer) {
	t.Helper()
	if answer.Status == http.StatusNotFound || answer.Status == http.StatusMethodNotAllowed {
		return
	}
	response := &http.Response{
		StatusCode: answer.Status, Header: answer.Header,
		Body: io.NopCloser(bytes.NewReader(answer.Body)), Request: answer.Request,
	}
	valid, faults := d.validator.ValidateHttpResponse(answer.Request, response)
	if valid {
		return
	}
	for _, fault := range faults {
		t.Errorf("the answer breaks the description: %s: %s", fault.Message, fault.Reason)
		for _, detail := range fault.SchemaValidationErrors {
			t.Errorf("  %s: %s", detail.FieldPath, detail.Reason)
		}
	}
}
