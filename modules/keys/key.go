package keys

import (
	"crypto/sha256"
	"hash/crc32"
	"strings"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/secret"
)

// The two forms of a key: prefix, 43 digits of 32 random bytes, 6 of checksum.
const (
	livePrefix     = "scr_live_"
	sessionPrefix  = "scr_sess_"
	checksumLength = 6
	keyLength      = len(livePrefix) + secret.Length + checksumLength
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

// newKey returns a key that is not stored yet.
func newKey(prefix string) string {
	text := prefix + secret.New()
	return text + checksum(text)
}

// checksum lets a typo and a random string be told from a key without a look
// into the database; it protects nothing.
func checksum(text string) string {
	return secret.Encode(uint64(crc32.ChecksumIEEE([]byte(text))), checksumLength)
}

// Digest returns what is stored of a key. session is true for a session key, false for a
// lasting one; ok is false for text that cannot be a key, a typo included.
func Digest(text string) (hash []byte, session, ok bool) {
	if len(text) != keyLength {
		return nil, false, false
	}
	session = strings.HasPrefix(text, sessionPrefix)
	if !session && !strings.HasPrefix(text, livePrefix) {
		return nil, false, false
	}
	body := len(text) - checksumLength
	if !secret.Clean(text[len(livePrefix):]) || checksum(text[:body]) != text[body:] {
		return nil, false, false
	}
	sum := sha256.Sum256([]byte(text))
	return sum[:], session, true
}

// State is what the database says about a key that was shown; see Admission.
// Times are Unix milliseconds, nil where the column is null.
type State struct {
	// Session is Digest's word, so that it is known of a missing row too.
	Session bool
	// Found is false where no row has the hash.
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
