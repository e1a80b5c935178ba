package api

import (
	"log/slog"

	"go.uber.org/fx"
)

// Module provides the Mux with every operation of the group "operations"
// mounted. Whether all of the table is mounted is for the app to ask (Missing).
var Module = fx.Module("door", fx.Provide(build))

type needs struct {
	fx.In

	Config     Config
	Admitter   Admitter
	Recorder   Recorder
	Log        *slog.Logger
	Operations []Operations `group:"operations"`
}

func build(n needs) (*Mux, error) {
	m, err := New(n.Config, n.Admitter, n.Recorder, n.Log)
	if err != nil {
		return nil, err
	}
	for _, mount := range n.Operations {
		mount(m)
	}
	return m, m.Err()
}
