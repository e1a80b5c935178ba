package egress

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// hosts is what may be reached; the value says whether at private addresses too.
type hosts struct {
	exact map[string]bool
	below map[string][]string // by port, as `.example.com`
}

func newHosts(declared, endpoints []string) (hosts, error) {
	h := hosts{exact: map[string]bool{}, below: map[string][]string{}}
	for _, one := range declared {
		host, port, err := split(one)
		if err != nil {
			return hosts{}, err
		}
		if parent, ok := strings.CutPrefix(host, "*."); ok {
			h.below[port] = append(h.below[port], "."+parent)
			continue
		}
		h.exact[net.JoinHostPort(host, port)] = false
	}
	for _, one := range endpoints {
		host, port, err := split(one)
		if err != nil {
			return hosts{}, err
		}
		h.exact[net.JoinHostPort(host, port)] = true
	}
	return h, nil
}

// find reports whether a target may be reached, and whether at a private address.
func (h hosts) find(host, port string) (private, ok bool) {
	if private, ok = h.exact[net.JoinHostPort(host, port)]; ok {
		return private, true
	}
	for _, suffix := range h.below[port] {
		if strings.HasSuffix(host, suffix) && len(host) > len(suffix) {
			return false, true
		}
	}
	return false, false
}

// split takes `host:port` apart, in lower case and with the port in its plainest form.
func split(target string) (host, port string, err error) {
	host, port, err = net.SplitHostPort(target)
	if err != nil || host == "" || len(host) > 253 {
		return "", "", fmt.Errorf("host %.300q: want host:port", target)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 {
		return "", "", fmt.Errorf("host %.300q: want a port from 1 to 65535", target)
	}
	return strings.ToLower(host), strconv.FormatUint(number, 10), nil
}

var errEndpoint = errors.New("want an http or https address")

// Endpoint is the `host:port` of an address that the operator set.
func Endpoint(value string) (string, error) {
	u, err := url.Parse(value)
	if err != nil || u.Hostname() == "" || u.Opaque != "" {
		return "", errEndpoint
	}
	port := u.Port()
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return "", errEndpoint
	case port == "" && u.Scheme == "https":
		port = "443"
	case port == "":
		port = "80"
	}
	target := net.JoinHostPort(u.Hostname(), port)
	_, _, err = split(target)
	return target, err
}
