// Package weburl checks and normalises untrusted web addresses.
//
// It decides by the text alone and never resolves or fetches anything. A name that is
// public today may resolve to a private machine tomorrow, so a client must also check
// the resolved address when it dials; Control does that for a net.Dialer.
package weburl

import (
	"errors"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is the kind of an address.
type Kind string

// The kinds, with their names in `subjectType`.
const (
	Website  Kind = "website"
	AppStore Kind = "app_store"
)

// Address is a public HTTPS address in normal form.
type Address struct {
	// Kind is AppStore only if AppID is set.
	Kind Kind
	// URL has a lower-case host in punycode, no default port, no fragment, no
	// tracking parameters and no trailing slash. Parsing it again gives the same.
	URL string
	// Host is the name or IP address, without port and brackets.
	Host string
	// AppID is the numeric id of an app-store address.
	AppID string
}

// CanonicalID returns the identity of the subject: `app_store:<digits>` or
// `website:<host without www.>`. The host www.com is kept: its www is the site's name.
func (a Address) CanonicalID() string {
	if a.Kind == AppStore {
		return string(AppStore) + ":" + a.AppID
	}
	host := a.Host
	if bare, ok := strings.CutPrefix(host, "www."); ok && strings.Contains(bare, ".") {
		host = bare
	}
	return string(Website) + ":" + host
}

// InAppStore reports whether the host is an app store's, with or without an app id.
func (a Address) InAppStore() bool { return isAppStoreHost(a.Host) }

var (
	errScheme      = errors.New("must begin with https://")
	errCharacters  = errors.New("must not contain spaces, control characters or backslashes")
	errCredentials = errors.New("must not contain a user name or password")
	errPort        = errors.New("has a port that is not a number from 1 to 65535")
	errAppID       = errors.New("must be an apps.apple.com or itunes.apple.com address with a numeric app id, such as /id284882215")
)

// Parse reads a public HTTPS address, of a website or of an app. Its errors are
// short clauses that may be shown to the caller: "must begin with https://".
func Parse(text string) (Address, error) {
	for _, r := range text {
		if r == utf8.RuneError || r == '\\' || unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return Address{}, errCharacters
		}
	}
	const scheme = "https://"
	if len(text) < len(scheme) || !strings.EqualFold(text[:len(scheme)], scheme) {
		return Address{}, errScheme
	}
	authority, rest := text[len(scheme):], ""
	if end := strings.IndexAny(authority, "/?#"); end >= 0 {
		authority, rest = authority[:end], authority[end:]
	}
	host, port, err := splitAuthority(authority)
	if err != nil {
		return Address{}, err
	}
	tail, err := parseTail(rest, isAppStoreHost(host))
	if err != nil {
		return Address{}, err
	}
	shown := host
	if strings.Contains(host, ":") {
		shown = "[" + host + "]"
	}
	a := Address{Kind: Website, URL: scheme + shown + port + tail.text, Host: host}
	if isAppStoreHost(host) {
		if id, ok := appID(tail.path, tail.query); ok {
			a.Kind, a.AppID = AppStore, id
		}
	}
	return a, nil
}

// ParseAppStore reads the address of an app in an app store.
func ParseAppStore(text string) (Address, error) {
	a, err := Parse(text)
	if err != nil {
		return Address{}, err
	}
	if a.Kind != AppStore {
		return Address{}, errAppID
	}
	return a, nil
}

// splitAuthority returns the host in normal form and the port with its colon, empty
// for 443.
func splitAuthority(authority string) (host, port string, err error) {
	if strings.Contains(authority, "@") {
		return "", "", errCredentials
	}
	if strings.HasPrefix(authority, "[") {
		end := strings.Index(authority, "]")
		if end < 0 {
			return "", "", errors.New("has an unclosed bracket in its host")
		}
		host, port = authority[1:end], authority[end+1:]
		if port != "" && port[0] != ':' {
			return "", "", errPort
		}
		host, err = parseIPv6(host)
	} else {
		colon := strings.IndexByte(authority, ':')
		if colon < 0 {
			colon = len(authority)
		}
		host, port = authority[:colon], authority[colon:]
		host, err = parseName(host)
	}
	if err != nil {
		return "", "", err
	}
	port, err = parsePort(port)
	return host, port, err
}

func parsePort(port string) (string, error) {
	if port == "" {
		return "", nil
	}
	number, err := strconv.ParseUint(port[1:], 10, 16)
	switch {
	case err != nil || number == 0 || len(port) > len(":65535"):
		return "", errPort
	case number == 443:
		return "", nil
	}
	return ":" + strconv.FormatUint(number, 10), nil
}

func parseIPv6(host string) (string, error) {
	ip, err := netip.ParseAddr(host)
	if err != nil || !ip.Is6() || ip.Zone() != "" {
		return "", errors.New("has a host in brackets that is not an IPv6 address")
	}
	if !PublicIP(ip) {
		return "", errPrivate
	}
	return ip.String(), nil
}

// tail is the part of an address after the host.
type tail struct {
	text, path, query string
}

func parseTail(rest string, appStore bool) (tail, error) {
	parsed, err := url.Parse("https://host" + rest)
	if err != nil {
		return tail{}, errors.New("has a malformed percent escape")
	}
	t := tail{path: strings.TrimRight(parsed.EscapedPath(), "/"), query: cleanQuery(parsed.RawQuery, appStore)}
	t.text = t.path
	if t.query != "" {
		t.text += "?" + t.query
	}
	return t, nil
}
