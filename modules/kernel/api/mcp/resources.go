package mcp

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scrollery/scrollery/modules/kernel/api"
)

// Addresses of resources.
const (
	briefURI      = "scrollery://brief"
	rulesURI      = "scrollery://rules"
	guideURI      = "scrollery://llms.txt"
	scrollsURI    = "scrollery://scrolls/"
	coverageEnd   = "/coverage"
	coverageShape = scrollsURI + "{id}" + coverageEnd
)

// resourceScopes are the scopes that resources need.
var resourceScopes = []string{"workspace:read", "rules:read", "scrolls:read"}

// addResources offers the resources that a caller may read. Reading one is a call of its
// operation.
func (s *Server) addResources(server *mcp.Server, has func(scope string) bool) {
	const mime = "application/json"
	server.AddResource(&mcp.Resource{URI: guideURI, Name: "llms.txt", Title: "Guide for agents", MIMEType: "text/plain"},
		func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return contents(guideURI, "text/plain", s.config.Guide()), nil
		})
	if has(resourceScopes[0]) && s.byID["getWorkspace"] != nil {
		server.AddResource(&mcp.Resource{URI: briefURI, Name: "brief", Title: "The brief", MIMEType: mime}, s.reads("getWorkspace"))
	}
	if has(resourceScopes[1]) && s.byID["getRules"] != nil {
		server.AddResource(&mcp.Resource{URI: rulesURI, Name: "rules", Title: "The rules", MIMEType: mime}, s.reads("getRules"))
	}
	if has(resourceScopes[2]) && s.byID["getScroll"] != nil {
		server.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: coverageShape, Name: "coverage", Title: "The coverage of a scroll", MIMEType: mime}, s.readCoverage)
	}
}

// reads returns the handler of a resource that is the answer of an operation without input.
func (s *Server) reads(id string) mcp.ResourceHandler {
	return func(ctx context.Context, request *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		shown, err := s.read(ctx, id, nil)
		if err != nil {
			return nil, err
		}
		shown.fit(s.config.Budget, nil)
		return contents(request.Params.URI, "application/json", string(shown.appendTo(nil))), nil
	}
}

func (s *Server) readCoverage(ctx context.Context, request *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri := request.Params.URI
	id := strings.TrimSuffix(strings.TrimPrefix(uri, scrollsURI), coverageEnd)
	shown, err := s.read(ctx, "getScroll", &node{kind: '{', names: []string{"id"}, nodes: []*node{text(id)}})
	if err != nil {
		return nil, err
	}
	scroll := shown.get("scroll")
	coverage := scroll.get("progress").get("coverage")
	if coverage == nil {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	out := &node{kind: '{', names: []string{"id", "status", "coverage"}, nodes: []*node{scroll.get("id"), scroll.get("status"), coverage}}
	out.fit(s.config.Budget, nil)
	return contents(uri, "application/json", string(out.appendTo(nil))), nil
}

// read calls an operation and shows all of its answer. A refusal is an error of the
// protocol, with the refusal as its data.
func (s *Server) read(ctx context.Context, id string, arguments *node) (*node, error) {
	t := s.byID[id]
	if arguments == nil {
		arguments = &node{kind: '{'}
	}
	out := api.Invoke(ctx, id, arguments.appendTo(nil))
	body, err := parse(out.Body)
	if err != nil {
		return nil, err
	}
	if out.Refused {
		return nil, refused(refusal(body, out.RetryAfter))
	}
	return (&view{}).message(body, t.Output), nil
}

func contents(uri, mime, text string) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: mime, Text: text}}}
}
