package customer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"connectrpc.com/connect"

	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

const (
	// retryFirst is the wait before a call is repeated; it doubles up to retryMost.
	retryFirst = 250 * time.Millisecond
	retryMost  = 5 * time.Second
	// outage is how long a server may not answer before a command gives up.
	outage = 10 * time.Minute
)

func ended(scroll *pb.Scroll) bool {
	switch scroll.GetStatus() {
	case "completed", "failed", "cancelled":
		return true
	}
	return false
}

// broken reports whether a call failed on its way, or in a server that stops: another
// one may succeed.
func broken(err error) bool {
	if refusal(err) != nil {
		return refusal(err).GetRetryable() || connect.CodeOf(err) == connect.CodeUnavailable
	}
	if errors.Is(err, errRedirect) {
		return false
	}
	switch connect.CodeOf(err) {
	case connect.CodeUnavailable, connect.CodeUnknown, connect.CodeInternal, connect.CodeDeadlineExceeded, connect.CodeAborted, connect.CodeCanceled:
		return true
	}
	return false
}

// follow shows the progress of a scroll until its end. The stream is the fast way; where
// it breaks, the scroll is asked for, and the stream is tried again.
func (c *call) follow(client *client, scroll *pb.Scroll) (*pb.Scroll, error) {
	bar := newBar(c)
	defer bar.end()
	id := scroll.GetId()
	bar.show(scroll)
	silent := time.Now() // since when the server has not answered
	for wait := retryFirst; ; wait = min(2*wait, retryMost) {
		if ended(scroll) {
			return scroll, nil
		}
		seen := func(next *pb.Scroll) {
			scroll, silent, wait = next, time.Now(), retryFirst
			bar.show(next)
		}
		err := watch(c.ctx, client, id, seen)
		if ended(scroll) {
			return scroll, nil
		}
		if err == nil || broken(err) {
			err = look(c.ctx, client, id, seen)
		}
		switch {
		case c.ctx.Err() != nil:
			return nil, fmt.Errorf("interrupted; the scroll goes on: `scrollery scroll show %s --follow`", id)
		case err != nil && !broken(err):
			if wait, limited := limitedFor(err); limited && wait <= maxPatience {
				_ = pause(c.ctx, wait)
				continue
			}
			return nil, err
		case err != nil && time.Since(silent) > outage:
			return nil, fmt.Errorf("the server has not answered for %v: %w", outage, err)
		case err != nil:
			bar.lost()
		}
		if !ended(scroll) {
			_ = pause(c.ctx, wait)
		}
	}
}

// idle is how long a stream may be silent before the scroll is asked for: a proxy may
// hold a stream back.
const idle = 15 * time.Second

// watch reads the stream until it ends, breaks or is silent.
func watch(ctx context.Context, client *client, id string, seen func(*pb.Scroll)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	silence := time.AfterFunc(idle, cancel)
	defer silence.Stop()
	return receive(ctx, client, &pb.WatchScrollRequest{Id: &id}, func(got *pb.WatchScrollResponse) error {
		silence.Reset(idle)
		seen(got.GetScroll())
		return nil
	})
}

// look asks once.
func look(ctx context.Context, client *client, id string, seen func(*pb.Scroll)) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	got, err := ask[*pb.GetScrollResponse](ctx, client, &pb.GetScrollRequest{Id: &id})
	if err != nil {
		return err
	}
	if !got.GetFound() {
		return fmt.Errorf("there is no scroll %s", id)
	}
	seen(got.GetScroll())
	return nil
}

// limitedFor is the time that the server asks to wait for its rate.
func limitedFor(err error) (time.Duration, bool) {
	body := refusal(err)
	if body.GetError() != "rate_limited" {
		return 0, false
	}
	return max(time.Duration(body.GetRetryAfter()*float64(time.Second)), retryFirst), true
}
