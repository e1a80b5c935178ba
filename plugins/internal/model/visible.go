package model

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Visible is a JSON text in which nothing hides: what no eye can see (zero width,
// reversed, tagged letters) is written as its number, and so it means the same to
// every decoder. Marks that look like a turn of the conversation have lost
// their angle brackets to encoding/json already.
func Visible(text []byte) string {
	var out strings.Builder
	out.Grow(len(text))
	for _, r := range string(text) {
		if !unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp, unicode.Variation_Selector) {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
	}
	return out.String()
}
