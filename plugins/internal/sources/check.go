package sources

import (
	"context"
	"errors"
	"maps"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

// Check makes the request of a source's check: once, since the person who waits for it can try
// again. ask gets a call without patience, and returns the line for people. A *site.Stop of it
// becomes the error that says the same.
func Check(ctx context.Context, call *stage.Call, ask func(ctx context.Context, call *stage.Call) (string, error)) (string, error) {
	once := *call
	once.Settings = map[string]string{}
	maps.Copy(once.Settings, call.Settings)
	once.Settings["patience"] = "0s"
	line, err := ask(ctx, &once)
	var stop *site.Stop
	switch {
	case err == nil:
		return line, nil
	case ctx.Err() != nil:
		return "", stage.Busyf(0, "the site did not answer in time")
	case errors.As(err, &stop):
		return "", faultOf(stop)
	}
	return "", err
}

// faultOf is the error of a stop that is about no seed.
func faultOf(stop *site.Stop) error {
	fault := &stage.Error{Fault: stage.FaultBusy, Message: stop.Detail, RetryAt: stop.RetryAt}
	switch stop.Status {
	case stage.Quota:
		fault.Fault = stage.FaultQuota
	case stage.Misconfigured:
		fault.Fault = stage.FaultMisconfigured
	case stage.NotFound:
		fault.Fault = stage.FaultNotFound
	case stage.Changed:
		fault.Fault = stage.FaultInternal // its code is older than the interface
	}
	return fault
}
