package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// MinKey is the least length in bytes of the text of a sealing key.
const MinKey = 32

// Sealer encrypts secrets that have to be used again, for their place in the database.
type Sealer struct {
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

// NewSealer returns the sealer of a key: an unguessable text of at least MinKey bytes.
func NewSealer(key string) (*Sealer, error) {
	if len(key) < MinKey {
		return nil, fmt.Errorf("the sealing key has %d bytes, want at least %d", len(key), MinKey)
	}
	derived, err := hkdf.Key(sha256.New, []byte(key), nil, "scrollery sealed secrets 1", 32+markSize)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(derived[:32])
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	return &Sealer{aead: aead, mark: derived[32:]}, err
}

// Seal encrypts a secret. place is where it will be stored: it opens nowhere else.
func (s *Sealer) Seal(plain []byte, place string) []byte {
	nonce := make([]byte, s.aead.NonceSize())
	rand.Read(nonce) // never fails
	sealed := append([]byte{sealVersion}, s.mark...)
	return s.aead.Seal(append(sealed, nonce...), nonce, plain, []byte(place))
}

// Open decrypts what Seal returned for the place.
func (s *Sealer) Open(sealed []byte, place string) ([]byte, error) {
	head := 1 + markSize
	if len(sealed) < head+s.aead.NonceSize() || sealed[0] != sealVersion {
		return nil, errors.New("it is no sealed secret")
	}
	if string(sealed[1:head]) != string(s.mark) {
		return nil, ErrOtherKey
	}
	nonce, rest := sealed[head:head+s.aead.NonceSize()], sealed[head+s.aead.NonceSize():]
	plain, err := s.aead.Open(nil, nonce, rest, []byte(place))
	if err != nil {
		return nil, errors.New("the sealed secret is damaged, or of another place")
	}
	return plain, nil
}

// KeyFile returns the key in a file that only its owner may read; where there is no file
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

// makeKeyFile fails with fs.ErrExist where there is a file by now. The file appears whole.
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
