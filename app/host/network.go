package host

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/scrollery/scrollery/app/host/box"
	"github.com/scrollery/scrollery/app/host/egress"
	"github.com/scrollery/scrollery/plugins/stage"
)

// network is how one process reaches its hosts; nil is no network at all.
type network struct {
	proxy  *egress.Proxy
	output *output
	once   sync.Once
}

// network opens a proxy for one process. It returns nil if there is no host to reach.
func (all *Processes) network(out *output, declared, endpoints []string, total time.Duration) (*network, error) {
	if len(declared)+len(endpoints) == 0 {
		return nil, nil
	}
	var inside netip.AddrPort
	if all.confiner.Missing() == nil {
		inside = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), box.Inside)
	}
	proxy, err := egress.Open(egress.Config{
		Hosts: declared, Endpoints: endpoints, Connections: all.config.Connections, Bytes: all.config.Traffic,
		Total: total, Lookup: all.config.Lookup, Log: out.log,
		Clean: func(text string) string { return out.clean([]byte(text)) },
	}, inside)
	if err != nil {
		return nil, fmt.Errorf("open the proxy: %w", err)
	}
	return &network{proxy: proxy, output: out}, nil
}

// reach is what a stage may talk to in a call.
func reach(spec stage.Spec, given given) (declared, endpoints []string) {
	return slices.Concat(spec.Hosts, given.own), given.endpoints
}

// serve answers a plugin at the loopback of its box.
func (n *network) serve(listener net.Listener) {
	if n == nil {
		_ = listener.Close()
		return
	}
	n.proxy.Serve(listener)
}

func (n *network) url() string {
	if n == nil {
		return ""
	}
	return n.proxy.URL()
}

// port is the one of this machine, or of the box, where the proxy listens.
func (n *network) port() uint16 {
	if n == nil {
		return 0
	}
	return n.proxy.Address().Port()
}

// environment names the proxy to stages in other languages and to programs that a
// stage runs; the SDK gets it in Open.
func (n *network) environment() []string {
	if n == nil {
		return nil
	}
	env := []string{"NO_PROXY=", "no_proxy="}
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"} {
		env = append(env, name+"="+n.url())
	}
	return env
}

func (n *network) close() {
	if n == nil {
		return
	}
	n.once.Do(func() {
		if t := n.proxy.Close(); t != (egress.Traffic{}) {
			n.output.log.Info("plugin used the network", "connections", t.Connections, "denied", t.Denied,
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
