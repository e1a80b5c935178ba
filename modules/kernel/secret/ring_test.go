package secret_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/secret"
)

// TestARotatedRing: the new key seals, the old one opens until it is removed, and hashes stay the
// same through all of it.
func TestARotatedRing(t *testing.T) {
	t.Parallel()
	old := strings.Repeat("a", secret.MinKey)
	parse := func(text string) (*secret.Ring, *secret.Sealer, string) {
		t.Helper()
		r, err := secret.ParseRing(text)
		if err != nil {
			t.Fatal(err)
		}
		s, err := r.Sealer()
		if err != nil {
			t.Fatal(err)
		}
		h, err := r.Hasher("videos")
		if err != nil {
			t.Fatal(err)
		}
		return r, s, h.Hash("tiktok", "12")
	}
	ring, sealer, hash := parse(old)
	sealed := sealer.Seal([]byte("the secret"), "here")
	rotated, err := ring.Rotated("videos")
	if err != nil || ring.Rotating() || !rotated.Rotating() {
		t.Fatalf("got %v and %v rotating, %v; want the second one alone", ring.Rotating(), rotated.Rotating(), err)
	}
	_, both, hashBoth := parse(rotated.String())
	if got, err := both.Open(sealed, "here"); err != nil || string(got) != "the secret" || !both.IsOld(sealed) {
		t.Errorf("what the old key sealed: got %q, %v, old %t; want it opened, and old", got, err, both.IsOld(sealed))
	}
	again, err := both.Reseal(sealed, "here")
	if err != nil || both.IsOld(again) {
		t.Errorf("sealed again: got %v, old %t; want it sealed with the new key", err, both.IsOld(again))
	}
	newest, err := rotated.Newest("videos")
	if err != nil || strings.Contains(newest.String(), old) {
		t.Fatalf("got %v, and the old key %t; want it gone", err, strings.Contains(newest.String(), old))
	}
	_, last, hashLast := parse(newest.String())
	if got, err := last.Open(again, "here"); err != nil || string(got) != "the secret" {
		t.Errorf("with the new key alone: got %q, %v", got, err)
	}
	if _, err := last.Open(sealed, "here"); !errors.Is(err, secret.ErrOtherKey) {
		t.Errorf("what the old key sealed, without it: got %v, want %v", err, secret.ErrOtherKey)
	}
	if hash != hashBoth || hash != hashLast {
		t.Errorf("got the hashes %s, %s and %s, want them the same", hash, hashBoth, hashLast)
	}
	for _, text := range []string{"", "short", old + "\nshort", old + "\nnames videos 12"} {
		if _, err := secret.ParseRing(text); err == nil {
			t.Errorf("%q: got no error, want one", text)
		}
	}
}

// TestKeysReadAReplacedFileAgain: a server that runs seals with the new key at once.
func TestKeysReadAReplacedFileAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret.key")
	keys := secret.NewKeys("", path)
	first, err := keys.Sealer()
	if err != nil {
		t.Fatal(err)
	}
	ring, err := keys.Ring()
	if err != nil {
		t.Fatal(err)
	}
	if ring, err = ring.Rotated(); err != nil {
		t.Fatal(err)
	}
	if err := secret.ReplaceKeyFile(path, ring); err != nil {
		t.Fatal(err)
	}
	second, err := keys.Sealer()
	if err != nil || second.KeyID() == first.KeyID() {
		t.Errorf("got the keys %s and %s, %v; want another one", first.KeyID(), second.KeyID(), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has %v, %v, want mode 0600", info.Mode(), err)
	}
}
