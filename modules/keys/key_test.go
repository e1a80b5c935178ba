package keys

import (
	"bytes"
	"crypto/sha256"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
)

func TestDigestKnowsItsOwnKeys(t *testing.T) {
	t.Parallel()
	for prefix, wantSession := range map[string]bool{livePrefix: false, sessionPrefix: true} {
		text := newKey(prefix)
		if !regexp.MustCompile(`^scr_(live|sess)_[0-9A-Za-z]{49}$`).MatchString(text) {
			t.Errorf("key %q", text)
		}
		hash, session, ok := Digest(text)
		want := sha256.Sum256([]byte(text))
		if !ok || session != wantSession || !bytes.Equal(hash, want[:]) {
			t.Errorf("Digest(%q) = %x, %v, %v; want %x, %v, true", text, hash, session, ok, want, wantSession)
		}
	}
}

func TestDigestRefusesTypos(t *testing.T) {
	t.Parallel()
	text := newKey(livePrefix)
	for i := range text {
		typo := text[:i] + string(other(text[i])) + text[i+1:]
		if _, _, ok := Digest(typo); ok {
			t.Errorf("a typo at %d was taken", i)
		}
		if i > 0 && text[i] != text[i-1] {
			swapped := text[:i-1] + string(text[i]) + string(text[i-1]) + text[i+1:]
			if _, _, ok := Digest(swapped); ok {
				t.Errorf("a swap at %d was taken", i)
			}
		}
	}
	body := livePrefix + strings.Repeat("-", 43)
	for _, text := range []string{
		"", "scr_live_", text[1:], text + "0", " " + text[1:], strings.ToLower(text), strings.Repeat("0", len(text)),
		sessionPrefix + text[len(livePrefix):], body + checksum(body),
	} {
		if _, _, ok := Digest(text); ok {
			t.Errorf("%q was taken", text)
		}
	}
}

func other(digit byte) byte {
	if digit == 'x' {
		return 'y'
	}
	return 'x'
}

func TestStateOfKeys(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_000_000)
	past, now, future := int64(999_999), int64(1_000_000), int64(1_000_001)
	session := func(change func(*State)) State {
		s := State{Session: true, Found: true, ExpiresAt: &future, ParentFound: true}
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		state State
		want  apierr.Kind
	}{
		"a lasting key":                   {State{Found: true}, ""},
		"an unknown key":                  {State{}, apierr.Unauthorized},
		"a revoked key":                   {State{Found: true, RevokedAt: &past}, apierr.Unauthorized},
		"an expired key":                  {State{Found: true, ExpiresAt: &now}, apierr.Unauthorized},
		"a session key":                   {session(func(*State) {}), ""},
		"an unknown session key":          {State{Session: true}, apierr.AuthRequired},
		"an expired session key":          {session(func(s *State) { s.ExpiresAt = &now }), apierr.AuthRequired},
		"a revoked session key":           {session(func(s *State) { s.RevokedAt = &past }), apierr.AuthRequired},
		"a session key without a parent":  {session(func(s *State) { s.ParentFound = false }), apierr.AuthRequired},
		"a session key of a revoked key":  {session(func(s *State) { s.ParentRevokedAt = &past }), apierr.AuthRequired},
		"a session key of an expired key": {session(func(s *State) { s.ParentExpiresAt = &now }), apierr.AuthRequired},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.state.Check(at)
			if c.want == "" && err != nil || c.want != "" && !apierr.Is(err, c.want) {
				t.Errorf("error %v, want kind %q", err, c.want)
			}
		})
	}
}

func BenchmarkDigest(b *testing.B) {
	text := newKey(livePrefix)
	b.ReportAllocs()
	for b.Loop() {
		Digest(text)
	}
}
