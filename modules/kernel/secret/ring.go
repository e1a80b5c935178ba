package secret

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A Ring is what a server seals and hashes with. Its text has one item on a line: the key that
// seals, then the keys before it, with which nothing is sealed any more but something may be to be
// opened, and the keys of hashes, which outlive them: `names PURPOSE HEX`. A text of one key is a
// ring of one.
type Ring struct {
	keys []string
	// names are the keys of hashers by purpose; without one, the oldest key makes it.
	names map[string][]byte
}

// namesMark begins the line of a hasher's key.
const namesMark = "names "

// ParseRing reads a ring.
func ParseRing(text string) (*Ring, error) {
	r := &Ring{names: map[string][]byte{}}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		rest, isNames := strings.CutPrefix(line, namesMark)
		switch {
		case line == "":
		case isNames:
			purpose, digits, _ := strings.Cut(rest, " ")
			key, err := hex.DecodeString(digits)
			if err != nil || len(key) != hasherKey {
				return nil, fmt.Errorf("the key of the hashes of %q is damaged", purpose)
			}
			r.names[purpose] = key
		case len(line) < MinKey:
			return nil, fmt.Errorf("the sealing key has %d bytes, want at least %d", len(line), MinKey)
		default:
			r.keys = append(r.keys, line)
		}
	}
	if len(r.keys) == 0 {
		return nil, errors.New("there is no sealing key")
	}
	return r, nil
}

// String is the text of the ring.
func (r *Ring) String() string {
	return strings.Join(r.keys, "\n") + "\n" + r.Names()
}

// Rotating reports whether the ring has keys before the one that seals.
func (r *Ring) Rotating() bool { return len(r.keys) > 1 }

// Rotated is the ring with a new key that seals. The hashes of the purposes stay as they are.
func (r *Ring) Rotated(purposes ...string) (*Ring, error) {
	return r.with(append([]string{New()}, r.keys...), purposes)
}

// Newest is the ring without the keys before the one that seals. The hashes of the purposes stay
// as they are.
func (r *Ring) Newest(purposes ...string) (*Ring, error) { return r.with(r.keys[:1], purposes) }

func (r *Ring) with(keys, purposes []string) (*Ring, error) {
	next := &Ring{keys: keys, names: maps.Clone(r.names)}
	for _, purpose := range purposes {
		h, err := r.Hasher(purpose)
		if err != nil {
			return nil, err
		}
		next.names[purpose] = h.key
	}
	return next, nil
}

// Names are the lines of the hashes of the ring.
func (r *Ring) Names() string {
	text := ""
	for _, purpose := range slices.Sorted(maps.Keys(r.names)) {
		text += namesMark + purpose + " " + hex.EncodeToString(r.names[purpose]) + "\n"
	}
	return text
}

// Keys reads the ring of a server: a text, or a file, which is made when it is first needed and
// read again when it was replaced. It is safe for concurrent use.
type Keys struct {
	text, path string

	mu     sync.Mutex
	read   os.FileInfo
	ring   *Ring
	sealer *Sealer
}

// NewKeys returns the keys of a text, or if it is empty of the file.
func NewKeys(text, path string) *Keys { return &Keys{text: text, path: path} }

// Path is the file of the keys; empty if the operator set a text.
func (k *Keys) Path() string {
	if k.text != "" {
		return ""
	}
	return k.path
}

// Ring returns the ring as it is now.
func (k *Keys) Ring() (*Ring, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	err := k.load()
	return k.ring, err
}

// Sealer returns the sealer as it is now. A caller that keeps it may seal with a key that was
// replaced.
func (k *Keys) Sealer() (*Sealer, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	err := k.load()
	return k.sealer, err
}

// Hasher returns the hasher of a purpose.
func (k *Keys) Hasher(purpose string) (*Hasher, error) {
	r, err := k.Ring()
	if err != nil {
		return nil, err
	}
	return r.Hasher(purpose)
}

// load reads what was not read, or was replaced since.
func (k *Keys) load() error {
	text, now := k.text, os.FileInfo(nil)
	if text == "" {
		var err error
		if now, err = os.Stat(k.path); err == nil && k.read != nil && os.SameFile(now, k.read) && now.ModTime().Equal(k.read.ModTime()) {
			return nil
		}
		if text, err = KeyFile(k.path); err != nil {
			return err
		}
		if now, err = os.Stat(k.path); err != nil {
			return err
		}
	} else if k.ring != nil {
		return nil
	}
	ring, err := ParseRing(text)
	if err != nil {
		return err
	}
	sealer, err := ring.Sealer()
	if err == nil {
		k.ring, k.sealer, k.read = ring, sealer, now
	}
	return err
}

// ReplaceKeyFile writes a ring to a file that only its owner can read. The file is always whole,
// and on the disk when ReplaceKeyFile returns.
func ReplaceKeyFile(path string, r *Ring) error {
	part, err := os.CreateTemp(filepath.Dir(path), ".key-") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(part.Name()) //nolint:errcheck // a leftover is harmless
	_, err = part.WriteString(r.String())
	if err := errors.Join(err, part.Sync(), part.Close()); err != nil {
		return err
	}
	if err := os.Rename(part.Name(), path); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
