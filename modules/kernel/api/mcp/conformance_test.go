package mcp

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// oneCaller admits every key, and records nothing.
type oneCaller struct{}

func (oneCaller) Admit(context.Context, string) (*api.Caller, error) {
	return &api.Caller{Viewer: &viewer.Viewer{AccountID: 1, KeyID: 1, Status: "active", Scopes: viewer.AllScopes()}}, nil
}

func (oneCaller) Record(context.Context, api.Event) error { return nil }

// fixtures are what the conformance suite calls, on a server with the options of this package.
func fixtures(server *mcp.Server) {
	pixel := []byte("\x89PNG\r\n\x1a\n")
	image := &mcp.ImageContent{Data: pixel, MIMEType: "image/png"}
	embedded := func(uri string) mcp.Content {
		return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "An embedded resource."}}
	}
	says := func(text string) mcp.Content { return &mcp.TextContent{Text: text} }
	tool := func(name string, refused bool, contents ...mcp.Content) {
		server.AddTool(&mcp.Tool{Name: name, Description: "A fixture.", InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: contents, IsError: refused}, nil
			})
	}
	tool("test_simple_text", false, says("This is a simple text response for testing."))
	tool("test_image_content", false, image)
	tool("test_audio_content", false, &mcp.AudioContent{Data: []byte("RIFF"), MIMEType: "audio/wav"})
	tool("test_embedded_resource", false, embedded("test://embedded-resource"))
	tool("test_multiple_content_types", false, says("Text."), image, embedded("test://embedded-in-multiple"))
	tool("test_error_handling", true, says("This tool intentionally returns an error for testing"))
	tool("test_streaming_elicitation", false, says("One answer, and no request to the client."))
	tool("test_logging_tool", false, says("Nothing is logged to the client."))
	described := func(name, schema string, handler mcp.ToolHandler) {
		server.AddTool(&mcp.Tool{Name: name, Description: "A fixture.", InputSchema: json.RawMessage(schema)}, handler)
	}
	done := func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{says("Done.")}}, nil
	}
	described("test_x_mcp_header", `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`, done)
	described("json_schema_2020_12_tool", `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
		"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
		"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},
		"phone":{"type":"string"},"email":{"type":"string"}},"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
		"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},
		"else":{"required":["email"]},"additionalProperties":false}`, done)
	described("test_missing_capability", `{"type":"object"}`, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		data := json.RawMessage(`{"requiredCapabilities":{"sampling":{}}}`)
		return nil, &jsonrpc.Error{Code: mcp.CodeMissingRequiredClientCapabilities, Message: "sampling is needed", Data: data}
	})
	resource := func(uri, mime string, contents mcp.ResourceContents) {
		contents.URI, contents.MIMEType = uri, mime
		server.AddResource(&mcp.Resource{URI: uri, Name: uri, MIMEType: mime}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&contents}}, nil
		})
	}
	resource("test://static-text", "text/plain", mcp.ResourceContents{Text: "This is the content of the static text resource."})
	resource("test://static-binary", "image/png", mcp.ResourceContents{Blob: pixel})
	server.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "test://template/{id}/data", Name: "template", MIMEType: "application/json"},
		func(_ context.Context, request *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			id := strings.Split(request.Params.URI, "/")[3]
			return contents(request.Params.URI, "application/json", `{"id":"`+id+`","templateTest":true,"data":"Data for ID: `+id+`"}`), nil
		})
	prompt := func(name string, arguments []string, contents func(map[string]string) []mcp.Content) {
		known := &mcp.Prompt{Name: name, Description: "A fixture."}
		for _, argument := range arguments {
			known.Arguments = append(known.Arguments, &mcp.PromptArgument{Name: argument, Required: true})
		}
		server.AddPrompt(known, func(_ context.Context, request *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			result := &mcp.GetPromptResult{}
			for _, content := range contents(request.Params.Arguments) {
				result.Messages = append(result.Messages, &mcp.PromptMessage{Role: "user", Content: content})
			}
			return result, nil
		})
	}
	prompt("test_simple_prompt", nil, func(map[string]string) []mcp.Content {
		return []mcp.Content{says("This is a simple prompt for testing.")}
	})
	prompt("test_prompt_with_arguments", []string{"arg1", "arg2"}, func(a map[string]string) []mcp.Content {
		return []mcp.Content{says("Prompt with arguments: arg1='" + a["arg1"] + "', arg2='" + a["arg2"] + "'")}
	})
	prompt("test_prompt_with_embedded_resource", []string{"resourceUri"}, func(a map[string]string) []mcp.Content {
		return []mcp.Content{embedded(a["resourceUri"]), says("Please process the embedded resource above.")}
	})
	prompt("test_prompt_with_image", nil, func(map[string]string) []mcp.Content {
		return []mcp.Content{image, says("Please analyze the image above.")}
	})
}

// TestConformance runs the official suite against a server with the options, the guards and
// the admission of this package. CONFORMANCE is the folder in which npm installed
// @modelcontextprotocol/conformance@0.2.0-alpha.12 and node@22, which the suite needs:
//
//	npm i @modelcontextprotocol/conformance@0.2.0-alpha.12 node@22
//
// The scenarios that fail are in testdata/conformance.yml, each with its reason.
func TestConformance(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("CONFORMANCE")
	if folder == "" {
		t.Skip("CONFORMANCE is not set")
	}
	open := api.Defaults()
	open.RateLimit = false
	mux, err := api.New(open, oneCaller{}, oneCaller{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	cfg := Defaults()
	cfg.Guide, cfg.Version = func() string { return "guide" }, "test"
	s, err := Mount(mux, cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.extend = fixtures
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer any") // the suite sends none
		mux.Handler().ServeHTTP(w, r)
	}))
	defer server.Close()
	expected, err := filepath.Abs("testdata/conformance.yml")
	if err != nil {
		t.Fatal(err)
	}
	suite := exec.CommandContext(t.Context(), "node_modules/node/bin/node", "node_modules/.bin/conformance", "server",
		"--url", server.URL+api.AgentsPath, "--requirements", "2026-07-28", "--expected-failures", expected, "--output-dir", t.TempDir())
	suite.Dir = folder
	text, err := suite.CombinedOutput()
	if t.Logf("%s", text); err != nil {
		t.Errorf("the suite: %v", err)
	}
}
