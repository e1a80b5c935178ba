package jobs

import (
	"log/slog"

	"go.uber.org/fx"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// Module provides the queue of the workers and periodics that the modules provide as groups.
// Whether this process works is for the app to say: it starts the queue, and stops it before the
// database is closed.
var Module = fx.Module("jobs", fx.Provide(provideQueue))

type queueParams struct {
	fx.In
	DB        *store.DB
	Workers   []Worker   `group:"workers"`
	Periodics []Periodic `group:"periodics"`
	Log       *slog.Logger
}

func provideQueue(p queueParams) (*Queue, error) {
	return NewQueue(p.DB, p.Workers, p.Periodics, p.Log)
}
