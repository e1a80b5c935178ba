package host_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
)

// outward is a stage that tries to get out.
func outward() stage.Spec {
	return stage.Spec{
		ID: "outward", Version: "1", Kind: stage.SourceKind, Collect: reach,
		Settings: []stage.Setting{{Name: "api", Endpoint: true}},
		Hosts:    []string{"inside.example.com:80", "*.wild.example.com:443"},
		Secrets:  []string{"token"},
	}
}

// presumptuous is a stage that takes itself for the operator.
func presumptuous() stage.Spec {
	s := outward()
	s.ID, s.Settings[0].Default = "presumptuous", "http://127.0.0.1:1"
	return s
}

// runner is a stage that runs programs of the system.
func runner() stage.Spec {
	return stage.Spec{
		ID: "runner", Version: "1", Kind: stage.SourceKind, Collect: reach, Programs: []string{"sh"},
		Settings: []stage.Setting{{Name: "api", Endpoint: true}},
	}
}

// reach does what its seeds say and answers how each of them went.
func reach(ctx context.Context, call *stage.Call, seeds []stage.Seed, emit func(stage.Record) error) ([]stage.Outcome, error) {
	for i, seed := range seeds {
		do, arg, _ := strings.Cut(seed.Term, ":")
		text, err := attempt(ctx, call, do, arg)
		if err != nil {
			text = err.Error()
		}
		if err := emit(one(fmt.Sprint(i), text)); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func attempt(ctx context.Context, call *stage.Call, do, arg string) (string, error) {
	switch do {
	case "get":
		return fetch(call.HTTP(), arg)
	case "proxy":
		return os.Getenv("HTTPS_PROXY"), nil
	case "credential": // the proxy with another call's word
		address, err := url.Parse(os.Getenv("HTTPS_PROXY"))
		if err != nil {
			return "", err
		}
		address.User = url.UserPassword("call", arg)
		return fetch(&http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(address)}}, call.Settings["api"])
	case "tunnel":
		return connect(arg)
	case "dial":
		network, address, _ := strings.Cut(arg, ",")
		connection, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, network, address)
		if err != nil {
			return "", err
		}
		return "through", connection.Close()
	case "resolve":
		addresses, err := net.DefaultResolver.LookupHost(ctx, arg)
		return fmt.Sprint(addresses), err
	case "datagram": // a Unix socket that needs no connection
		pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_DGRAM, 0)
		if err != nil {
			return "", err
		}
		return "through", syscall.Sendto(pair[0], []byte("x"), 0, &syscall.SockaddrUnix{Name: arg})
	case "fastopen":
		return fastOpen(arg)
	case "read":
		raw, err := os.ReadFile(arg)
		return "read " + string(raw), err
	case "run":
		command := exec.CommandContext(ctx, "sh", "-c", arg)
		command.Dir = call.Scratch
		out, err := command.CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("%w: %s", err, out)
		}
		return string(out), nil
	}
	return "", errors.New("unknown attempt")
}

func fetch(client *http.Client, address string) (string, error) {
	response, err := client.Get(address)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	return fmt.Sprint(response.StatusCode, " ", string(raw)), err
}

// connect asks the proxy for a tunnel and answers its first line.
func connect(target string) (string, error) {
	proxy, err := url.Parse(os.Getenv("HTTPS_PROXY"))
	if err != nil {
		return "", err
	}
	connection, err := net.Dial("tcp", proxy.Host)
	if err != nil {
		return "", err
	}
	defer connection.Close()
	word := base64.StdEncoding.EncodeToString([]byte(proxy.User.String()))
	if _, err := fmt.Fprintf(connection, "CONNECT %s HTTP/1.1\r\nHost: %s\r\nProxy-Authorization: Basic %s\r\n\r\n", target, target, word); err != nil {
		return "", err
	}
	answer := make([]byte, 1024)
	n, err := connection.Read(answer)
	return string(answer[:n]), err
}
