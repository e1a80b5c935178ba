package api_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// served reads the document that the mux serves.
func served(t *testing.T, b *bundle) string {
	t.Helper()
	got := b.call(t, "GET", "/openapi.json", "", "")
	if got.status != 200 || got.header.Get("Content-Type") != "application/json" {
		t.Fatalf(`%d %v, want status 200 and Content-Type "application/json"`, got.status, got.header)
	}
	return got.body
}

func TestDocumentListsEveryOperation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	text := served(t, b)
	for _, want := range []string{
		`"openapi":"3.1.0"`, `"version":"2026-07-13"`, `"operationId":"archiveLibraryVideo"`, `"operationId":"runAgent"`,
		`"deprecated":true`, `"maxLength":20000`, `"ScrollActiveLimitError"`, `"scheme":"bearer"`, `"servers":[{"url":"https://api.scrollery.test"}]`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if got := strings.Count(text, `"operationId"`); got != 93 {
		t.Errorf("%d operations, want 93", got)
	}
	t.Run("no two names differ by case alone", func(t *testing.T) {
		t.Parallel()
		// Generators for Go write one type for a schema Key and a security scheme key.
		var document struct {
			Components map[string]map[string]json.RawMessage `json:"components"`
		}
		if err := json.Unmarshal([]byte(text), &document); err != nil {
			t.Fatal(err)
		}
		seen := map[string]string{}
		for _, kind := range []string{"schemas", "securitySchemes", "parameters"} {
			for name := range document.Components[kind] {
				if other := seen[strings.ToLower(name)]; other != "" {
					t.Errorf("got %s and %s in components, want names that differ by more", other, name)
				}
				seen[strings.ToLower(name)] = name
			}
		}
		if seen["bearer"] == "" || seen["key"] == "" {
			t.Errorf("got no scheme and no schema among %d names, want both", len(seen))
		}
	})
	t.Run("every property and parameter is explained", func(t *testing.T) {
		var document map[string]any
		if err := json.Unmarshal([]byte(text), &document); err != nil {
			t.Fatal(err)
		}
		explained := 0
		every := document["components"].(map[string]any)["schemas"].(map[string]any)["AnyError"].(map[string]any)["properties"].(map[string]any)
		eachPart(document["components"], "", func(path string, part map[string]any) {
			properties, _ := part["properties"].(map[string]any)
			for name, property := range properties {
				if part["allOf"] != nil && every[name] != nil {
					continue // an error narrows what every error has and explains
				}
				if explained++; property.(map[string]any)["description"] == nil {
					t.Errorf("%s/%s has no description; write a comment in its .proto file, want description not nil", path, name)
				}
			}
		})
		eachPart(document, "", func(path string, part map[string]any) {
			if part["in"] == "query" {
				if explained++; part["description"] == nil {
					t.Errorf("%s has no description; write a comment in its .proto file, want description not nil", path)
				}
			}
		})
		if explained < 400 {
			t.Errorf("got %d properties and parameters, want at least 400", explained)
		}
	})
	t.Run("every number is a double", func(t *testing.T) {
		// Without the format, oapi-codegen writes float32, which has seven digits of a time's thirteen.
		var document any
		if err := json.Unmarshal([]byte(text), &document); err != nil {
			t.Fatal(err)
		}
		numbers := 0
		eachPart(document, "", func(path string, part map[string]any) {
			kinds, _ := part["type"].([]any)
			if part["type"] != "number" && !slices.Contains(kinds, any("number")) {
				return
			}
			if numbers++; part["format"] != "double" {
				t.Errorf("%s: got format %v, want double", path, part["format"])
			}
		})
		if numbers < 100 {
			t.Errorf("got %d numbers, want at least 100", numbers)
		}
	})
	t.Run("an operation with a body has an example of it", func(t *testing.T) {
		const uploads = 2 // whose body is a file
		bodies := strings.Count(text, `"requestBody"`) - uploads
		if got := strings.Count(text, `"content":{"application/json":{"example":`); got != bodies || bodies < 15 {
			t.Errorf("got %d examples of %d bodies, want one each", got, bodies)
		}
	})
	t.Run("every refusal is a shared answer", func(t *testing.T) {
		var document struct {
			Paths map[string]map[string]struct {
				Responses map[string]map[string]any
			}
		}
		if err := json.Unmarshal([]byte(text), &document); err != nil {
			t.Fatal(err)
		}
		refusals := 0
		for path, methods := range document.Paths {
			for method, operation := range methods {
				if operation.Responses["4XX"] == nil || operation.Responses["default"] == nil {
					t.Errorf("%s %s: got answers %v, want 4XX and default among them", method, path, operation.Responses)
				}
				for status, answer := range operation.Responses {
					if status[0] == '2' {
						continue
					}
					if refusals++; answer["$ref"] == nil {
						t.Errorf("%s %s, %s: got %v, want a reference", method, path, status, answer)
					}
				}
			}
		}
		if refusals < 100 {
			t.Errorf("got %d refusals, want at least 100", refusals)
		}
	})
	for _, hidden := range []string{"pageToken", "nextPageToken", "clearCompetitors"} {
		if strings.Contains(text, hidden) {
			t.Errorf("got %s in the document, want it only in the other protocols", hidden)
		}
	}
}

// TestDocumentIsSentCompressed: clients that read gzip get a sixth of the bytes.
func TestDocumentIsSentCompressed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	get := func(headers ...string) *http.Response {
		request := httptest.NewRequest(http.MethodGet, "/openapi.json", http.NoBody)
		for i := 0; i < len(headers); i += 2 {
			request.Header.Set(headers[i], headers[i+1])
		}
		recorder := httptest.NewRecorder()
		b.mux.Handler().ServeHTTP(recorder, request)
		return recorder.Result()
	}
	text := func(in io.Reader) string {
		t.Helper()
		all, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		return string(all)
	}
	plain, packed := get(), get("Accept-Encoding", "br, gzip")
	body := text(packed.Body)
	unpacked, err := gzip.NewReader(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	check(t, "the text", text(plain.Body), text(unpacked))
	// 32 KiB held 77 operations. Those of the account's own sources have more properties of their
	// own than most, each with its sentence.
	if len(body) > 40<<10 {
		t.Errorf("got %d bytes compressed, want at most 40 KiB", len(body))
	}
	for _, c := range []struct {
		name           string
		answer         *http.Response
		encoding, kind []string
	}{
		{"plain", plain, nil, []string{"application/json"}},
		{"gzip", packed, []string{"gzip"}, []string{"application/json"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			check(t, "Content-Encoding", c.encoding, c.answer.Header.Values("Content-Encoding"))
			check(t, "Content-Type", c.kind, c.answer.Header.Values("Content-Type"))
			check(t, "Vary", []string{"Accept-Encoding"}, c.answer.Header.Values("Vary"))
		})
	}
	tag := packed.Header.Get("Etag")
	if tag == "" || tag == plain.Header.Get("Etag") {
		t.Errorf("got tags %s and %s, want two", plain.Header.Get("Etag"), tag)
	}
	for _, c := range []struct {
		name, accept, has string
		want              int
	}{
		{"a client that has it", "gzip", tag, http.StatusNotModified},
		{"a client that has the other form", "", tag, http.StatusOK},
		{"a client that has another one", "gzip", `"older"`, http.StatusOK},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := get("Accept-Encoding", c.accept, "If-None-Match", c.has)
			check(t, "status", c.want, got.StatusCode)
			check(t, "a body", c.want == http.StatusOK, text(got.Body) != "")
		})
	}
}

// eachPart visits every object of a document.
func eachPart(part any, path string, do func(path string, part map[string]any)) {
	switch part := part.(type) {
	case map[string]any:
		do(path, part)
		for name, inner := range part {
			eachPart(inner, path+"/"+name, do)
		}
	case []any:
		for i, inner := range part {
			eachPart(inner, path+"/"+strconv.Itoa(i), do)
		}
	}
}

// TestEveryOperationHasAPath: REST has what the other protocols have.
func TestEveryOperationHasAPath(t *testing.T) {
	t.Parallel()
	checked := 0
	protoregistry.GlobalFiles.RangeFilesByPackage("scrollery.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				row, _ := proto.GetExtension(methods.Get(j).Options(), scrolleryv1.E_Operation).(*scrolleryv1.Operation)
				checked++
				if row.GetPath() == "" || row.GetMethod() == "" {
					t.Errorf("%s: got method %q, path %q; want both", methods.Get(j).FullName(), row.GetMethod(), row.GetPath())
				}
			}
		}
		return true
	})
	if checked < 30 {
		t.Errorf("got %d operations, want at least 30", checked)
	}
}
