package account

import (
	"context"
	"io"

	"github.com/scrollery/scrollery/modules/kernel/api"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// Mount mounts the operations on every protocol.
func (s *Service) Mount(m *api.Mux) {
	api.Download(m, "ExportAccount", func(ctx context.Context, _ *scrolleryv1.ExportAccountRequest, out io.Writer) error {
		return s.exporter.export(ctx, out)
	})
	api.Unary(m, "GetAccount", s.getAccount)
	api.Unary(m, "EraseAccount", s.eraseAccount)
}

func (s *Service) eraseAccount(ctx context.Context, req *scrolleryv1.EraseAccountRequest) (*scrolleryv1.EraseAccountResponse, error) {
	do := s.Eraser.request
	if req.GetCancel() {
		do = s.Eraser.callOff
	}
	status, at, err := do(ctx)
	if err != nil {
		return nil, err
	}
	answer := &scrolleryv1.EraseAccountResponse{Status: status}
	if !at.IsZero() {
		ms := float64(at.UnixMilli())
		answer.EraseAt = &ms
	}
	return answer, nil
}
