package keys

import (
	"context"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/mail"
	"github.com/scrollery/scrollery/modules/kernel/paging"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// Operations mounts the module's operations on every protocol.
func (s *Service) Operations(m *api.Mux) {
	api.Unary(m, "Recover", s.Codes.sendCodeTo, func(_ context.Context, req *pb.RecoverRequest) error { return checkEmail(req.GetEmail()) })
	api.Unary(m, "Reissue", s.Codes.reissue, func(_ context.Context, req *pb.ReissueRequest) error { return checkEmail(req.GetEmail()) })
	api.Unary(m, "CreateSessionKey", s.createSessionKey, s.checkSession)
	api.Unary(m, "ListKeys", s.listKeys, func(_ context.Context, req *pb.ListKeysRequest) error {
		_, err := paging.Start(req.GetPageToken())
		return err
	})
	api.Unary(m, "RevokeKey", s.revokeKey)
}

func checkEmail(email string) error {
	if _, ok := mail.Address(email); !ok {
		return apierr.Invalid("email", "must be an e-mail address")
	}
	return nil
}

func (s *Service) checkSession(_ context.Context, req *pb.CreateSessionKeyRequest) error {
	var issues []apierr.Issue
	if f := apierr.As(known(req.GetScopes())); f != nil {
		issues = f.Issues
	}
	if req.TtlSeconds != nil {
		if f := apierr.As(s.checkTTL(seconds(req))); f != nil {
			issues = append(issues, f.Issues...)
		}
	}
	if len(issues) > 0 {
		return apierr.InvalidIssues(issues...)
	}
	return nil
}

// seconds is the lifetime that was asked for; 0 for none.
func seconds(req *pb.CreateSessionKeyRequest) time.Duration {
	return time.Duration(req.GetTtlSeconds()) * time.Second
}

func (c *Codes) sendCodeTo(ctx context.Context, req *pb.RecoverRequest) (*pb.RecoverResponse, error) {
	if err := c.Recover(ctx, req.GetEmail()); err != nil {
		return nil, err
	}
	return &pb.RecoverResponse{
		Sent:    true,
		Message: "If this address has an account, a one-time code is on its way to it.",
	}, nil
}

func (c *Codes) reissue(ctx context.Context, req *pb.ReissueRequest) (*pb.ReissueResponse, error) {
	status, apiKey, err := c.Reissue(ctx, req.GetEmail(), req.GetCode(), api.ClientAddress(ctx))
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
	session, err := s.CreateSession(ctx, req.GetScopes(), seconds(req))
	if err != nil {
		return nil, err
	}
	return &pb.CreateSessionKeyResponse{
		ApiKey: session.Secret, KeyId: session.ID, Scopes: session.Scopes,
		ExpiresAt: float64(session.ExpiresAt.UnixMilli()), AccountId: publicid.Format(publicid.Account, viewer.FromContext(ctx).AccountID),
	}, nil
}

func (s *Service) listKeys(ctx context.Context, req *pb.ListKeysRequest) (*pb.ListKeysResponse, error) {
	size := defaultPage
	if req.PageSize != nil {
		size = int(*req.PageSize)
	}
	keys, next, err := s.Own(ctx, size, req.GetPageToken())
	if err != nil {
		return nil, err
	}
	resp := &pb.ListKeysResponse{}
	if next != "" {
		resp.NextPageToken = &next
	}
	for _, key := range keys {
		resp.Keys = append(resp.Keys, message(key))
	}
	return resp, nil
}

func (s *Service) revokeKey(ctx context.Context, req *pb.RevokeKeyRequest) (*pb.RevokeKeyResponse, error) {
	key, err := s.RevokeOwn(ctx, req.GetId())
	if err != nil || key == nil {
		return &pb.RevokeKeyResponse{}, err
	}
	return &pb.RevokeKeyResponse{Found: true, Key: message(*key)}, nil
}

func message(k OwnKey) *pb.Key {
	out := &pb.Key{
		Id: k.ID, Hint: k.Hint, Scopes: k.Scopes, Current: k.Current, Active: k.Active, CreatedAt: float64(k.CreatedAt.UnixMilli()),
		ExpiresAt: millis(k.ExpiresAt), RevokedAt: millis(k.RevokedAt),
	}
	if k.ParentID != "" {
		out.ParentId = &k.ParentID
	}
	return out
}

func millis(at time.Time) *float64 {
	if at.IsZero() {
		return nil
	}
	return proto.Float64(float64(at.UnixMilli()))
}
