package secret_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/secret"
)

func TestSealer(t *testing.T) {
	t.Parallel()
	one, err := secret.NewSealer(strings.Repeat("a", secret.MinKey))
	if err != nil {
		t.Fatal(err)
	}
	other, err := secret.NewSealer(strings.Repeat("b", secret.MinKey))
	if err != nil {
		t.Fatal(err)
	}
	sealed := one.Seal([]byte("the secret"), "whk_1")
	t.Run("opens in its place", func(t *testing.T) {
		if got, err := one.Open(sealed, "whk_1"); err != nil || string(got) != "the secret" {
			t.Errorf("got %q, %v", got, err)
		}
	})
	t.Run("opens in no other place", func(t *testing.T) {
		if got, err := one.Open(sealed, "whk_2"); err == nil {
			t.Errorf("got %q, want an error", got)
		}
	})
	t.Run("another key is named as the reason", func(t *testing.T) {
		if _, err := other.Open(sealed, "whk_1"); !errors.Is(err, secret.ErrOtherKey) {
			t.Errorf("got %v, want %v", err, secret.ErrOtherKey)
		}
	})
	t.Run("damage is noticed", func(t *testing.T) {
		for _, damaged := range [][]byte{nil, sealed[:8], append(sealed[:len(sealed)-1:len(sealed)-1], sealed[len(sealed)-1]^1)} {
			t.Run(fmt.Sprintf("%x is refused", damaged), func(t *testing.T) {
				if got, err := one.Open(damaged, "whk_1"); err == nil {
					t.Errorf("%x gives %q, want an error", damaged, got)
				}
			})
		}
	})
	t.Run("a short key is refused", func(t *testing.T) {
		if _, err := secret.NewSealer("short"); err == nil {
			t.Error("got a sealer, want an error")
		}
	})
}

func TestKeyFileIsMadeOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret.key")
	keys := make([]string, 8)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			var err error
			if keys[i], err = secret.KeyFile(path); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, key := range keys {
		if key != keys[0] || len(key) < secret.MinKey {
			t.Errorf("got the keys %q", keys)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has %v, %v, want mode 0600", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".key-*")); len(left) != 0 {
		t.Errorf("left over: %v, want none", left)
	}
}
