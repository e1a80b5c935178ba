package app_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
)

// TestReadinessNoticesAFullDisk fills a small disk with the data of a server.
func TestReadinessNoticesAFullDisk(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can mount a small disk")
	}
	disk := t.TempDir()
	if err := unix.Mount("scrollery-test", disk, "tmpfs", 0, "size=96m,mode=700"); err != nil {
		t.Skipf("no disk can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	running := apptest.Start(t, func(cfg *app.Config) { cfg.DataDir = filepath.Join(disk, "data") })
	caller := running.Account(t, "pro")
	caller.Get(t, `POST /v1/workspace {"description":"Coffee"}`, new(any))
	becomes(t, running, http.StatusOK, "ok")

	filler, err := os.Create(filepath.Join(disk, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer filler.Close()
	for block := make([]byte, 64<<10); err == nil; {
		if _, err = filler.Write(block); errors.Is(err, unix.ENOSPC) && len(block) > 1 {
			block, err = block[:len(block)/2], nil
		}
	}
	becomes(t, running, http.StatusServiceUnavailable, "disk: ")
	sick := running.Config
	sick.OpsAddr, sick.BaseURL = strings.TrimPrefix(running.OpsURL, "http://"), ""
	for _, check := range []string{"data folder", "server"} {
		if got := diagnose(t, sick)[check]; got.Status != "FAIL" {
			t.Errorf("the doctor on %s: %s %s, want FAIL", check, got.Status, got.Detail)
		}
	}
	// What the log still has space for is answered, the rest is refused.
	const long = 15_000
	answered, refused := "Coffee", 0
	for i := range 400 {
		text := strings.Repeat(string(rune('a'+i%26)), long)
		answer := caller.Do(t, `PUT /v1/workspace {"description":"`+text+`"}`, "")
		if answer.Status == http.StatusOK {
			answered = text
			continue
		}
		answer.WantError(t, "temporary_service_error")
		if answer.Status != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" {
			t.Errorf("a write without room: got %d, Retry-After %q, want %d and when to try again", answer.Status, answer.Header.Get("Retry-After"), http.StatusServiceUnavailable)
		}
		if refused++; refused == 3 {
			break
		}
	}
	if refused == 0 {
		t.Errorf("400 long writes succeed on a full disk: got %v, want refused not 0", refused)
	}
	if err := os.Remove(filler.Name()); err != nil {
		t.Fatal(err)
	}
	if err := filler.Close(); err != nil {
		t.Fatal(err)
	}
	becomes(t, running, http.StatusOK, "ok")
	if got := caller.Read(t, "GET /v1/workspace"); !strings.Contains(got, `"`+answered+`"`) {
		t.Errorf("the last answered description is lost; the workspace has %d bytes, want with %v", len(got), `"`+answered+`"`)
	}
	caller.Get(t, `PUT /v1/workspace {"description":"Tea"}`, new(any))
}
