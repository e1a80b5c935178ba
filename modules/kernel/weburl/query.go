package weburl

import (
	"net/url"
	"strings"
)

// cleanQuery removes tracking parameters and percent-encodes non-ASCII bytes. The rest
// stays unchanged and in order.
func cleanQuery(query string, appStore bool) string {
	var kept []string
	for part := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if part != "" && !isTracking(strings.ToLower(name), appStore) {
			kept = append(kept, part)
		}
	}
	return escapeQuery(strings.Join(kept, "&"))
}

func escapeQuery(query string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(query) {
		if c := query[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>'`{}|^", c) >= 0 {
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// isTracking reports whether a parameter only describes how a visitor arrived.
func isTracking(name string, appStore bool) bool {
	if strings.HasPrefix(name, "utm_") {
		return true
	}
	switch name {
	case "fbclid", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "msclkid", "ttclid", "twclid",
		"yclid", "igsh", "igshid", "li_fat_id", "mc_cid", "mc_eid", "mkt_tok", "_ga", "_gl",
		"_hsenc", "_hsmi", "ref_src", "s_kwcid", "srsltid", "vero_id", "oly_anon_id", "oly_enc_id",
		"epik", "rdt_cid", "sccid", "_openstat":
		return true
	case "at", "ct", "pt", "mt", "ls", "uo", "itscg", "itsct":
		return appStore
	}
	return false
}
