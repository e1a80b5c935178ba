package oauth

import (
	"net/url"
	"strings"
)

// params are the parameters of an authorization request, in the order of the form.
var params = []string{
	"response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method", "resource", "response_mode",
}

// longest is the most bytes of each parameter.
var longest = map[string]int{
	"response_type": 32, "client_id": maxClientID, "redirect_uri": 1024, "scope": 1024, "state": 1024,
	"code_challenge": 128, "code_challenge_method": 16, "resource": 512, "response_mode": 32,
}

// request is an authorization request.
type request struct {
	clientID, redirectURI, state string
	scopes                       []string
	challenge, resource          string
	// host of the client's address, and back, where the person is sent to afterwards.
	host, back string
	loopback   bool
}

// refused is why a request is not served. With an address to go back to, the client is to
// be told: the code is of RFC 6749.
type refused struct {
	code, why string
}

// single returns the parameters of a request; others are ignored. why says what is wrong
// with them.
func single(values url.Values) (found map[string]string, why string) {
	found = map[string]string{}
	for _, name := range params {
		given := values[name]
		if len(given) > 1 {
			return nil, name + " is given twice."
		}
		if len(given) == 0 {
			continue
		}
		if len(given[0]) > longest[name] || strings.ContainsFunc(given[0], func(c rune) bool { return c < 0x20 || c == 0x7f || c == 0xfffd }) {
			return nil, name + " is too long, or has characters that it may not have."
		}
		found[name] = given[0]
	}
	return found, ""
}

// judge reads what follows the client and its redirect address, which are known to be right.
func (s *Service) judge(q *request, given map[string]string) *refused {
	scopes, known := s.offered(given["scope"])
	switch {
	case given["response_type"] == "":
		return &refused{"invalid_request", "response_type is needed."}
	case given["response_type"] != "code":
		return &refused{"unsupported_response_type", "response_type must be code."}
	case given["response_mode"] != "" && given["response_mode"] != "query":
		return &refused{"invalid_request", "response_mode must be query."}
	case given["code_challenge_method"] != "S256" || !isWord(given["code_challenge"], 43, 43, "_-"):
		return &refused{"invalid_request", "PKCE is needed: code_challenge, with code_challenge_method S256."}
	case given["resource"] == "":
		return &refused{"invalid_target", "resource is needed: " + s.cfg.BaseURL + agentsPath + "."}
	case !s.ours(given["resource"]):
		return &refused{"invalid_target", "resource must be " + s.cfg.BaseURL + agentsPath + "."}
	case !known || len(scopes) == 0:
		return &refused{"invalid_scope", "scope names one that no tool needs."}
	}
	q.scopes, q.challenge, q.resource = scopes, given["code_challenge"], given["resource"]
	return nil
}

// answerTo is the client's address with the parameters of an answer, and the issuer
// (RFC 9207).
func (s *Service) answerTo(redirectURI, state string, answer map[string]string) string {
	query := url.Values{"iss": {s.cfg.BaseURL}}
	for name, value := range answer {
		query.Set(name, value)
	}
	if state != "" {
		query.Set("state", state)
	}
	separator := "?"
	if strings.Contains(redirectURI, "?") {
		separator = "&"
	}
	return redirectURI + separator + query.Encode()
}

// target describes an address that redirectForm matches: its origin, and its host for people.
func target(redirectURI string) (origin, host string, loopback bool) {
	parsed, err := url.Parse(redirectURI)
	if err != nil {
		return "", "", false
	}
	return parsed.Scheme + "://" + parsed.Host, parsed.Host, parsed.Scheme == "http"
}
