package stage

import (
	"context"
	"log/slog"
	"net/http"
)

// Call is what a stage knows of the call that it works on.
type Call struct {
	Run
	// Settings and Secrets hold the wanted ones that are set, defaults filled in.
	Settings map[string]string
	Secrets  map[string]string
	// Scratch is an empty folder of this call's own, deleted after it. It is the
	// only place where a stage may write.
	Scratch string
	// Log ends up in the house's log. Never put a secret there.
	Log *slog.Logger
	// Transport leads to the hosts that the spec names; HTTP is the way to use it.
	// A test may set its own.
	Transport http.RoundTripper
	// Grant answers Spend; a test may set its own. Where it is nil, all is granted.
	Grant func(ctx context.Context, quota string, units int64, item string) error

	progress func(note string)
}

// Progress tells the house that the stage is still at it: a call that emits
// nothing and makes no progress for too long is ended. The note is for the log. It
// may be called as often as is handy: only a few a second travel.
func (c *Call) Progress(note string) {
	if c.progress != nil {
		c.progress(note)
	}
}
