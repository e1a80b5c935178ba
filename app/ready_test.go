package app_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
)

// TestReadyWaitsForNoPlugin has one that never says what it is: the probe answers at
// once, and names it when that is known.
func TestReadyWaitsForNoPlugin(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the stage is a shell script")
	}
	dir, script := t.TempDir(), []byte("#!/bin/sh\nsleep 600\n")
	sum := sha256.Sum256(script)
	for name, text := range map[string][]byte{"slow": script, "slow.yaml": []byte("id: slow\nsha256: " + hex.EncodeToString(sum[:]) + "\n")} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	const start = 6 * time.Second
	running := apptest.Start(t, func(cfg *app.Config) {
		cfg.PluginDir = dir
		cfg.Plugins.Start = start
	})
	probe := func() string {
		began := time.Now()
		answer, err := http.Get(running.OpsURL + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if took := time.Since(began); err != nil || answer.StatusCode != http.StatusOK || took > start*2/3 {
			t.Errorf("got %d after %v: %s, error %v; want %d in at most %v", answer.StatusCode, took, text, err, http.StatusOK, start*2/3)
		}
		return string(text)
	}
	schema := regexp.MustCompile(`^ok\nschema: version [0-9]+\n`)
	if text := probe(); schema.ReplaceAllString(text, "") != "" {
		t.Errorf("while nothing is known: %q, want empty", text)
	}
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if schema.ReplaceAllString(probe(), "") == "plugin slow: refused\n" {
			return
		}
	}
	t.Errorf("got %q after 2 min, want the line \"plugin slow: refused\"", probe())
}

// TestStopWhileItStarts stops a server that has begun to take calls: it drains them as one
// that had started.
func TestStopWhileItStarts(t *testing.T) {
	t.Parallel()
	running := apptest.StartBy(t, app.StartAndStop)
	for _, address := range []string{running.OpsURL + "/readyz", running.BaseURL + "/v1/health"} {
		answer, err := http.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusOK {
			t.Errorf("%s: got %d, error %v, want %d", address, answer.StatusCode, err, http.StatusOK)
		}
	}
}
