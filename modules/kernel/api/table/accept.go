package table

import (
	"mime"
	"strconv"
	"strings"
)

// maxAccept is how many media types of a request are looked at.
const maxAccept = 32

// Chosen returns the format that the header Accept prefers to JSON; nil for JSON. Among
// the types that it names, the one of the highest weight wins, then the first. A wildcard
// stands for JSON, and wins only with a higher weight. What is not offered is ignored: a
// list is JSON where nothing else fits.
func Chosen(accept []string) *Format {
	var chosen *Format
	best, other := 0.0, 0.0 // the highest weight of a named type, and of a wildcard
	seen := 0
	for _, header := range accept {
		for part := range strings.SplitSeq(header, ",") {
			if seen++; seen > maxAccept {
				return nil
			}
			name, parameters, err := mime.ParseMediaType(part)
			if err != nil {
				continue
			}
			weight := 1.0
			if q, set := parameters["q"]; set {
				if weight, err = strconv.ParseFloat(q, 64); err != nil || weight != weight {
					continue
				}
			}
			if name == "*/*" || name == "application/*" {
				other = max(other, weight)
				continue
			}
			if format, offered := named(name); offered && weight > best {
				chosen, best = format, weight
			}
		}
	}
	if other > best {
		return nil
	}
	return chosen
}

// named returns the format of a media type; nil for JSON.
func named(name string) (f *Format, offered bool) {
	if name == "application/json" {
		return nil, true
	}
	for _, f := range Formats() {
		if f.MediaType == name {
			return f, true
		}
	}
	return nil, false
}
