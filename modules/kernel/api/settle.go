package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
)

// join has the first write of the call take its event along, as that of a success.
func (c *call) join(ctx context.Context) context.Context {
	joiner, ok := c.mux.recorder.(Joiner)
	if !ok || c.op.desc.IsStreamingServer() {
		return ctx
	}
	ctx, c.joined = joiner.Join(ctx, func() Event { return c.event(nil) })
	return ctx
}

// event is the usage event of the call when it ends with err.
func (c *call) event(err error) Event {
	event := Event{Op: c.op.Id, Status: eventStatus(err), Viewer: c.viewer, At: c.start, OverRate: c.overRate || overRate(err)}
	if err == nil && c.viewer != nil {
		event.Units = c.units
	}
	return event
}

// settle records the call's event, once, and returns the error for the caller. A
// success whose event cannot be recorded becomes an error: an answer that is not
// counted must not be released. An error never hides a write that was committed: where
// the database was lost after it, or in its commit, the caller gets no answer.
func (c *call) settle(ctx context.Context, err error) error {
	if c.recorded || c.op == nil {
		return err
	}
	c.recorded = true
	away := err != nil && (apierr.IsBusy(err) || apierr.As(err) == nil && c.mux.config.Lost != nil && c.mux.config.Lost(err))
	if c.joined != nil {
		if written := c.joined.Close(); written != nil {
			return c.settleWritten(ctx, *written, err, away)
		}
	}
	switch {
	case errors.Is(err, apierr.ErrUnknown):
		c.hangUp(err)
	case apierr.IsBusy(err):
		return err // no event: writing it would add to what there is too much of
	case away:
		return apierr.Busy(err)
	}
	if failed := c.mux.recorder.Record(context.WithoutCancel(ctx), c.event(err)); failed != nil {
		if err == nil && c.mux.config.Lost != nil && c.mux.config.Lost(failed) {
			return apierr.Busy(fmt.Errorf("usage event not written: %w", failed))
		}
		if err == nil {
			return fmt.Errorf("usage event not written: %w", failed)
		}
		c.note("usage_error", failed)
	}
	return err
}

// settleWritten settles a call whose event was committed with its write.
func (c *call) settleWritten(ctx context.Context, written Event, err error, away bool) error {
	if away {
		c.hangUp(err)
	}
	if now := c.event(err); now.Status != written.Status || now.Units != written.Units {
		if failed := c.joined.Amend(context.WithoutCancel(ctx), now); failed != nil {
			c.note("usage_error", failed)
		}
	}
	return err
}

// hangUp ends the call without an answer: an answer would have to say whether the
// operation was done.
func (c *call) hangUp(cause error) {
	c.code, c.cause = "no_answer", cause
	panic(http.ErrAbortHandler)
}

// overRate reports whether a refusal is of those of which there can be any number.
func overRate(err error) bool {
	f := apierr.As(err)
	return f != nil && f.OverRate
}
