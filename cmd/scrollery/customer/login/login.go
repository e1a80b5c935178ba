// Package login knows which server the commands of customers call, and with which key.
// The environment comes first, then what `scrollery login` stored: the key in the
// keyring of the system, or in a file that only its owner can read.
package login

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Variables of the environment. Each comes before what is stored.
const (
	KeyVariable    = "SCROLLERY_KEY"
	ServerVariable = "SCROLLERY_SERVER"
)

// DefaultServer is where `scrollery serve` listens without settings.
const DefaultServer = "http://127.0.0.1:8080"

// ErrNone means that there is no key for the server.
var ErrNone = errors.New("not signed in: run `scrollery login`, or set " + KeyVariable)

// Login is a server and the key for it.
type Login struct {
	// Server is an origin, as https://host or http://127.0.0.1:8080.
	Server string
	Key    string
	// KeyID is the id of the key where `scrollery login` created it as a session key;
	// empty for other keys.
	KeyID string
	// Place says where the key comes from: environment, keyring or file.
	Place string
}

// Places of a key.
const (
	Environment = "environment"
	InKeyring   = "keyring"
	InFile      = "file"
)

// Store reads and writes logins.
type Store struct {
	// Lookup reads the environment.
	Lookup func(string) (string, bool)
	// Dir is the folder of the file.
	Dir string
	// Keyring is nil if the system has none.
	Keyring Keyring
}

// Default is the store of the user who runs the program.
func Default() (*Store, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return nil, fmt.Errorf("find the folder of settings: %w", err)
	}
	return &Store{Lookup: os.LookupEnv, Dir: filepath.Join(dir, "scrollery"), Keyring: systemKeyring(os.LookupEnv)}, nil
}

// Current returns the server and the key: from the environment, the keyring or the file.
// Without a key it returns the server, and ErrNone. A stored key is used for the server
// that it was stored for, and for no other.
func (s *Store) Current() (Login, error) {
	kept, err := s.read()
	if err != nil {
		return Login{}, err
	}
	server := kept.Server
	if given, ok := s.Lookup(ServerVariable); ok && given != "" {
		if server, err = Origin(given); err != nil {
			return Login{}, fmt.Errorf("%s: %w", ServerVariable, err)
		}
	}
	if server == "" {
		server = DefaultServer
	}
	if key, ok := s.Lookup(KeyVariable); ok && key != "" {
		return Login{Server: server, Key: key, Place: Environment}, nil
	}
	if kept.Server != server {
		return Login{Server: server}, ErrNone
	}
	return s.stored(kept)
}

// Stored returns what is stored, whatever the environment says.
func (s *Store) Stored() (Login, error) {
	kept, err := s.read()
	if err != nil {
		return Login{}, err
	}
	return s.stored(kept)
}

func (s *Store) stored(kept file) (Login, error) {
	found := Login{Server: kept.Server, Key: kept.Key, KeyID: kept.KeyID, Place: InFile}
	if kept.InKeyring {
		if s.Keyring == nil {
			return Login{Server: kept.Server}, fmt.Errorf("%w; the stored key is in a keyring that cannot be reached", ErrNone)
		}
		key, err := s.Keyring.Get(kept.Server)
		if err != nil {
			return Login{Server: kept.Server}, fmt.Errorf("%w; the keyring does not return the stored key: %w", ErrNone, err)
		}
		found.Key, found.Place = key, InKeyring
	}
	if found.Key == "" {
		return Login{Server: kept.Server}, ErrNone
	}
	return found, nil
}

// Save stores a login in place of the one before. The key goes into the keyring, and
// into the file if there is no keyring or inFile is set. It returns the place.
func (s *Store) Save(l Login, inFile bool) (place string, err error) {
	kept, err := s.read()
	if err != nil {
		return "", err
	}
	if kept.InKeyring && s.Keyring != nil {
		_ = s.Keyring.Delete(kept.Server) // the keyring may have been emptied by hand
	}
	next := file{Server: l.Server, KeyID: l.KeyID, Key: l.Key}
	place = InFile
	if s.Keyring != nil && !inFile && s.Keyring.Set(l.Server, l.Key) == nil {
		next.Key, next.InKeyring, place = "", true, InKeyring
	}
	return place, s.write(next)
}

// Remove deletes the stored key. The server stays known.
func (s *Store) Remove() error {
	kept, err := s.read()
	if err != nil {
		return err
	}
	if kept.InKeyring && s.Keyring != nil {
		if err := s.Keyring.Delete(kept.Server); err != nil {
			return fmt.Errorf("delete the key from the keyring: %w", err)
		}
	}
	if kept == (file{}) {
		return nil
	}
	return s.write(file{Server: kept.Server})
}

// Claim is a checkout that was started and not claimed yet. Its token is a secret.
type Claim struct {
	Server string `json:"server"`
	Token  string `json:"token"`
	URL    string `json:"url"`
}

// Pending returns the claim that an interrupted command left; the token is empty for none.
func (s *Store) Pending() (Claim, error) {
	var claim Claim
	err := s.load(claimFile, &claim)
	return claim, err
}

// SavePending stores a claim until it is claimed; the zero Claim deletes it.
func (s *Store) SavePending(claim Claim) error {
	if claim == (Claim{}) {
		if err := os.Remove(filepath.Join(s.Dir, claimFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return s.save(claimFile, claim)
}
