package pluginhost

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/scrollery/scrollery/app/pluginhost/egress"
	"github.com/scrollery/scrollery/plugins/stage"
)

// wayOut is how one process reaches its hosts; nil is no network at all.
type wayOut struct {
	proxy  *egress.Proxy
	watch  *watcher // nil where the system has none
	output *output
	once   sync.Once
}

// wayOut opens a proxy for one process, where it has any host to reach.
func (h *Host) wayOut(out *output, declared, endpoints []string, total time.Duration) (*wayOut, error) {
	if len(declared)+len(endpoints) == 0 {
		return nil, nil
	}
	proxy, err := egress.Open(egress.Config{
		Hosts: declared, Endpoints: endpoints, Connections: h.config.Connections, Bytes: h.config.Traffic,
		Total: total, Lookup: h.config.Lookup, Log: out.log,
		Clean: func(text string) string { return out.clean([]byte(text)) },
	})
	if err != nil {
		return nil, fmt.Errorf("way out: %w", err)
	}
	w := &wayOut{proxy: proxy, output: out}
	if h.watches {
		if w.watch, err = newWatcher(proxy.Address(), out.log); err != nil {
			proxy.Close()
			return nil, err
		}
	}
	return w, nil
}

// reach is what a stage may talk to in a call.
func reach(spec stage.Spec, given given) (declared, endpoints []string) {
	return slices.Concat(spec.Hosts, given.own), given.endpoints
}

func (w *wayOut) url() string {
	if w == nil {
		return ""
	}
	return w.proxy.URL()
}

func (w *wayOut) port() uint16 {
	if w == nil {
		return 0
	}
	return w.proxy.Address().Port()
}

// watched tells whether the host connects the process's sockets.
func (w *wayOut) watched() bool { return w != nil && w.watch != nil }

// files are what the process starts with, besides the usual three.
func (w *wayOut) files() []*os.File {
	if !w.watched() {
		return nil
	}
	return []*os.File{w.watch.file()}
}

// environment tells the process's children, and stages in other languages, what
// Open tells the stage.
func (w *wayOut) environment() []string {
	if w == nil {
		return nil
	}
	env := []string{"NO_PROXY=", "no_proxy="}
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"} {
		env = append(env, name+"="+w.url())
	}
	return env
}

func (w *wayOut) close() {
	if w == nil {
		return
	}
	w.once.Do(func() {
		if w.watch != nil {
			w.watch.close()
		}
		if t := w.proxy.Close(); t != (egress.Traffic{}) {
			w.output.log.Info("plugin used the network", "connections", t.Connections, "denied", t.Denied,
				"sent", t.Sent, "received", t.Received)
		}
	})
}

// programPath is where a stage finds the programs that it names.
const programPath = "/usr/local/bin:/usr/bin:/bin"

func installed(program string) bool {
	for _, dir := range filepath.SplitList(programPath) {
		info, err := os.Stat(filepath.Join(dir, program))
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return true
		}
	}
	return false
}
