package app

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/secret"
)

func TestStageTokens(t *testing.T) {
	t.Parallel()
	cfg := Config{DataDir: t.TempDir(), SecretKey: strings.Repeat("k", secret.MinKey)}
	load := func(t *testing.T, cfg Config, first, want string) {
		t.Helper()
		if got, err := newStageTokens(cfg).Load(t.Context(), "acme", "refresh", first); err != nil || got != want {
			t.Errorf("with the operator's %s: got %q, %v, want %q", first, got, err, want)
		}
	}
	load(t, cfg, "first", "first")
	for _, value := range []string{"second", "third"} {
		if err := newStageTokens(cfg).Save(t.Context(), "acme", "refresh", "first", value); err != nil {
			t.Fatal(err)
		}
		load(t, cfg, "first", value)
	}
	load(t, cfg, "another", "another")
	path := filepath.Join(cfg.DataDir, "tokens", "acme.refresh")
	sealed, err := os.ReadFile(path)
	if err != nil || bytes.Contains(sealed, []byte("third")) {
		t.Errorf("the file has %q, %v, want it sealed", sealed, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file's rights: got %v, %v, want 0600", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(cfg.DataDir, "tokens", ".*")); len(left) > 0 {
		t.Errorf("files are left: %v, want none", left)
	}
	other := cfg
	other.SecretKey = strings.Repeat("o", secret.MinKey)
	if got, err := newStageTokens(other).Load(t.Context(), "acme", "refresh", "first"); !errors.Is(err, secret.ErrOtherKey) || !strings.Contains(err.Error(), path) {
		t.Errorf("with another key: got %q, %v, want %v and the file", got, err, secret.ErrOtherKey)
	}
	if err := os.Rename(path, filepath.Join(cfg.DataDir, "tokens", "zeta.refresh")); err != nil {
		t.Fatal(err)
	}
	if got, err := newStageTokens(cfg).Load(t.Context(), "zeta", "refresh", "first"); err == nil {
		t.Errorf("the token of another plugin: got %q, want an error", got)
	}
}

// TestStageTokensAreSealedAgain rotates the key: a token is read at any time.
func TestStageTokensAreSealedAgain(t *testing.T) {
	t.Parallel()
	cfg := Config{DataDir: t.TempDir()}
	tokens := newStageTokens(cfg)
	load := func(want string) {
		t.Helper()
		if got, err := tokens.Load(t.Context(), "acme", "refresh", "first"); err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	reseal := func(want int) {
		t.Helper()
		if n, err := tokens.Reseal(t.Context()); err != nil || n != want {
			t.Errorf("sealed again: got %d, %v, want %d", n, err, want)
		}
	}
	reseal(0)
	if err := tokens.Save(t.Context(), "acme", "refresh", "first", "second"); err != nil {
		t.Fatal(err)
	}
	reseal(0)
	ring, err := cfg.keyRing().Ring()
	if err != nil {
		t.Fatal(err)
	}
	replace := func(next *secret.Ring, err error) {
		t.Helper()
		if err == nil {
			err = secret.ReplaceKeyFile(filepath.Join(cfg.DataDir, secretKeyFile), next)
		}
		if ring = next; err != nil {
			t.Fatal(err)
		}
	}
	replace(ring.Rotated())
	load("second")
	reseal(1)
	reseal(0)
	replace(ring.Newest())
	load("second")
}
