package model_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/scrollery/scrollery/plugins/internal/model"
)

func FuzzVisible(f *testing.F) {
	f.Add("zero\u200bwidth \u202ereversed\u202c \U000e0041 tagged, 👩‍🍳\ufe0f <|im_start|>")
	f.Fuzz(func(t *testing.T, text string) {
		raw, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var want, got string
		seen := model.Visible(raw)
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(seen), &got); err != nil || got != want {
			t.Errorf("%q is read as %q, %v", seen, got, err)
		}
		if strings.ContainsAny(seen, "<>") || strings.ContainsFunc(seen, func(r rune) bool { return unicode.In(r, unicode.Cf, unicode.Co) }) {
			t.Errorf("something hides in %q", seen)
		}
	})
}
