package sandbox

import (
	"context"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/files"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// Operations mounts the sandbox on every protocol.
func (s *Service) Operations(m *api.Mux) {
	api.Unary(m, "WriteSandboxFile", s.writeSandboxFile, s.checkFile)
	api.Unary(m, "RunAgent", s.runAgent)
}

func (s *Service) checkFile(_ context.Context, req *pb.WriteSandboxFileRequest) error {
	if faults := files.Check(s.config.Files, req.GetPath(), req.GetData()); len(faults) > 0 {
		return invalid(faults...)
	}
	return nil
}

func (s *Service) writeSandboxFile(ctx context.Context, req *pb.WriteSandboxFileRequest) (*pb.WriteSandboxFileResponse, error) {
	if err := s.WriteFile(ctx, req.GetPath(), req.GetData()); err != nil {
		return nil, err
	}
	return &pb.WriteSandboxFileResponse{Path: req.GetPath()}, nil
}

func (s *Service) runAgent(ctx context.Context, req *pb.RunAgentRequest) (*pb.RunAgentResponse, error) {
	answer, err := s.RunAgent(ctx, req.GetGoal())
	if err != nil {
		return nil, err
	}
	return &pb.RunAgentResponse{Output: answer.Output, Steps: int32(answer.Steps)}, nil
}
