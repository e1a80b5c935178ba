package conformance

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/plugins/stage"
)

// CheckBinary tries the plugin at path. It needs no manifest.
func CheckBinary(ctx context.Context, path string) (Report, error) {
	output := &tail{}
	server, trial, _, err := binary(path, output)
	if err != nil {
		return Report{}, err
	}
	defer server.Close()
	report := check(ctx, trial, server.Limits())
	report.Output = output.String()
	return report, nil
}

// Describe starts the plugin at path to learn what it says of itself. It returns the
// spec without its functions, and the SHA-256 of the file in hexadecimal.
func Describe(ctx context.Context, path string) (stage.Spec, string, error) {
	output := &tail{}
	server, trial, sha256, err := binary(path, output)
	if err != nil {
		return stage.Spec{}, "", err
	}
	defer server.Close()
	c := &checker{Trial: trial}
	if err = c.handshake(ctx); err == nil {
		err = host.Plausible(c.Spec, c.ID)
	}
	if err != nil {
		return stage.Spec{}, "", fmt.Errorf("%s does not say what it is: %w\n%s", path, err, output)
	}
	return c.Spec, sha256, nil
}

func binary(path string, output *tail) (*host.Host, *host.Trial, string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, nil, "", err
	}
	return host.TrialOf(path, slog.New(slog.NewTextHandler(output, nil)))
}

// tail keeps the last 16 KiB that are written.
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
