package login_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/login"
)

const key = "scr_live_0000000000000000000000000000000000000000000000000"

// memory is a keyring that can be out of order.
type memory struct {
	keys   map[string]string
	broken bool
}

var errBroken = errors.New("locked")

func (m *memory) Get(server string) (string, error) {
	if key, ok := m.keys[server]; ok && !m.broken {
		return key, nil
	}
	return "", errBroken
}

func (m *memory) Set(server, key string) error {
	if m.broken {
		return errBroken
	}
	m.keys[server] = key
	return nil
}

func (m *memory) Delete(server string) error {
	delete(m.keys, server)
	return nil
}

func newStore(t *testing.T, env map[string]string, ring login.Keyring) *login.Store {
	return &login.Store{
		Dir: filepath.Join(t.TempDir(), "scrollery"), Keyring: ring,
		Lookup: func(name string) (string, bool) { text, ok := env[name]; return text, ok },
	}
}

func TestCurrent(t *testing.T) {
	t.Parallel()
	stored := login.Login{Server: "https://a.example.com", Key: key}
	for name, c := range map[string]struct {
		saved *login.Login
		env   map[string]string
		want  login.Login
		err   error
	}{
		"nothing is stored": {want: login.Login{Server: login.DefaultServer}, err: login.ErrNone},
		"the file": {
			saved: &stored, want: login.Login{Server: stored.Server, Key: key, Place: login.InFile},
		},
		"the environment wins": {
			saved: &stored, env: map[string]string{"SCROLLERY_KEY": "other", "SCROLLERY_SERVER": "http://127.0.0.1:9"},
			want: login.Login{Server: "http://127.0.0.1:9", Key: "other", Place: login.Environment},
		},
		"a key of the environment goes to the stored server": {
			saved: &stored, env: map[string]string{"SCROLLERY_KEY": "other"},
			want: login.Login{Server: stored.Server, Key: "other", Place: login.Environment},
		},
		"a stored key never goes to another server": {
			saved: &stored, env: map[string]string{"SCROLLERY_SERVER": "https://b.example.com"},
			want: login.Login{Server: "https://b.example.com"}, err: login.ErrNone,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := newStore(t, c.env, nil)
			if c.saved != nil {
				if _, err := store.Save(*c.saved, false); err != nil {
					t.Fatal(err)
				}
			}
			got, err := store.Current()
			if !errors.Is(err, c.err) {
				t.Errorf("got error %v, want %v", err, c.err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestSave(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ring   *memory
		inFile bool
		place  string
	}{
		"the keyring takes the key":         {&memory{keys: map[string]string{}}, false, login.InKeyring},
		"the file is asked for":             {&memory{keys: map[string]string{}}, true, login.InFile},
		"a keyring that refuses":            {&memory{keys: map[string]string{}, broken: true}, false, login.InFile},
		"a key of before is in the keyring": {&memory{keys: map[string]string{"https://a.example.com": "older"}}, true, login.InFile},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := newStore(t, nil, c.ring)
			place, err := store.Save(login.Login{Server: "https://a.example.com", Key: key, KeyID: "key_1"}, c.inFile)
			if err != nil || place != c.place {
				t.Fatalf("got %q, %v, want %q", place, err, c.place)
			}
			path := filepath.Join(store.Dir, "login.json")
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := strings.Contains(string(text), key), place == login.InFile; got != want {
				t.Errorf("the key is in the file: %v, want %v", got, want)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("got mode %v, %v, want 0600", info.Mode(), err)
			}
			got, err := store.Current()
			want := login.Login{Server: "https://a.example.com", Key: key, KeyID: "key_1", Place: c.place}
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%v -want +got:\n%s", err, diff)
			}
			if err := store.Remove(); err != nil {
				t.Fatal(err)
			}
			got, err = store.Current()
			if diff := cmp.Diff(login.Login{Server: "https://a.example.com"}, got); !errors.Is(err, login.ErrNone) || diff != "" {
				t.Errorf("after Remove: %v -want +got:\n%s", err, diff)
			}
			if text, _ := os.ReadFile(path); strings.Contains(string(text), key) || place == login.InKeyring && len(c.ring.keys) > 0 {
				t.Errorf("after Remove: got %s and %d keys in the keyring, want no key", text, len(c.ring.keys))
			}
		})
	}
}

func TestFilesThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		want string
	}{
		"others may read it": {`{"server":"https://a.example.com","key":"` + key + `"}`, 0o644, "other users may read"},
		"damaged":            {`{"server":"https://a.example.com","key":"` + key, 0o600, "is damaged"},
		"an unsafe server":   {`{"server":"http://a.example.com","key":"` + key + `"}`, 0o600, "use https"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := newStore(t, nil, nil)
			if err := os.MkdirAll(store.Dir, 0o700); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(store.Dir, "login.json")
			if err := os.WriteFile(path, []byte(c.text), c.mode); err != nil {
				t.Fatal(err)
			}
			got, err := store.Current()
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), key) || got.Key != "" {
				t.Errorf("got %q, %v, want an error with %q and no key", got.Key, err, c.want)
			}
		})
	}
}

func TestOrigin(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://Scrollery.example.com/": "https://scrollery.example.com",
		"https://h:8443":                 "https://h:8443",
		"http://127.0.0.1:8080":          "http://127.0.0.1:8080",
		"http://127.9.9.9":               "http://127.9.9.9",
		"http://localhost:1":             "http://localhost:1",
		"http://[::1]:1":                 "http://[::1]:1",
		"http://192.168.0.1":             "",
		"http://127.0.0.1.example.com":   "",
		"http://localhost.example.com":   "",
		"https://user:pw@h":              "",
		"https://h/v1":                   "",
		"https://h?x=1":                  "",
		"ftp://h":                        "",
		"scrollery.example.com":          "",
		"":                               "",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got, err := login.Origin(text)
			if got != want || (err == nil) != (want != "") {
				t.Errorf("got %q, %v, want %q", got, err, want)
			}
		})
	}
}
