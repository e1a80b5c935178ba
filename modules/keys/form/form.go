// Package form makes the text of keys, and tells a key from other text without the
// database.
package form

import (
	"crypto/sha256"
	"hash/crc32"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/secret"
)

// The two forms of a key: prefix, 43 digits of 32 random bytes, 6 of checksum.
const (
	Live    = "scr_live_"
	Session = "scr_sess_"

	checksumLength = 6
	length         = len(Live) + secret.Length + checksumLength
)

// New returns the text of a new key with the prefix Live or Session.
func New(prefix string) string {
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
	if len(text) != length {
		return nil, false, false
	}
	session = strings.HasPrefix(text, Session)
	if !session && !strings.HasPrefix(text, Live) {
		return nil, false, false
	}
	body := len(text) - checksumLength
	if !secret.Clean(text[len(Live):]) || checksum(text[:body]) != text[body:] {
		return nil, false, false
	}
	sum := sha256.Sum256([]byte(text))
	return sum[:], session, true
}
