package usage

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
)

var errNoTurn = errors.New("no usage event was written for too long")

// ask is the question of an event that is stored only where its account has a revision.
type ask struct {
	revision int64
	patience time.Duration // for a turn and a connection; 0 for any
	now      int64         // the account's revision, once the statement has run
	stored   int64         // the event's id, once it is stored
	refused  chan struct{} // closed once err is set
	err      error         // of this event, where it was taken out of its group
}

func newAsk(revision int64, patience time.Duration) *ask {
	return &ask{revision: revision, patience: patience, refused: make(chan struct{})}
}

type joinedKey struct{}

// RecordAt returns the account's revision in the table of [Config.Revisions], as of now.
// Where it is the given one, the same statement stores the event of the context's call,
// which [Recorder.Join] put there: so the answer is counted if and only if it is current.
// ok is false where nothing was asked: on SQLite, in a stream, and where the event is
// stored already.
//
// Where the event cannot be stored before the patience of ctx ends, it is not, and the
// error is that of apierr.Busy.
func RecordAt(ctx context.Context, account, revision int64) (now int64, ok bool, err error) {
	j, _ := ctx.Value(joinedKey{}).(*joined)
	if j == nil || !j.mu.TryLock() {
		return 0, false, nil
	}
	defer j.mu.Unlock()
	if j.closed {
		return 0, false, nil
	}
	e := j.event()
	row := rowOf(e)
	if row.accountID != account || e.OverRate {
		return 0, false, nil
	}
	patience, _ := apierr.Patience(ctx)
	row.ask = newAsk(revision, patience)
	// A caller that leaves now is counted as if the answer were sent.
	if err := j.recorder.store(context.WithoutCancel(ctx), row); err != nil {
		return 0, true, err
	}
	if row.ask.stored != 0 {
		j.closed, j.written, j.id = true, &e, row.ask.stored
	}
	return row.ask.now, true, nil
}

// of returns the error of the event, whose group ended with err.
func (a *ask) of(err error) error {
	if a != nil && a.err != nil {
		return a.err
	}
	return err
}

// impatience tells one who asks that the wait for a turn took too long, and that its event
// was taken out of its group.
func (a *ask) impatience() (out <-chan time.Time, refused <-chan struct{}, stop func()) {
	if a == nil {
		return nil, nil, func() {}
	}
	if a.patience <= 0 {
		return nil, a.refused, func() {}
	}
	timer := time.NewTimer(a.patience)
	return timer.C, a.refused, func() { timer.Stop() }
}

// leave takes the event of a question out of a group, unless that is being written.
func (r *Recorder) leave(from *group, a *ask) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gathering != from {
		return false
	}
	from.events = slices.DeleteFunc(from.events, func(e event) bool { return e.ask == a })
	return true
}

// impatient is the context of a group, with the patience of one who asks.
func impatient(ctx context.Context, events []event) context.Context {
	for _, e := range events {
		if e.ask != nil && e.ask.patience > 0 {
			return apierr.WithPatience(ctx, e.ask.patience)
		}
	}
	return ctx
}

// refuseAsks returns the events that do not ask, and has those who ask get err at once.
func refuseAsks(events []event, err error) (others []event) {
	for _, e := range events {
		if e.ask == nil {
			others = append(others, e)
			continue
		}
		e.ask.err = err
		close(e.ask.refused)
	}
	return others
}

// storedOf returns how many events of a group that was written are stored.
func storedOf(events []event) (n int) {
	for _, e := range events {
		if e.ask == nil || e.ask.stored != 0 {
			n++
		}
	}
	return n
}

// askedOf returns the revision that each account is asked for: the greatest of a group,
// as they only grow, and all who ask for another see that it is past. It returns the
// events without theirs.
func askedOf(events []event) (current []event, asked map[int64]int64) {
	for _, e := range events {
		if e.ask == nil {
			continue
		}
		if asked == nil {
			asked = map[int64]int64{}
		}
		if known, ok := asked[e.accountID]; !ok || e.ask.revision > known {
			asked[e.accountID] = e.ask.revision
		}
	}
	past := func(e event) bool { return e.ask != nil && e.ask.revision != asked[e.accountID] }
	if slices.ContainsFunc(events, past) {
		events = slices.DeleteFunc(slices.Clone(events), past)
	}
	return events, asked
}

// rowOf is the event's row, without an id.
func rowOf(e api.Event) event {
	row := event{op: e.Op, status: e.Status, units: int64(e.Units), at: e.At}
	if e.Viewer != nil {
		row.accountID, row.keyID = e.Viewer.AccountID, e.Viewer.KeyID
	}
	return row
}
