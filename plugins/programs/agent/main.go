package agent

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/scrollery/scrollery/plugins/stage/peer"
	agentv1 "github.com/scrollery/scrollery/proto/gen/scrollery/agent/v1"
)

// What both ends name in the handshake.
const (
	// ID is the plugin's word on the command line.
	ID = "agent"
	// Name of the one service behind the handshake.
	Name = "agent"
	// MaxMessage in bytes: a move, or what came of its calls.
	MaxMessage = 8 << 20
)

// Handshake proves to the process that a host started it.
func Handshake() plugin.HandshakeConfig {
	return plugin.HandshakeConfig{ProtocolVersion: 1, MagicCookieKey: "SCROLLERY_AGENT", MagicCookieValue: "agent-planner-1"}
}

// Main serves until the host ends the process.
func Main() { Serve(service{}) }

// Serve is Main with another planner.
func Serve(planner agentv1.AgentServiceServer) {
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: Handshake(), TLSProvider: peer.Provide,
		Plugins: plugin.PluginSet{Name: &served{planner: planner}},
		GRPCServer: func(options []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(options, grpc.MaxRecvMsgSize(MaxMessage), grpc.MaxSendMsgSize(MaxMessage))...)
		},
		Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Error, Output: os.Stderr, JSONFormat: true}),
	})
}

// served is the service as go-plugin wants it.
type served struct {
	plugin.NetRPCUnsupportedPlugin
	planner agentv1.AgentServiceServer
}

func (s *served) GRPCServer(_ *plugin.GRPCBroker, server *grpc.Server) error {
	agentv1.RegisterAgentServiceServer(server, s.planner)
	return nil
}

func (*served) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("this end only serves")
}

type service struct {
	agentv1.UnimplementedAgentServiceServer
}

// Plan has one conversation with the endpoint.
func (service) Plan(stream grpc.BidiStreamingServer[agentv1.PlanRequest, agentv1.PlanResponse]) error {
	request, err := stream.Recv()
	if err != nil {
		return err
	}
	begin := request.GetBegin()
	endpoint := begin.GetEndpoint()
	if endpoint.GetUrl() == "" || endpoint.GetTimeoutMillis() <= 0 {
		return status.Error(codes.InvalidArgument, "a conversation begins with a goal and an endpoint")
	}
	talk, err := begun(begin)
	if err != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	for {
		move, err := talk.next(stream.Context(), request.GetSeen().GetObservations())
		if err != nil {
			return status.Error(codes.Aborted, cut(strings.ToValidUTF8(err.Error(), "�")))
		}
		if err := stream.Send(&agentv1.PlanResponse{Move: move}); err != nil {
			return err
		}
		if request, err = stream.Recv(); err != nil {
			return err
		}
	}
}

// maxReason is the most bytes of what is said about an endpoint that failed: some
// of it may be the endpoint's own words.
const maxReason = 300

func cut(text string) string {
	if len(text) > maxReason {
		return strings.ToValidUTF8(text[:maxReason], "") + "…"
	}
	return text
}

// timeout is how long one move may take.
func timeout(e *agentv1.Endpoint) time.Duration {
	return time.Duration(e.GetTimeoutMillis()) * time.Millisecond
}
