package store

import (
	"context"
	"database/sql/driver"
	"fmt"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
)

// patience bounds the wait for a connection by the patience of ctx, as in
// apierr.WithPatience.
func patience(ctx context.Context) (context.Context, context.CancelFunc) {
	if wait, ok := apierr.Patience(ctx); ok {
		return context.WithTimeout(ctx, wait)
	}
	return ctx, func() {}
}

// outOfPatience replaces the error of a wait that patience has ended.
func outOfPatience(ctx, waited context.Context, err error) error {
	if err == nil || waited.Err() == nil || ctx.Err() != nil {
		return err
	}
	return apierr.Busy(fmt.Errorf("no connection to the database was free: %w", err))
}

// patient makes connections, and waits no longer than the patience of the context.
type patient struct{ driver.Connector }

func (p patient) Connect(ctx context.Context) (driver.Conn, error) {
	waiting, cancel := patience(ctx)
	defer cancel()
	conn, err := p.Connector.Connect(waiting)
	return conn, outOfPatience(ctx, waiting, err)
}
