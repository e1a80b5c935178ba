package form

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func TestDigestKnowsItsOwnKeys(t *testing.T) {
	t.Parallel()
	for prefix, wantSession := range map[string]bool{Live: false, Session: true} {
		t.Run(prefix, func(t *testing.T) {
			text := New(prefix)
			if !regexp.MustCompile(`^scr_(live|sess)_[0-9A-Za-z]{49}$`).MatchString(text) {
				t.Errorf("got key %q, want the prefix and 49 letters and digits", text)
			}
			hash, session, ok := Digest(text)
			want := sha256.Sum256([]byte(text))
			if !ok || session != wantSession || !bytes.Equal(hash, want[:]) {
				t.Errorf("Digest(%q) = %x, %v, %v; want %x, %v, true", text, hash, session, ok, want, wantSession)
			}
		})
	}
}

func TestDigestRefusesTypos(t *testing.T) {
	t.Parallel()
	text := New(Live)
	for i := range text {
		typo := text[:i] + string(other(text[i])) + text[i+1:]
		if _, _, ok := Digest(typo); ok {
			t.Errorf("a typo at %d: got it taken, want it refused", i)
		}
		if i > 0 && text[i] != text[i-1] {
			swapped := text[:i-1] + string(text[i]) + string(text[i-1]) + text[i+1:]
			if _, _, ok := Digest(swapped); ok {
				t.Errorf("a swap at %d: got it taken, want it refused", i)
			}
		}
	}
	body := Live + strings.Repeat("-", 43)
	for _, text := range []string{
		"", "scr_live_", text[1:], text + "0", " " + text[1:], strings.ToLower(text), strings.Repeat("0", len(text)),
		Session + text[len(Live):], body + checksum(body),
	} {
		t.Run(fmt.Sprintf("%q is refused", text), func(t *testing.T) {
			if _, _, ok := Digest(text); ok {
				t.Errorf("got %q taken, want it refused", text)
			}
		})
	}
}

func other(digit byte) byte {
	if digit == 'x' {
		return 'y'
	}
	return 'x'
}

func BenchmarkDigest(b *testing.B) {
	text := New(Live)
	b.ReportAllocs()
	for b.Loop() {
		Digest(text)
	}
}
