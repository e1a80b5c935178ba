package scrolls

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/stage"
)

// looking is the evidence stage at work on some videos.
type looking struct {
	r *run
	// outer is the stage's own context; ctx ends a little before it does, so that
	// what was found can still be written.
	outer, ctx context.Context
	cancel     context.CancelFunc
	ids        []int64
	// plain stages read what the records hold, watchers look at media.
	plain, watchers []string
	found           map[stage.Ref]*stage.Finding
	accounts        []Looked
	faults          map[string]int
}

// Looked is what came of one evidence stage, or of a source that was asked for media.
type Looked struct {
	Stage   string `json:"stage"`
	Outcome string `json:"outcome"`
	// Asked and Found count videos.
	Asked   int    `json:"asked,omitempty"`
	Found   int    `json:"found,omitempty"`
	RetryAt *int64 `json:"retryAt,omitempty"`
}

// shareOfTime is the part of the stage's deadline that plugins get.
const shareOfTime = 0.9

func newLooking(r *run, ctx context.Context, ids []int64) *looking {
	l := &looking{r: r, outer: ctx, ctx: ctx, cancel: func() {}, ids: ids, found: map[stage.Ref]*stage.Finding{}, faults: map[string]int{}}
	if end, ok := ctx.Deadline(); ok {
		left := time.Duration(shareOfTime * float64(time.Until(end)))
		l.ctx, l.cancel = context.WithTimeoutCause(ctx, left, errDeadline)
	}
	for _, id := range r.template.Evidence {
		switch media, ok := r.s.needs.Filters.Looks(id); {
		case !ok:
			r.log.Debug("evidence stage is not usable", "stage", id)
		case media:
			l.watchers = append(l.watchers, id)
		default:
			l.plain = append(l.plain, id)
		}
	}
	return l
}

// looker is where evidence stages are called: the house, or a folder of media.
type looker interface {
	Evidence(ctx context.Context, id string, run stage.Run, next func() ([]stage.Record, error), emit func([]stage.Finding) error) error
}

// media is what was fetched for some videos, and where.
type media struct {
	folder MediaFolder
	files  map[stage.Ref]string
}

// pass streams items through one stage; a later stage sees what those before found.
// What a stage found before it failed stays good. share of the whole stage's
// progress begins at from.
func (l *looking) pass(id string, ids []int64, has *media, from, share float64) error {
	if len(ids) == 0 || l.faults[id] >= maxFaults {
		return nil
	}
	asked := make(map[stage.Ref]bool, len(ids))
	next := l.r.stream(l.ctx, ids, func(items []item, done float64) ([]stage.Record, error) {
		records := make([]stage.Record, 0, len(items))
		for _, i := range items {
			apply(&i.record, l.found[i.record.Ref])
			if has != nil {
				if i.record.Media = has.files[i.record.Ref]; i.record.Media == "" {
					continue
				}
			}
			asked[i.record.Ref] = true
			records = append(records, i.record)
		}
		return records, l.progress(from + share*done)
	})
	var where looker = l.r.s.needs.Filters
	if has != nil {
		where = has.folder
	}
	fresh := map[stage.Ref]*stage.Finding{}
	err := where.Evidence(l.ctx, id, l.r.call, next, func(findings []stage.Finding) error {
		for _, f := range findings {
			if asked[f.Ref] {
				fresh[f.Ref] = &f
			}
		}
		return nil
	})
	l.add(fresh)
	return l.account(Looked{Stage: id, Asked: len(asked), Found: len(fresh)}, err)
}

// plainShare is the part of the progress that stages without media make.
const plainShare = 0.3

func (l *looking) progress(fraction float64) error {
	if len(l.watchers) > 0 {
		fraction *= plainShare
	}
	return l.note(fraction)
}

func (l *looking) note(fraction float64) error {
	return l.r.note(l.outer, func(next *state) { next.progress.raise(percent(Evidence, 0.9*fraction)) })
}

// add joins what a stage found to what those before it found.
func (l *looking) add(fresh map[stage.Ref]*stage.Finding) {
	for ref, f := range fresh {
		if l.found[ref] == nil {
			l.found[ref] = f
			continue
		}
		var whole stage.Record
		apply(&whole, l.found[ref])
		apply(&whole, f)
		l.found[ref] = &stage.Finding{Ref: ref, Evidence: *whole.Evidence, Keys: whole.Keys}
	}
}

// maxFaults is how often one stage may fail within a scroll before it is left alone.
const maxFaults = 2

// account keeps what came of a stage. An error of its own, or the end of the time
// that it has, is part of that; any other is the scroll's, and returned.
func (l *looking) account(one Looked, err error) error {
	var fault *stage.CallError
	switch {
	case l.outer.Err() != nil:
		return context.Cause(l.outer)
	case err == nil:
	case errors.As(err, &fault), l.ctx.Err() != nil:
		one.Outcome, one.RetryAt = string(shortcoming(fault)), retryAt(fault)
		l.faults[one.Stage]++
		if one.Outcome == string(stage.Quota) || one.Outcome == string(stage.Misconfigured) {
			l.faults[one.Stage] = maxFaults // asking again helps nothing
		}
		l.r.log.Warn("evidence is absent", "stage", one.Stage, "asked", one.Asked, "found", one.Found, "error", err)
	default:
		return err
	}
	l.keep(one)
	return nil
}

// keep adds up the accounts of a stage. The first trouble is the one that is told.
func (l *looking) keep(one Looked) {
	at := slices.IndexFunc(l.accounts, func(old Looked) bool { return old.Stage == one.Stage })
	if at < 0 {
		at = len(l.accounts)
		l.accounts = append(l.accounts, Looked{Stage: one.Stage, Outcome: string(stage.OK)})
	}
	whole := &l.accounts[at]
	whole.Asked, whole.Found = whole.Asked+one.Asked, whole.Found+one.Found
	if whole.Outcome == string(stage.OK) && one.Outcome != "" {
		whole.Outcome, whole.RetryAt = one.Outcome, one.RetryAt
	}
	if whole.Outcome == string(stage.Blocked) && whole.Found > 0 {
		whole.Outcome = string(stage.Partial)
	}
}

// shortcoming says in the words of coverage why evidence is absent; nil stands for
// the end of the time.
func shortcoming(fault *stage.CallError) stage.Status {
	switch {
	case fault == nil:
		return stage.Partial
	case fault.Failure == stage.SourceQuota:
		return stage.Quota
	case fault.Setup, fault.Failure == stage.SourceUnauthorized:
		return stage.Misconfigured
	}
	return stage.Blocked
}

func retryAt(fault *stage.CallError) *int64 {
	if fault == nil {
		return nil
	}
	return fault.RetryAt
}

// write commits what was found of items, in batches; doing it twice changes nothing.
func (l *looking) write(ids []int64) error {
	r := l.r
	return r.batches(l.outer, ids, func(items []item) (bool, error) {
		items = slices.DeleteFunc(items, func(i item) bool { return l.found[i.record.Ref] == nil })
		for n := range items {
			apply(&items[n].record, l.found[items[n].record.Ref])
		}
		err := r.commit(l.outer, false, func(ctx context.Context, tx *store.Tx, _ *state) error {
			return r.updateRecords(ctx, tx, items)
		})
		r.pause(l.outer, Evidence, "batch")
		return true, err
	})
}
