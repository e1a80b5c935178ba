// Package secret makes the unguessable texts that the service hands out once.
//
// They are base62, so that a double click selects the whole, and no address or
// shell needs to quote them. What is stored of one is its hash alone.
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

// Encode returns n as exactly width base62 digits; higher ones are cut off.
func Encode(n uint64, width int) string {
	out := make([]byte, width)
	for i := width - 1; i >= 0; i-- {
		out[i] = Digits[n%62]
		n /= 62
	}
	return string(out)
}

// Clean tells whether text has base62 digits only.
func Clean(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool {
		return !('0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z')
	}) < 0
}
