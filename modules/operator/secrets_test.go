package operator

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/store/flock"
)

// sealedOnes stands in for what is sealed: each call seals the next number of secrets again.
type sealedOnes struct{ left []int }

func (s *sealedOnes) Reseal(context.Context) (int, error) {
	if len(s.left) == 0 {
		return 0, nil
	}
	n := s.left[0]
	s.left = s.left[1:]
	if n < 0 {
		return 0, errors.New("the database is away")
	}
	return n, nil
}

func TestRotateSecrets(t *testing.T) {
	t.Parallel()
	rotating := func(t *testing.T, text string, left ...int) (*Service, *sealedOnes, string) {
		path, ones := filepath.Join(t.TempDir(), "secret.key"), &sealedOnes{left}
		return New(nil, Config{KeyFile: path, Keys: secret.NewKeys(text, path)}, Needs{Secrets: ones}), ones, path
	}
	lines := func(t *testing.T, path string) int {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "\n")
	}
	one, two := strings.Repeat("a", secret.MinKey), strings.Repeat("b", secret.MinKey)
	t.Run("the old key goes once nothing is sealed with it", func(t *testing.T) {
		s, ones, path := rotating(t, "", 3, 1, 1, 0, 7)
		before, err := s.cfg.Keys.Sealer()
		if err != nil {
			t.Fatal(err)
		}
		done, err := s.RotateSecrets(t.Context(), time.Millisecond)
		if err != nil || done.Resealed != 5 || done.KeyID == before.KeyID() || done.Names != "" || len(ones.left) != 1 {
			t.Errorf("got %+v, %v, %d passes left; want 5 secrets, another key than %s and one left", done, err, len(ones.left), before.KeyID())
		}
		if n := lines(t, path); n != 2 {
			t.Errorf("got %d lines in the file, want the key and the key of hashes", n)
		}
	})
	t.Run("one that failed leaves both keys and goes on", func(t *testing.T) {
		s, _, path := rotating(t, "", 3, -1)
		if done, err := s.RotateSecrets(t.Context(), 0); err == nil {
			t.Errorf("got %+v, want the error of the second pass", done)
		}
		both, err := os.ReadFile(path)
		if err != nil || strings.Count(string(both), "\n") != 3 {
			t.Fatalf("got %q, %v, want both keys and the key of hashes", both, err)
		}
		if _, err := s.RotateSecrets(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		if after, _ := os.ReadFile(path); !strings.HasPrefix(string(both), strings.SplitAfter(string(after), "\n")[0]) {
			t.Errorf("got the file %q after %q, want the new key of before", after, both)
		}
	})
	t.Run("two at once are refused", func(t *testing.T) {
		s, _, path := rotating(t, "")
		held, err := flock.Try(path + ".lock")
		if err != nil {
			t.Fatal(err)
		}
		defer held.Release() //nolint:errcheck // it ends with the test
		if _, err := s.RotateSecrets(t.Context(), 0); !errors.Is(err, flock.ErrLocked) {
			t.Errorf("got %v, want %v", err, flock.ErrLocked)
		}
	})
	t.Run("a setting with one key is refused", func(t *testing.T) {
		s, _, _ := rotating(t, one)
		if _, err := s.RotateSecrets(t.Context(), 0); !errors.Is(err, errOneKey) {
			t.Errorf("got %v, want %v", err, errOneKey)
		}
	})
	t.Run("a setting with two keys names what takes the place of the old one", func(t *testing.T) {
		s, _, path := rotating(t, two+"\n"+one, 2)
		done, err := s.RotateSecrets(t.Context(), 0)
		if err != nil || done.Resealed != 2 || !strings.HasPrefix(done.Names, "names tombstones ") {
			t.Errorf("got %+v, %v, want 2 secrets and the line of the hashes", done, err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Error("got a file of the key, want none")
		}
	})
}
