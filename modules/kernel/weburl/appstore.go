package weburl

import (
	"net/url"
	"slices"
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
		if id, ok := strings.CutPrefix(segment, "id"); ok && isAppID(id) {
			ids = append(ids, id)
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
	if ids = slices.Compact(ids); len(ids) != 1 {
		return "", false
	}
	return ids[0], true
}

// isAppID reports whether text is 1 to 20 digits that do not start with 0.
func isAppID(text string) bool {
	return 0 < len(text) && len(text) <= 20 && text[0] != '0' && strings.Trim(text, digits) == ""
}
