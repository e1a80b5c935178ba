package login

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/zalando/go-keyring"
)

func TestSystemKeyring(t *testing.T) {
	keyring.MockInit()
	if err := (system{}).Set("https://a", "one"); err != nil {
		t.Fatal(err)
	}
	if got, err := (system{}).Get("https://a"); got != "one" || err != nil {
		t.Errorf("got %q, %v, want %q", got, err, "one")
	}
	if got, err := (system{}).Get("https://b"); got != "" || err == nil {
		t.Errorf("another server: got %q, %v, want none and an error", got, err)
	}
	for range 2 { // what is not there is deleted too
		if err := (system{}).Delete("https://a"); err != nil {
			t.Error(err)
		}
	}
	if runtime.GOOS != "linux" {
		return
	}
	for name, address := range map[string]string{"no session bus": "", "a bus that is not there": "unix:path=" + filepath.Join(t.TempDir(), "bus")} {
		t.Run(name, func(t *testing.T) {
			if systemKeyring(func(string) (string, bool) { return address, address != "" }) != nil {
				t.Errorf("%s: got a keyring, want none", name)
			}
		})
	}
}
