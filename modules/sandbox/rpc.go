package sandbox

import (
	"context"

	"github.com/scrollery/scrollery/modules/door"
	"github.com/scrollery/scrollery/modules/fault"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// Operations mounts the room on both doors.
func (s *Service) Operations(m *door.Mux) {
	door.Unary(m, "WriteSandboxFile", s.writeSandboxFile)
	door.Unary(m, "RunAgent", func(context.Context, *pb.RunAgentRequest) (*pb.RunAgentResponse, error) {
		// Not worth a retry: no later call fares better.
		return nil, &fault.Error{Kind: fault.UpstreamError, Message: "The agent is not configured on this server."}
	})
}

func (s *Service) writeSandboxFile(ctx context.Context, req *pb.WriteSandboxFileRequest) (*pb.WriteSandboxFileResponse, error) {
	if err := s.WriteFile(ctx, req.GetPath(), req.GetData()); err != nil {
		return nil, err
	}
	return &pb.WriteSandboxFileResponse{Path: req.GetPath()}, nil
}
