package host

import (
	"context"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// Memory keeps the public pages that built-in stages share between accounts.
type Memory interface {
	// Recall returns the page that a plugin last remembered under a name, nil if there is
	// none; a zero since only looks. Where that was before since, renew says that the caller is the one to read it
	// anew; busyUntil is set instead while another caller is.
	Recall(ctx context.Context, plugin, name string, since time.Time) (page []byte, renew bool, busyUntil time.Time, err error)
	// Remember stores a page for Recall.
	Remember(ctx context.Context, plugin, name string, page []byte) error
	// Release gives up a page that the caller was to read anew and did not.
	Release(ctx context.Context, plugin, name string) error
}

// memory answers what one call recalls and remembers.
type memory struct {
	plugin  string
	builtin bool
	pages   Memory // nil remembers nothing
	own     bool   // with an account's own secrets
	// reading are pages that the call is to read anew, and has not remembered yet.
	reading map[string]bool
}

func (m memory) recall(ctx context.Context, r *stagev1.Recall) (*stagev1.Grant, error) {
	if err := m.check(r.GetName()); err != nil {
		return nil, err
	}
	if m.pages == nil {
		return &stagev1.Grant{Granted: true}, nil
	}
	var since time.Time
	if at := r.GetSince(); at > 0 {
		since = time.UnixMilli(at)
	}
	page, renew, busy, err := m.pages.Recall(ctx, m.plugin, r.GetName(), since)
	if err != nil {
		return nil, &callerError{err}
	}
	if renew {
		m.reading[r.GetName()] = true
	}
	grant := &stagev1.Grant{Granted: renew, Value: page}
	if !busy.IsZero() {
		grant.RetryAt = busy.UnixMilli()
	}
	return grant, nil
}

func (m memory) remember(ctx context.Context, r *stagev1.Remember) (*stagev1.Grant, error) {
	if err := m.check(r.GetName()); err != nil {
		return nil, err
	}
	if size := len(r.GetValue()); size == 0 || size > stage.MaxPage {
		return nil, protocol("remembers a page of %d bytes, want 1 to %d", size, stage.MaxPage)
	}
	if m.pages != nil {
		if err := m.pages.Remember(ctx, m.plugin, r.GetName(), r.GetValue()); err != nil {
			return nil, &callerError{err}
		}
		delete(m.reading, r.GetName())
	}
	return &stagev1.Grant{Granted: true}, nil
}

// release gives up what a call that has ended did not read, so that no other one waits for it. What
// cannot be given up ends by itself.
func (m memory) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	for name := range m.reading {
		_ = m.pages.Release(ctx, m.plugin, name)
	}
}

// releaseWithin bounds the end of a call.
const releaseWithin = 5 * time.Second

// check refuses an external plugin, and a call with an account's own secrets: it could leave
// there what another account's call reads.
func (m memory) check(name string) error {
	switch {
	case !m.builtin:
		return protocol("asked for pages that only stages of the server share")
	case m.own:
		return protocol("asked for pages that accounts share, with the secrets of one")
	case name == "" || len(name) > stage.MaxPageName:
		return protocol("names a page by %d bytes, want 1 to %d", len(name), stage.MaxPageName)
	}
	return nil
}
