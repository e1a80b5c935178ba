package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestHangupReadsSettingsAgain has a running server take secrets of a source from its
// configuration file, refuse what cannot be, and name what needs a restart.
func TestHangupReadsSettingsAgain(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "scrollery.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("mail_from: a@example.com\n")
	c := newChaos(t, "", "SCROLLERY_CONFIG="+config, "SCROLLERY_LOG_LEVEL=info")
	hangUp := func(want string) {
		t.Helper()
		seen := strings.Count(c.stderr.String(), want)
		if err := c.server.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(2 * time.Minute); strings.Count(c.stderr.String(), want) == seen; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the log has no %s: %s", want, c.stderr)
			}
		}
	}
	usable := func() (is bool) {
		t.Helper()
		var got struct {
			Sources []struct {
				Source string
				Usable bool
			}
		}
		c.mustCall(t, "POST", "/v1/scrolls/estimate", `{"template":"competitors"}`, &got)
		for _, s := range got.Sources {
			is = is || s.Source == "tiktok" && s.Usable
		}
		return is
	}
	if usable() {
		t.Fatal("the source is usable without secrets, so nothing is shown")
	}
	const secrets = "tiktok_eligible: yes\ntiktok_client_key: a\ntiktok_client_secret: b-secret\n"
	write("mail_from: b@example.com\n" + secrets)
	hangUp(`"msg":"settings were read again","plugins":null,"need_restart":["mail_from"]`)
	if !usable() {
		t.Error("the source is not usable, want the secrets of the file in force")
	}
	write(secrets + "plugins: {settings: {tiktok: {dayz: 3}}}\n")
	hangUp("did you mean days?")
	write(secrets + "tiktok_client_kay: x\n")
	hangUp(`unknown field \"tiktok_client_kay\"`)
	if !usable() {
		t.Error("the source is not usable after a file that cannot be read, want it as it was")
	}
	write("tiktok_eligible: yes\n")
	hangUp("settings were read again")
	if usable() {
		t.Error("the source is usable, want it off without its secrets")
	}
	if strings.Contains(c.stderr.String(), "b-secret") {
		t.Error("a secret is in the log, want none")
	}
}
