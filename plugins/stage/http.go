package stage

import (
	"net/http"
	"net/url"
	"time"
)

// HTTP is a client that reaches the hosts which the spec names, and no others. It
// follows redirects only where those lead to such a host. An answer must begin
// within 30 s; how long the whole may take is the context's matter.
func (c *Call) HTTP() *http.Client {
	if c.Transport == nil {
		return &http.Client{Transport: transport("")}
	}
	return &http.Client{Transport: c.Transport}
}

// transport uses the host's proxy. Without a proxy the kernel refuses connections; in a
// test without a host it is direct.
func transport(proxy string) http.RoundTripper {
	direct := http.DefaultTransport.(*http.Transport).Clone()
	direct.ResponseHeaderTimeout = 30 * time.Second
	direct.Proxy = nil
	if address, err := url.Parse(proxy); err == nil && address.Host != "" {
		direct.Proxy = http.ProxyURL(address)
	}
	return direct
}
