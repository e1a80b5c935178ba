package secret

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// Hasher hashes names with a key: equal names are recognised, and a reader who has the hashes but
// not the key can neither read a name nor try one.
type Hasher struct{ key []byte }

// NewHasher returns the hasher of a key, an unguessable text of at least MinKey bytes. Hashers
// for different purposes never agree on a name.
func NewHasher(key, purpose string) (*Hasher, error) {
	if len(key) < MinKey {
		return nil, fmt.Errorf("the key has %d bytes, want at least %d", len(key), MinKey)
	}
	derived, err := hkdf.Key(sha256.New, []byte(key), nil, "scrollery hashed names 1 "+purpose, sha256.Size)
	return &Hasher{derived}, err
}

// Hash returns the hash of the parts in their order, as 32 hexadecimal digits.
func (h *Hasher) Hash(parts ...string) string {
	mac := hmac.New(sha256.New, h.key)
	for _, part := range parts {
		mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part)))) // so that no part runs into the next
		mac.Write([]byte(part))
	}
	return hex.EncodeToString(mac.Sum(nil)[:16])
}
