package api

import (
	"net/http"
	"slices"
	"strings"
)

// Values of headers that many answers share. They are never written to.
var (
	cachePublic  = []string{"no-cache"}
	cachePrivate = []string{"private, no-cache"}
	cacheNever   = []string{"no-store"}

	serviceDescription = []string{`</openapi.json>; rel="service-desc"`}

	varyOrigin = []string{"Origin"}
	varyAccept = []string{"Accept"}
	varyBoth   = []string{"Origin, Accept"}
	// exposed are the headers that a browser's script may read.
	exposed = []string{"RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, ETag, Link, WWW-Authenticate, Allow, " +
		"Grpc-Status, Grpc-Message, Grpc-Status-Details-Bin"}
	// accepted are the headers that a browser's script may send.
	accepted = []string{"Authorization, Content-Type, If-None-Match, Last-Event-ID, X-Request-Id, Connect-Protocol-Version, " +
		"Connect-Timeout-Ms, Grpc-Timeout, X-Grpc-Web, X-User-Agent, Mcp-Protocol-Version, Mcp-Method, Mcp-Name"}
	// preflightAge is how many seconds a browser may remember a preflight's answer.
	preflightAge = []string{"600"}
)

// underV1 reports whether the request is for a path of REST, known or not.
func (c *call) underV1() bool {
	path := c.request.URL.Path
	return path == "/v1" || strings.HasPrefix(path, "/v1/")
}

// describe sets the headers of every answer. open replaces Cache-Control for the
// answers of an operation.
func (c *call) describe() {
	c.header["Cache-Control"] = cachePublic
	if c.underV1() {
		c.header["Link"] = serviceDescription
	}
}

// shareWith lets scripts of the configured origins read the answer. It answers their
// preflights itself, and reports whether it did.
func (m *Mux) shareWith(w http.ResponseWriter, c *call) (answered bool) {
	if len(m.config.Origins) == 0 {
		return false
	}
	c.header["Vary"] = varyOrigin
	origin := c.request.Header["Origin"]
	if len(origin) != 1 || !slices.Contains(m.config.Origins, origin[0]) {
		return false
	}
	c.header["Access-Control-Allow-Origin"] = origin[:1:1]
	c.header["Access-Control-Expose-Headers"] = exposed
	methods := m.methods(c.request.URL.Path)
	if c.request.Method != http.MethodOptions || c.request.Header["Access-Control-Request-Method"] == nil || methods == "" {
		return false
	}
	c.set("Access-Control-Allow-Methods", methods)
	c.header["Access-Control-Allow-Headers"] = accepted
	c.header["Access-Control-Max-Age"] = preflightAge
	if c.underV1() {
		c.showRate()
	}
	c.sent, c.preflight = http.StatusNoContent, true
	w.WriteHeader(http.StatusNoContent)
	return true
}

// methods are the HTTP methods of a path, in a list; empty for an unknown path.
func (m *Mux) methods(path string) string {
	switch {
	case m.rest[path] != nil:
		return m.rest[path].allow
	case m.rpc[path] != nil && m.rpc[path].readOnly():
		return "GET, POST"
	case m.rpc[path] != nil:
		return "POST"
	case path == AgentsPath && m.agents != nil:
		return "POST"
	case path == "/openapi.json":
		return "GET, HEAD"
	}
	return ""
}

// AgentResource is where programs find out how to get a key for AgentsPath (RFC 9728).
const AgentResource = "/.well-known/oauth-protected-resource" + AgentsPath

// challenge is the header of a 401. At AgentsPath it tells programs where to sign in.
func (c *call) challenge() string {
	if c.request.URL.Path != AgentsPath || c.mux.agents == nil {
		return "Bearer"
	}
	address := c.mux.config.BaseURL + AgentResource
	if query := c.request.URL.RawQuery; query != "" && len(query) <= 200 && strings.Trim(query, plainQuery) == "" {
		address += "?" + query
	}
	text := `Bearer resource_metadata="` + address + `", scope="` + strings.Join(c.mux.AgentScopes(), " ") + `"`
	if c.request.Header["Authorization"] != nil {
		text += `, error="invalid_token"`
	}
	return text
}

// plainQuery are the characters of a query that may be within a header.
const plainQuery = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_,.=&%~-"
