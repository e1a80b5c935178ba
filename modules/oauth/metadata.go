package oauth

import (
	"encoding/json"
	"net/http"
	"strings"
)

// resourceMetadata describes what the tokens are for (RFC 9728).
type resourceMetadata struct {
	Resource      string   `json:"resource"`
	Servers       []string `json:"authorization_servers"`
	Scopes        []string `json:"scopes_supported"`
	Methods       []string `json:"bearer_methods_supported"`
	Name          string   `json:"resource_name"`
	Documentation string   `json:"resource_documentation"`
}

// serverMetadata describes the authorization server (RFC 8414).
type serverMetadata struct {
	Issuer            string   `json:"issuer"`
	Authorize         string   `json:"authorization_endpoint"`
	Token             string   `json:"token_endpoint"`
	Scopes            []string `json:"scopes_supported"`
	ResponseTypes     []string `json:"response_types_supported"`
	ResponseModes     []string `json:"response_modes_supported"`
	GrantTypes        []string `json:"grant_types_supported"`
	TokenAuth         []string `json:"token_endpoint_auth_methods_supported"`
	Challenges        []string `json:"code_challenge_methods_supported"`
	ClientDocuments   bool     `json:"client_id_metadata_document_supported"`
	NamesItself       bool     `json:"authorization_response_iss_parameter_supported"`
	ProtectedResource []string `json:"protected_resources"`
	Documentation     string   `json:"service_documentation"`
}

// isPlainQuery reports whether a query is one that an address may have in metadata: it
// chooses tools.
func isPlainQuery(query string) bool { return isWord(query, 1, 200, "_,.=&%~-") }

// isWord reports whether a text has so many characters, each a letter or a digit of ASCII
// or one of others.
func isWord(text string, least, most int, others string) bool {
	return len(text) >= least && len(text) <= most && strings.Trim(text, alphanumeric+others) == ""
}

const alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// serveMetadata answers the well-known addresses. They are public, and the same for everyone.
func (s *Service) serveMetadata(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("X-Content-Type-Options", "nosniff")
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodOptions:
		header.Set("Access-Control-Allow-Methods", "GET, HEAD")
		header.Set("Access-Control-Allow-Headers", "Mcp-Protocol-Version")
		w.WriteHeader(http.StatusNoContent)
		return
	default:
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "The metadata is only read.", http.StatusMethodNotAllowed)
		return
	}
	base := s.cfg.BaseURL
	var answer any = serverMetadata{
		Issuer: base, Authorize: base + AuthorizePath, Token: base + TokenPath, Scopes: s.needs.Protocols.AgentScopes(),
		ResponseTypes: []string{"code"}, ResponseModes: []string{"query"}, GrantTypes: []string{"authorization_code"},
		TokenAuth: []string{"none"}, Challenges: []string{"S256"}, ClientDocuments: true, NamesItself: true,
		ProtectedResource: []string{base + agentsPath}, Documentation: base + "/docs/oauth",
	}
	if suffix, ofResource := strings.CutPrefix(r.URL.Path, resourcesPath); ofResource {
		resource := base + suffix
		if suffix != "" && isPlainQuery(r.URL.RawQuery) {
			resource += "?" + r.URL.RawQuery // the address of a choice of tools is a resource, too
		}
		answer = resourceMetadata{
			Resource: resource, Servers: []string{base}, Scopes: s.needs.Protocols.AgentScopes(), Methods: []string{"header"},
			Name: "Scrollery", Documentation: base + "/docs/mcp",
		}
	}
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "public, max-age=300")
	writeJSON(w, http.StatusOK, answer)
}

func writeJSON(w http.ResponseWriter, status int, answer any) {
	text, err := json.Marshal(answer)
	if err != nil {
		http.Error(w, "The answer could not be made.", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client may be gone
}
