package mcp

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scrollery/scrollery/modules/kernel/api"
)

// Where clients find out that the server speaks the protocol, and how: the address that
// the extension of server cards reserves (SEP-2127, schema v2), and the one before it.
const (
	CardPath      = "/.well-known/mcp/server-card.json"
	AgentCardPath = api.AgentsPath + "/server-card"
)

// name of the server in registries; docs/server.json has it, too.
const name = "io.github.scrollery/scrollery"

const summary = "A private research library of short videos: hooks, outliers and trends with their evidence."

// card is the server card.
type card struct {
	Schema      string         `json:"$schema"`
	Name        string         `json:"name"`
	Title       string         `json:"title"`
	Description string         `json:"description"`
	Version     string         `json:"version"`
	WebsiteURL  string         `json:"websiteUrl"`
	Remotes     []remote       `json:"remotes"`
	Meta        map[string]any `json:"_meta,omitempty"`
}

type remote struct {
	Type     string   `json:"type"`
	URL      string   `json:"url"`
	Versions []string `json:"supportedProtocolVersions"`
	Headers  []header `json:"headers"`
}

type header struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Value       string `json:"value"`
	IsRequired  bool   `json:"isRequired"`
	IsSecret    bool   `json:"isSecret"`
}

// ServeCard answers GET and HEAD with the server card. It is the same for everyone.
func (s *Server) ServeCard(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "The card is only read.", http.StatusMethodNotAllowed)
		return
	}
	base := strings.TrimRight(s.config.BaseURL, "/")
	text, err := json.MarshalIndent(card{
		Schema: "https://static.modelcontextprotocol.io/schemas/v2/server-card.schema.json",
		Name:   name, Title: "Scrollery", Description: summary, Version: s.config.Version, WebsiteURL: base,
		Remotes: []remote{{
			Type: "streamable-http", URL: base + api.AgentsPath, Versions: mcp.SupportedProtocolVersions(),
			Headers: []header{{Name: "Authorization", Description: "An API key with the scopes of the tools. Clients with OAuth 2.1 need none.", Value: "Bearer {api_key}", IsSecret: true}},
		}},
	}, "", "  ")
	if err != nil {
		http.Error(w, "The card could not be made.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path == AgentCardPath {
		w.Header().Set("Content-Type", "application/mcp-server-card+json")
	}
	w.Header().Set("Cache-Control", "public, max-age=300")
	w.Header().Set("Access-Control-Allow-Origin", "*") // public, and the same for everyone
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(text) // the client may be gone
}
