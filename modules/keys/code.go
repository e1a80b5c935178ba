package keys

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"math/big"
	"time"
)

// purpose is what a one-time code is for; a code of one is none of the other.
type purpose string

const (
	forRecovery purpose = "" // null in the table
	forSignIn   purpose = "sign_in"
)

// code is a one-time code as it is stored: it cannot be read back.
type code struct {
	id      int64 // 0 for one that is not stored
	purpose purpose
	email   string
	// accountID is 0 for an address without an account: its codes open nothing,
	// and are kept so that the difference does not show.
	accountID            int64
	hash, salt           []byte
	createdAt, expiresAt time.Time
	tries                int
	// askers holds a mark of the client for each try.
	askers []byte
	used   bool
	// linkHash is the hash of the link's token, or the word, in the same mail.
	linkHash      []byte
	linkExpiresAt time.Time
}

// markSize is the length of a client's mark, in bytes.
const markSize = 8

// mark returns what is stored of a client's address: a salted hash, so that no address
// is kept.
func (c code) mark(client string) []byte { return hashDigits(c.salt, "client "+client)[:markSize] }

// triesOf returns how often the client of the mark has tried.
func (c code) triesOf(mark []byte) (tries int) {
	for at := 0; at+markSize <= len(c.askers); at += markSize {
		if bytes.Equal(c.askers[at:at+markSize], mark) {
			tries++
		}
	}
	return tries
}

// newDigits returns six random digits.
func newDigits() (string, error) {
	number, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
	if err != nil {
		return "", fmt.Errorf("make a one-time code: %w", err)
	}
	return fmt.Sprintf("%06d", number), nil
}

// newCode hashes the digits under a salt of their own. No digits are no code: none is right.
func newCode(email string, accountID int64, digits string, at, expiresAt time.Time) code {
	salt := make([]byte, 16)
	rand.Read(salt) // never fails: the runtime ends the process first
	return code{
		email: email, accountID: accountID, salt: salt, hash: hashDigits(salt, digits),
		createdAt: at, expiresAt: expiresAt,
	}
}

func hashDigits(salt []byte, digits string) []byte {
	mac := hmac.New(sha256.New, salt)
	mac.Write([]byte(digits))
	return mac.Sum(nil)
}

// matches takes the same time whatever the digits are.
func (c code) matches(digits string) bool {
	return digits != "" && hmac.Equal(c.hash, hashDigits(c.salt, digits))
}
