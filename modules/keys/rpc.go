package keys

import (
	"context"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/modules/kernel/api"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// Operations mounts the module's operations on every protocol.
func (s *Service) Operations(m *api.Mux) {
	api.Unary(m, "Recover", s.sendCodeTo)
	api.Unary(m, "Reissue", s.reissue)
	api.Unary(m, "CreateSessionKey", s.createSessionKey)
}

func (s *Service) sendCodeTo(ctx context.Context, req *pb.RecoverRequest) (*pb.RecoverResponse, error) {
	if err := s.Recover(ctx, req.GetEmail()); err != nil {
		return nil, err
	}
	return &pb.RecoverResponse{
		Sent:    true,
		Message: "If this address has an account, a one-time code is on its way to it.",
	}, nil
}

func (s *Service) reissue(ctx context.Context, req *pb.ReissueRequest) (*pb.ReissueResponse, error) {
	status, apiKey, err := s.Reissue(ctx, req.GetEmail(), req.GetCode())
	if err != nil {
		return nil, err
	}
	resp := &pb.ReissueResponse{Status: status}
	if apiKey != "" {
		resp.ApiKey = proto.String(apiKey)
	}
	return resp, nil
}

func (s *Service) createSessionKey(ctx context.Context, req *pb.CreateSessionKeyRequest) (*pb.CreateSessionKeyResponse, error) {
	session, err := s.CreateSession(ctx, req.GetScopes(), time.Duration(req.GetTtlSeconds())*time.Second)
	if err != nil {
		return nil, err
	}
	return &pb.CreateSessionKeyResponse{
		ApiKey: session.Secret, KeyId: session.ID, Scopes: session.Scopes,
		ExpiresAt: float64(session.ExpiresAt.UnixMilli()),
	}, nil
}
