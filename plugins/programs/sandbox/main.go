// Package sandbox is the process that runs one program of an account: JavaScript,
// with nothing to reach for but the account's own files.
//
// It holds the program within bounds of memory, stack, time and output, and says
// which of them it hit. It is not the last line: the host confines the process,
// and kills it when the time is up.
package sandbox

import (
	"context"
	"errors"
	"os"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/scrollery/scrollery/plugins/stage/peer"
	sandboxv1 "github.com/scrollery/scrollery/proto/gen/scrollery/sandbox/v1"
)

// What both ends name in the handshake.
const (
	// ID is the plugin's word on the command line.
	ID = "sandbox"
	// Name of the one service behind the handshake.
	Name = "sandbox"
	// MaxMessage in bytes: a program and its data, three views of 8 MiB at most, or
	// its output.
	MaxMessage = 32 << 20
)

// Handshake proves to the process that a host started it.
func Handshake() plugin.HandshakeConfig {
	return plugin.HandshakeConfig{ProtocolVersion: 1, MagicCookieKey: "SCROLLERY_SANDBOX", MagicCookieValue: "sandbox-program-1"}
}

// Main serves until the host ends the process.
func Main() {
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: Handshake(), TLSProvider: peer.Provide,
		Plugins: plugin.PluginSet{Name: &served{}},
		GRPCServer: func(options []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(options, grpc.MaxRecvMsgSize(MaxMessage), grpc.MaxSendMsgSize(MaxMessage))...)
		},
		Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Error, Output: os.Stderr, JSONFormat: true}),
	})
}

// served is the service as go-plugin wants it.
type served struct{ plugin.NetRPCUnsupportedPlugin }

func (*served) GRPCServer(_ *plugin.GRPCBroker, server *grpc.Server) error {
	sandboxv1.RegisterSandboxServiceServer(server, service{})
	return nil
}

func (*served) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("this end only serves")
}

type service struct {
	sandboxv1.UnimplementedSandboxServiceServer
}

func (service) Run(_ context.Context, in *sandboxv1.RunRequest) (*sandboxv1.RunResponse, error) {
	return run(in)
}
