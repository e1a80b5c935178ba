package stage

import (
	"context"
	"errors"
	"fmt"
	"time"

	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// Memory keeps public pages for all accounts of a server, so that a site is asked for each
// of them once in a while, and not once for each account. Only stages that come with the
// server have it: what one writes there, the calls of other accounts read.
type Memory interface {
	// Recall returns the page of that name as it was last remembered, nil if it never was.
	// A zero since only looks.
	// With renew, it was remembered before since, and this call is the only one that
	// reads it anew: it must Remember what came, failures included. A call that another
	// one is ahead of waits for that one's page.
	Recall(ctx context.Context, name string, since time.Time) (page []byte, renew bool, err error)
	// Remember keeps a page of at most [MaxPage] bytes. It must say nothing of the account
	// or the call that read it.
	Remember(ctx context.Context, name string, page []byte) error
}

// MaxPage bounds a page of [Memory], in bytes, and MaxPageName its name.
const (
	MaxPage     = 256 << 10
	MaxPageName = 200
)

// Recall is Memory.Recall of the server. Without a memory, every page is to be read anew.
func (c *Call) Recall(ctx context.Context, name string, since time.Time) (page []byte, renew bool, err error) {
	if c.Memory == nil {
		return nil, true, ctx.Err()
	}
	return c.Memory.Recall(ctx, name, since)
}

// Remember is Memory.Remember of the server.
func (c *Call) Remember(ctx context.Context, name string, page []byte) error {
	if c.Memory == nil {
		return ctx.Err()
	}
	return c.Memory.Remember(ctx, name, page)
}

// recallEvery is how often a call looks for the page that another one is reading.
const recallEvery = 250 * time.Millisecond

// hostMemory is the memory at the host's end of the stream.
type hostMemory struct {
	spender  *spender
	progress func(note string)
}

func (m hostMemory) Recall(ctx context.Context, name string, since time.Time) ([]byte, bool, error) {
	message := &stagev1.Recall{Name: name}
	if !since.IsZero() {
		message.Since = since.UnixMilli()
	}
	for {
		grant, err := m.spender.ask(&stagev1.CallResponse{Message: &stagev1.CallResponse_Recall{
			Recall: message,
		}})
		switch {
		case err != nil:
			return nil, false, fmt.Errorf("recall %s: %w", name, err)
		case grant.GetGranted(), grant.GetRetryAt() == 0:
			return grant.GetValue(), grant.GetGranted(), ctx.Err()
		}
		m.progress("waiting for a page")
		select {
		case <-time.After(recallEvery):
		case <-ctx.Done():
			return nil, false, context.Cause(ctx)
		}
	}
}

func (m hostMemory) Remember(ctx context.Context, name string, page []byte) error {
	if len(page) > MaxPage {
		return errors.New("the page is too large to be remembered")
	}
	_, err := m.spender.ask(&stagev1.CallResponse{Message: &stagev1.CallResponse_Remember{
		Remember: &stagev1.Remember{Name: name, Value: page},
	}})
	if err != nil {
		return fmt.Errorf("remember %s: %w", name, err)
	}
	return ctx.Err()
}
