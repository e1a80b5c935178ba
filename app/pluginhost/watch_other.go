//go:build !linux

package pluginhost

import (
	"log/slog"
	"net/netip"
	"os"
)

// watcher does nothing here; see watch_linux.go.
type watcher struct{}

func canWatch() bool { return false }

func newWatcher(netip.AddrPort, *slog.Logger) (*watcher, error) { return &watcher{}, nil }

func (*watcher) file() *os.File { return nil }

func (*watcher) close() {}
