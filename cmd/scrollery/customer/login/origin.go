package login

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// Origin checks the address of a server and returns its origin. A key is sent over
// https, or to this machine.
func Origin(text string) (string, error) {
	address, err := Safe(text)
	if err != nil {
		return "", err
	}
	if strings.Trim(address.Path, "/") != "" || address.RawQuery != "" || address.Fragment != "" {
		return "", errors.New("the address of a server has no path: https://host, or http://127.0.0.1:8080")
	}
	return address.Scheme + "://" + strings.ToLower(address.Host), nil
}

// Safe parses an address that has https, or http and a host of this machine.
func Safe(text string) (*url.URL, error) {
	address, err := url.Parse(strings.TrimSpace(text))
	if err != nil || address.Host == "" || address.Hostname() == "" || address.Opaque != "" {
		return nil, errors.New("not an address: https://host, or http://127.0.0.1:8080")
	}
	if address.User != nil {
		return nil, errors.New("an address with a user name or a password is refused")
	}
	switch {
	case address.Scheme == "https", address.Scheme == "http" && loopback(address.Hostname()):
		return address, nil
	case address.Scheme == "http":
		return nil, fmt.Errorf("http is only for this machine: use https for %s", net.JoinHostPort(address.Hostname(), "443"))
	}
	return nil, fmt.Errorf("the scheme %q is not https", address.Scheme)
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
