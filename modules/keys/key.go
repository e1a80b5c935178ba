package keys

import (
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
)

// Key is what an operator may know about a key. The secret is in no list.
type Key struct {
	// ID and AccountID in their public form.
	ID, AccountID string
	Scopes        []string
	// Hint is the last four characters of the secret.
	Hint      string
	Session   bool
	CreatedAt time.Time
	// ExpiresAt is zero for a key that never expires.
	ExpiresAt time.Time
	// RevokedAt is zero for a key that is in force.
	RevokedAt time.Time
}

// State is what the database says about a key that was shown; see Admission.
// Times are Unix milliseconds, nil if the column is null.
type State struct {
	// Session is the word of form.Digest, so that it is known of a missing row too.
	Session bool
	// Found is false if no row has the hash.
	Found                bool
	ExpiresAt, RevokedAt *int64
	// ParentFound, ParentExpiresAt and ParentRevokedAt concern the lasting key
	// of a session key.
	ParentFound                      bool
	ParentExpiresAt, ParentRevokedAt *int64
}

// Check returns nil for a key in force at that moment. A session key that has
// ended, with its own time or with its parent, is auth_required: the caller's
// lasting key can mint another. Everything else is unauthorized.
func (s State) Check(at time.Time) error {
	now := at.UnixMilli()
	over := func(expires, revoked *int64) bool {
		return revoked != nil || expires != nil && *expires <= now
	}
	switch {
	case s.Session && (!s.Found || over(s.ExpiresAt, s.RevokedAt) ||
		!s.ParentFound || over(s.ParentExpiresAt, s.ParentRevokedAt)):
		return apierr.New(apierr.AuthRequired, "The session has ended; mint a new session key.")
	case !s.Found || over(s.ExpiresAt, s.RevokedAt):
		return Refused()
	}
	return nil
}

// Refused is the answer to a secret that is no key in force.
func Refused() error {
	return apierr.New(apierr.Unauthorized, "A valid API key is needed.")
}
