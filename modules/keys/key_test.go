package keys

import (
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
)

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
				t.Errorf("got error %v, want kind %q", err, c.want)
			}
		})
	}
}
