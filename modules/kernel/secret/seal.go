package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// MinKey is the least length in bytes of the text of a sealing key.
const MinKey = 32

// Sealer encrypts secrets that have to be used again, for their place in the database. It seals
// with the newest key of a ring, and opens with all.
type Sealer struct{ keys []sealing }

type sealing struct {
	aead cipher.AEAD
	// mark tells a key from others, and nothing of it.
	mark []byte
}

const (
	sealVersion = 1
	markSize    = 4
)

// ErrOtherKey is the error of Open for what was sealed with another key.
var ErrOtherKey = errors.New("it was sealed with another key")

// NewSealer returns the sealer of the text of a ring: of a key, an unguessable text of at least
// MinKey bytes, or of several.
func NewSealer(text string) (*Sealer, error) {
	r, err := ParseRing(text)
	if err != nil {
		return nil, err
	}
	return r.Sealer()
}

// Sealer returns the sealer of the ring.
func (r *Ring) Sealer() (*Sealer, error) {
	s := &Sealer{}
	for _, key := range r.keys {
		derived, err := hkdf.Key(sha256.New, []byte(key), nil, "scrollery sealed secrets 1", 32+markSize)
		if err != nil {
			return nil, err
		}
		block, err := aes.NewCipher(derived[:32])
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return nil, err
		}
		s.keys = append(s.keys, sealing{aead, derived[32:]})
	}
	return s, nil
}

// KeyID tells the key that seals from others, and nothing of it: 8 hexadecimal digits.
func (s *Sealer) KeyID() string { return hex.EncodeToString(s.keys[0].mark) }

// IsOld reports that something was sealed with another key than the one that seals now.
func (s *Sealer) IsOld(sealed []byte) bool {
	return len(sealed) > markSize && string(sealed[1:1+markSize]) != string(s.keys[0].mark)
}

// Reseal seals with the newest key what was sealed with an older one for the place.
func (s *Sealer) Reseal(sealed []byte, place string) ([]byte, error) {
	plain, err := s.Open(sealed, place)
	if err != nil {
		return nil, err
	}
	return s.Seal(plain, place), nil
}

// Seal encrypts a secret. place is where it will be stored: it opens nowhere else.
func (s *Sealer) Seal(plain []byte, place string) []byte {
	key := s.keys[0]
	nonce := make([]byte, key.aead.NonceSize())
	rand.Read(nonce) // never fails
	sealed := append([]byte{sealVersion}, key.mark...)
	return key.aead.Seal(append(sealed, nonce...), nonce, plain, []byte(place))
}

// Open decrypts what Seal returned for the place.
func (s *Sealer) Open(sealed []byte, place string) ([]byte, error) {
	head := 1 + markSize
	if len(sealed) < head+s.keys[0].aead.NonceSize() || sealed[0] != sealVersion {
		return nil, errors.New("it is no sealed secret")
	}
	at := slices.IndexFunc(s.keys, func(k sealing) bool { return string(sealed[1:head]) == string(k.mark) })
	if at < 0 {
		return nil, ErrOtherKey
	}
	aead := s.keys[at].aead
	nonce, rest := sealed[head:head+aead.NonceSize()], sealed[head+aead.NonceSize():]
	plain, err := aead.Open(nil, nonce, rest, []byte(place))
	if err != nil {
		return nil, errors.New("the sealed secret is damaged, or of another place")
	}
	return plain, nil
}

// KeyFile returns the key in a file that only its owner may read; if there is no file
// it makes one with a new key. Processes that race get the same key.
func KeyFile(path string) (string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeKeyFile(path); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("make %s: %w", filepath.Base(path), err)
		}
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(text)), nil
}

// makeKeyFile fails with fs.ErrExist if there is a file by now. The file appears whole.
func makeKeyFile(path string) error {
	part, err := os.CreateTemp(filepath.Dir(path), ".key-") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(part.Name()) //nolint:errcheck // a leftover is harmless
	_, err = part.WriteString(New() + "\n")
	if err := errors.Join(err, part.Sync(), part.Close()); err != nil {
		return err
	}
	return os.Link(part.Name(), path)
}
