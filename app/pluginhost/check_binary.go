package pluginhost

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/scrollery/scrollery/plugins/stage"
)

// Check tries the plugin at path as the host would use it: confined, without
// settings, secrets and records of anybody. It needs no manifest.
func Check(ctx context.Context, path string) (Report, error) {
	output := &tail{}
	h, _, err := hostOf(path, output)
	if err != nil {
		return Report{}, err
	}
	defer h.Close()
	report := h.Check(ctx, checkedID)
	report.Output = output.String()
	return report, nil
}

// Describe starts the plugin at path to learn what it says of itself, without its
// functions, and answers the hash of its file in hexadecimal.
func Describe(ctx context.Context, path string) (stage.Spec, string, error) {
	output := &tail{}
	h, hash, err := hostOf(path, output)
	if err != nil {
		return stage.Spec{}, "", err
	}
	defer h.Close()
	c := &checker{host: h, entry: h.entries[checkedID]}
	err = c.handshake(ctx)
	if err == nil {
		err = c.describes(ctx)
	}
	if err != nil {
		return stage.Spec{}, "", fmt.Errorf("%s does not say what it is: %w\n%s", path, err, output)
	}
	return c.spec, hash, nil
}

const checkedID = "checked"

// hostOf is a host that has the plugin at path and no other.
func hostOf(path string, output io.Writer) (*Host, string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, "", err
	}
	hash, err := hashFile(path)
	if err != nil {
		return nil, "", err
	}
	h, err := New(Config{}, slog.New(slog.NewTextHandler(output, nil)))
	if err != nil {
		return nil, "", err
	}
	h.add(&entry{id: checkedID, enabled: true, path: path, manifest: manifest{ID: checkedID, SHA256: hash}})
	return h, hash, nil
}

func hashFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// tail keeps the end of what is written.
type tail struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf.Write(p)
	if over := t.buf.Len() - 16<<10; over > 0 {
		t.buf.Next(over)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String()
}
