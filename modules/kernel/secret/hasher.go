package secret

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Hasher hashes names with a key: equal names are recognised, and a reader who has the hashes but
// not the key can neither read a name nor try one.
type Hasher struct{ key []byte }

// hasherKey is the length in bytes of a hasher's key.
const hasherKey = sha256.Size

// Hasher returns the hasher of a purpose, the same whatever key seals: its hashes cannot be made
// again. Hashers for different purposes never agree on a name.
func (r *Ring) Hasher(purpose string) (*Hasher, error) {
	if key := r.names[purpose]; key != nil {
		return &Hasher{key}, nil
	}
	oldest := r.keys[len(r.keys)-1]
	derived, err := hkdf.Key(sha256.New, []byte(oldest), nil, "scrollery hashed names 1 "+purpose, hasherKey)
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
