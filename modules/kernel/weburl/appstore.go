package weburl

import (
	"net/url"
	"strings"
)

func isAppStoreHost(host string) bool {
	return host == "apps.apple.com" || host == "itunes.apple.com"
}

// appID returns the app's number: the path segment `id<digits>`, otherwise the `id` of
// the query. It fails if there are different numbers.
func appID(path, query string) (string, bool) {
	var ids []string
	for segment := range strings.SplitSeq(path, "/") {
		if digits, ok := strings.CutPrefix(segment, "id"); ok && isAppID(digits) {
			ids = append(ids, digits)
		}
	}
	if len(ids) == 0 {
		for part := range strings.SplitSeq(query, "&") {
			name, value, _ := strings.Cut(part, "=")
			if name != "id" {
				continue
			}
			value, err := url.QueryUnescape(value)
			if err != nil || !isAppID(value) {
				return "", false
			}
			ids = append(ids, value)
		}
	}
	for _, id := range ids {
		if id != ids[0] {
			return "", false
		}
	}
	if len(ids) == 0 {
		return "", false
	}
	return ids[0], true
}

// isAppID reports whether text is 1 to 20 digits that do not start with 0.
func isAppID(text string) bool {
	if len(text) == 0 || len(text) > 20 || text[0] == '0' {
		return false
	}
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}
