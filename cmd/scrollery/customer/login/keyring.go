package login

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/zalando/go-keyring"
)

// Keyring stores the key of a server.
type Keyring interface {
	Get(server string) (string, error)
	Set(server, key string) error
	Delete(server string) error
}

// service is the name of the entries in the keyring.
const service = "scrollery"

// keyringTimeout bounds a call: a locked keyring asks its owner for a password.
const keyringTimeout = 60 * time.Second

// system is the keyring of the operating system.
type system struct{}

// systemKeyring returns nil if there is no keyring. On Linux it is reached over the
// session bus; without its address the library would try to start one.
func systemKeyring(lookup func(string) (string, bool)) Keyring {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		return system{}
	}
	if address, _ := lookup("DBUS_SESSION_BUS_ADDRESS"); address == "" {
		return nil
	} else if path, ok := strings.CutPrefix(address, "unix:path="); ok {
		path, _, _ = strings.Cut(path, ",")
		if _, err := os.Stat(path); err != nil {
			return nil
		}
	}
	return system{}
}

func (system) Get(server string) (string, error) {
	return bounded(func() (string, error) { return keyring.Get(service, server) })
}

func (system) Set(server, key string) error {
	_, err := bounded(func() (string, error) { return "", keyring.Set(service, server, key) })
	return err
}

func (system) Delete(server string) error {
	_, err := bounded(func() (string, error) { return "", keyring.Delete(service, server) })
	if errors.Is(err, keyring.ErrNotFound) {
		return nil
	}
	return err
}

func bounded(call func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		text, err := call()
		done <- answer{text, err}
	}()
	select {
	case got := <-done:
		return got.text, got.err
	case <-time.After(keyringTimeout):
		return "", errors.New("it did not answer")
	}
}
