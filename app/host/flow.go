package host

import (
	"context"
	"time"

	"google.golang.org/protobuf/proto"

	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

const (
	// burst is how many seconds of its rate a call may send at once.
	burst = 4
	// leastCost is what the smallest message counts for its rate, in bytes, and wishCost a
	// wish for a quota, a token or a state: the host asks the database, or writes, for each of these.
	leastCost = 256
	wishCost  = 16 << 10
)

// flow bounds what an external plugin sends in one call. The zero value bounds nothing.
type flow struct {
	left int64   // bytes of the call
	rate float64 // bytes a second
	full float64 // what may be sent now, below zero while the call waits
	last time.Time
}

func newFlow(bytes, rate int64, now time.Time) flow {
	return flow{left: bytes, rate: float64(rate), full: burst * float64(rate), last: now}
}

// take counts a message. It returns how long the host waits before it reads the next one.
func (f *flow) take(message *stagev1.CallResponse, now time.Time) (time.Duration, error) {
	if f.rate == 0 {
		return 0, nil
	}
	size := int64(proto.Size(message))
	if f.left -= size; f.left < 0 {
		return 0, protocol("sent more bytes than a call may")
	}
	cost := max(size, leastCost)
	if message.GetSpend() != nil || message.GetToken() != nil || message.GetKeep() != nil {
		cost = max(size, wishCost)
	}
	f.full = min(f.full+now.Sub(f.last).Seconds()*f.rate, burst*f.rate) - float64(cost)
	f.last = now
	if f.full >= 0 {
		return 0, nil
	}
	return time.Duration(-f.full / f.rate * float64(time.Second)), nil
}

// pace takes a message, and waits where the plugin is too fast.
func (f *flow) pace(ctx context.Context, message *stagev1.CallResponse) error {
	wait, err := f.take(message, time.Now())
	if err != nil || wait == 0 {
		return err
	}
	select {
	case <-time.After(wait):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
