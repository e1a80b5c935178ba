package secret_test

import (
	"strings"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/secret"
)

func TestHasher(t *testing.T) {
	t.Parallel()
	made := func(key, purpose string) *secret.Hasher {
		r, err := secret.ParseRing(strings.Repeat(key, secret.MinKey))
		if err != nil {
			t.Fatal(err)
		}
		h, err := r.Hasher(purpose)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	want := made("a", "videos").Hash("tiktok", "12")
	if again := made("a", "videos").Hash("tiktok", "12"); again != want || len(want) != 32 {
		t.Errorf("the same name again: got %q and %q, want the same 32 digits", again, want)
	}
	for name, got := range map[string]string{
		"another key":     made("b", "videos").Hash("tiktok", "12"),
		"another purpose": made("a", "creators").Hash("tiktok", "12"),
		"another part":    made("a", "videos").Hash("tiktok", "13"),
		"a shifted part":  made("a", "videos").Hash("tiktok1", "2"),
	} {
		if got == want {
			t.Errorf("%s: got the same hash, want another one", name)
		}
	}
}
