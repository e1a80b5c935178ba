// Package secret makes the unguessable texts that the service shows once.
//
// They are base62: a double click selects all of one, and no URL or shell needs to
// quote it. The package stores nothing; its users store only hashes.
package secret

import (
	"crypto/rand"
	"math/big"
	"strings"
)

// Digits are the base62 digits in the order of their values.
const Digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Length is the number of digits that New returns: enough for any 32 bytes.
const Length = 43

// New returns 32 random bytes as 43 base62 digits, leading zeros included.
func New() string {
	var raw [32]byte
	rand.Read(raw[:]) // never fails: the runtime ends the process first
	number := new(big.Int).SetBytes(raw[:])
	base, digit := big.NewInt(62), new(big.Int)
	var out [Length]byte
	for i := len(out) - 1; i >= 0; i-- {
		number.DivMod(number, base, digit)
		out[i] = Digits[digit.Int64()]
	}
	return string(out[:])
}

// Encode returns n as exactly width base62 digits, without the higher ones.
func Encode(n uint64, width int) string {
	out := make([]byte, width)
	for i := width - 1; i >= 0; i-- {
		out[i] = Digits[n%62]
		n /= 62
	}
	return string(out)
}

// Clean reports whether text has only base62 digits.
func Clean(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool {
		return !('0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z')
	}) < 0
}
