// Package serve is the plugin's end of HashiCorp's go-plugin, as far as a stage needs it:
// the handshake, gRPC over a Unix socket with keys on both sides, health and the end. The
// module itself brings net/rpc, html/template and more along, which make the binary of a
// stage twice as large.
package serve

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/scrollery/scrollery/plugins/stage/peer"
)

const (
	// coreVersion is that of go-plugin's handshake.
	coreVersion = 1
	// socketFolder is go-plugin's variable with the folder of the socket.
	socketFolder = "PLUGIN_UNIX_SOCKET_DIR"
	// healthName is the service whose health go-plugin asks for.
	healthName = "plugin"
)

// Handshake is what the host and the plugin agree on.
type Handshake struct {
	// Version of the plugin's own protocol.
	Version int
	// CookieKey and CookieValue are the variable that a host sets.
	CookieKey, CookieValue string
}

// ErrByHand is the refusal of a process that no host of this protocol started.
var ErrByHand = errors.New("this binary is a plugin: put it into the plugin folder of a server, which starts it")

// Serve serves what register registers until the host asks for the end. From its first
// step on os.Stdout is os.Stderr: standard output belongs to the handshake.
func Serve(h Handshake, register func(*grpc.Server), options ...grpc.ServerOption) error {
	if os.Getenv(h.CookieKey) != h.CookieValue {
		return ErrByHand
	}
	shake := os.Stdout
	os.Stdout = os.Stderr
	config, certificate, err := keys()
	if err != nil {
		return fmt.Errorf("the keys of the plugin: %w", err)
	}
	if config != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(config)))
	}
	path := filepath.Join(os.Getenv(socketFolder), "plugin"+strconv.Itoa(os.Getpid()))
	listener, err := net.Listen("unix", path)
	if err != nil {
		return fmt.Errorf("the socket of the plugin: %w", err)
	}
	defer listener.Close()
	// The host alone decides when the plugin ends.
	signal.Ignore(os.Interrupt)
	server, over := grpc.NewServer(options...), make(chan struct{})
	state := health.NewServer()
	state.SetServingStatus(healthName, grpc_health_v1.HealthCheckResponse_SERVING)
	grpc_health_v1.RegisterHealthServer(server, state)
	server.RegisterService(controller(func() { close(over) }), nil)
	register(server)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	if _, err := fmt.Fprintf(shake, "%d|%d|unix|%s|grpc|%s\n", coreVersion, h.Version, path, certificate); err != nil {
		return fmt.Errorf("the handshake: %w", err)
	}
	select {
	case err := <-failed:
		return err
	case <-over:
		server.Stop()
		return nil
	}
}

// keys are those that the host offers, or else the plugin's own, of which the host needs
// the certificate; both are empty if the host wants none.
func keys() (config *tls.Config, certificate string, err error) {
	if config, err = peer.Provide(); config != nil || err != nil {
		return config, "", err
	}
	config, err = peer.Own()
	if config == nil || err != nil {
		return nil, "", err
	}
	return config, base64.RawStdEncoding.EncodeToString(config.Certificates[0].Certificate[0]), nil
}

// controller is go-plugin's service with one method, which ends the process.
func controller(end func()) *grpc.ServiceDesc {
	ended := make(chan struct{}, 1)
	shutdown := func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		select {
		case ended <- struct{}{}:
			end()
		default: // asked before
		}
		return &emptypb.Empty{}, decode(&emptypb.Empty{})
	}
	return &grpc.ServiceDesc{ServiceName: "plugin.GRPCController", Methods: []grpc.MethodDesc{{MethodName: "Shutdown", Handler: shutdown}}}
}
