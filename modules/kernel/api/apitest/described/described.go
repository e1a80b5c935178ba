// Package described compares answers with an OpenAPI description, for tests. It shows no
// type of the validator: its types are generic, and each package that knows one compiles
// them again.
package described

import (
	"fmt"
	"net/http"
	"sync"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/errors"
)

// Document is a valid description. Tests that run side by side may share one.
type Document struct {
	faults func(*http.Request, *http.Response) []string
}

// Read reads a description. It fails if the description itself is not valid.
func Read(text []byte) (*Document, error) {
	parsed, err := libopenapi.NewDocument(text)
	if err != nil {
		return nil, err
	}
	v, errs := validator.NewValidator(parsed)
	if len(errs) > 0 {
		return nil, fmt.Errorf("prepare the validator: %v", errs)
	}
	if ok, found := v.ValidateDocument(); !ok {
		return nil, fmt.Errorf("the description is not valid: %q", texts(found))
	}
	var mu sync.Mutex
	return &Document{faults: func(request *http.Request, response *http.Response) []string {
		mu.Lock()
		defer mu.Unlock()
		ok, found := v.ValidateHttpResponse(request, response)
		if ok {
			return nil
		}
		return append([]string{request.Method + " " + request.URL.Path + " has another answer"}, texts(found)...)
	}}, nil
}

// Faults returns what an answer to a request breaks of the description; none if it is as described.
func (d *Document) Faults(request *http.Request, response *http.Response) []string {
	return d.faults(request, response)
}

func texts(found []*errors.ValidationError) []string {
	var all []string
	for _, fault := range found {
		all = append(all, fault.Message+": "+fault.Reason)
		for _, detail := range fault.SchemaValidationErrors {
			all = append(all, "  "+detail.FieldPath+": "+detail.Reason)
		}
	}
	return all
}
