package app

import (
	"context"

	"go.uber.org/dig"
	"go.uber.org/fx"

	"github.com/scrollery/scrollery/modules/kernel/api"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// system serves the operations that belong to no module.
var system = fx.Provide(fx.Annotate(func() api.Operations {
	return func(m *api.Mux) {
		api.Unary(m, "GetHealth", func(context.Context, *pb.GetHealthRequest) (*pb.GetHealthResponse, error) {
			return &pb.GetHealthResponse{Status: "ok"}, nil
		})
	}
}, fx.ResultTags(`group:"operations"`)))

// cause is what went wrong, without the path through the graph that led there.
func cause(err error) error {
	if err == nil {
		return nil
	}
	return dig.RootCause(err)
}
