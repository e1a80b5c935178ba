package sandbox

import (
	"context"

	"github.com/scrollery/scrollery/modules/door"
	"github.com/scrollery/scrollery/modules/fault"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// Operations mounts the room on both doors.
func Operations(m *door.Mux) {
	door.Unary(m, "WriteSandboxFile", func(context.Context, *pb.WriteSandboxFileRequest) (*pb.WriteSandboxFileResponse, error) {
		return nil, absent("The sandbox is not configured on this server.")
	})
	door.Unary(m, "RunAgent", func(context.Context, *pb.RunAgentRequest) (*pb.RunAgentResponse, error) {
		return nil, absent("The agent is not configured on this server.")
	})
}

// absent is not worth a retry: no later call fares better.
func absent(message string) error {
	return &fault.Error{Kind: fault.UpstreamError, Message: message}
}
