package scrolls

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/scrollery/scrollery/modules/scrolls/coverage"
	"github.com/scrollery/scrollery/plugins/stage"
)

// examination is the step evidence for some videos.
type examination struct {
	r *run
	// outer is the context of the step; ctx ends a little earlier, so that findings
	// can still be written.
	outer, ctx context.Context
	cancel     context.CancelFunc
	ids        []int64
	// plain stages read the records, viewers read media.
	plain, viewers []string
	found          map[stage.Ref]*stage.Finding
	// asked are the ids of the videos that a stage was asked about.
	asked   map[int64]stage.Ref
	results []Looked
	faults  map[string]int
}

// Looked is the result of one evidence stage, or of a source that was asked for media.
type Looked struct {
	Stage   string `json:"stage"`
	Outcome string `json:"outcome"`
	// Asked and Found count videos.
	Asked   int    `json:"asked,omitempty"`
	Found   int    `json:"found,omitempty"`
	RetryAt *int64 `json:"retryAt,omitempty"`
}

// shareOfTime is the part of the step's deadline that evidence stages get, shareBeforeScreens
// that if screens look at what they find.
const (
	shareOfTime        = 0.9
	shareBeforeScreens = 0.7
)

func newExamination(r *run, ctx context.Context, ids []int64) *examination {
	x := &examination{r: r, outer: ctx, ctx: ctx, cancel: func() {}, ids: ids, found: map[stage.Ref]*stage.Finding{}, asked: map[int64]stage.Ref{}, faults: map[string]int{}}
	if end, ok := ctx.Deadline(); ok {
		share := shareOfTime
		if len(secondPass{r}.screens()) > 0 {
			share = shareBeforeScreens
		}
		left := time.Duration(share * float64(time.Until(end)))
		x.ctx, x.cancel = context.WithTimeoutCause(ctx, left, errDeadline)
	}
	for _, id := range r.template.Evidence {
		switch found := r.stages.Find(id); {
		case !found.Usable && !found.Resting: // a resting one is called: the result says that it rests
			r.log.Debug("evidence stage is not usable", "stage", id)
		case found.NeedsMedia:
			x.viewers = append(x.viewers, id)
		default:
			x.plain = append(x.plain, id)
		}
	}
	return x
}

// media are the files that were fetched for some videos.
type media struct {
	folder MediaFolder
	files  map[stage.Ref]string
}

// pass streams items through one stage, which sees what earlier ones found. What it
// found before it failed stays valid. The progress goes from from to from + share.
func (x *examination) pass(id string, ids []int64, has *media, from, share float64) error {
	if len(ids) == 0 || x.faults[id] >= maxFaults {
		return nil
	}
	asked := make(map[stage.Ref]bool, len(ids))
	next := x.r.stream(x.ctx, ids, func(items []item, done float64) ([]stage.Record, error) {
		records := make([]stage.Record, 0, len(items))
		for _, i := range items {
			apply(&i.record, x.found[i.record.Ref])
			if has != nil {
				if i.record.Media = has.files[i.record.Ref]; i.record.Media == "" {
					continue
				}
			}
			asked[i.record.Ref], x.asked[i.id] = true, i.record.Ref
			records = append(records, i.record)
		}
		return records, x.progress(from + share*done)
	})
	var stages Examiner = x.r.stages
	if has != nil {
		stages = has.folder
	}
	fresh := map[stage.Ref]*stage.Finding{}
	err := stages.Evidence(x.ctx, id, x.r.call, next, func(findings []stage.Finding) error {
		for _, f := range findings {
			if asked[f.Ref] {
				if !x.r.call.Frames || has == nil { // none but of videos that it was given
					f.Frames = nil
				}
				fresh[f.Ref] = &f
			}
		}
		return nil
	})
	x.add(fresh)
	return x.result(Looked{Stage: id, Asked: len(asked), Found: len(fresh)}, err)
}

// plainShare is the share of the plain stages in the progress.
const plainShare = 0.3

func (x *examination) progress(fraction float64) error {
	if len(x.viewers) > 0 {
		fraction *= plainShare
	}
	return x.note(fraction)
}

func (x *examination) note(fraction float64) error {
	return x.r.note(x.outer, func(next *state) { next.progress.raise(x.r.in.percent(Evidence, 0.9*fraction)) })
}

// add merges the findings of a stage into those of earlier ones.
func (x *examination) add(fresh map[stage.Ref]*stage.Finding) {
	for ref, f := range fresh {
		if x.found[ref] == nil {
			x.found[ref] = f
			continue
		}
		var whole stage.Record
		apply(&whole, x.found[ref])
		apply(&whole, f)
		frames := x.found[ref].Frames
		if len(frames) == 0 {
			frames = f.Frames
		}
		x.found[ref] = &stage.Finding{Ref: ref, Evidence: *whole.Evidence, Keys: whole.Keys, Frames: frames}
	}
}

// maxFaults is how often one stage may fail in a scroll before it is called no more.
const maxFaults = 2

// result keeps the result of a stage. It includes an error of the stage, and the end
// of the time; any other error is the scroll's, and returned.
func (x *examination) result(one Looked, err error) error {
	var fault *stage.CallError
	switch {
	case x.outer.Err() != nil:
		return context.Cause(x.outer)
	case err == nil:
	case errors.As(err, &fault), x.ctx.Err() != nil:
		one.Outcome, one.RetryAt = string(coverage.Status(fault)), retryAt(fault)
		x.faults[one.Stage]++
		if one.Outcome == string(stage.Quota) || one.Outcome == string(stage.Misconfigured) {
			x.faults[one.Stage] = maxFaults // another call would not help
		}
		x.r.log.Warn("evidence is absent", "stage", one.Stage, "asked", one.Asked, "found", one.Found, "error", err)
	default:
		return err
	}
	x.keep(one)
	return nil
}

// keep adds up the results of a stage. The first failure is the one that it shows.
func (x *examination) keep(one Looked) {
	at := slices.IndexFunc(x.results, func(old Looked) bool { return old.Stage == one.Stage })
	if at < 0 {
		at = len(x.results)
		x.results = append(x.results, Looked{Stage: one.Stage, Outcome: string(stage.OK)})
	}
	whole := &x.results[at]
	whole.Asked, whole.Found = whole.Asked+one.Asked, whole.Found+one.Found
	if whole.Outcome == string(stage.OK) && one.Outcome != "" {
		whole.Outcome, whole.RetryAt = one.Outcome, one.RetryAt
	}
	if whole.Outcome == string(stage.Blocked) && whole.Found > 0 {
		whole.Outcome = string(stage.Partial)
	}
}

func retryAt(fault *stage.CallError) *int64 {
	if fault == nil {
		return nil
	}
	return fault.RetryAt
}

// write commits the findings for items, in batches; doing it twice changes nothing.
func (x *examination) write(ids []int64) error {
	r := x.r
	ids = slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return x.found[x.asked[id]] == nil })
	return r.batches(x.outer, ids, func(items []item) (bool, error) {
		items = slices.DeleteFunc(items, func(i item) bool { return x.found[i.record.Ref] == nil })
		for n := range items {
			f := x.found[items[n].record.Ref]
			apply(&items[n].record, f)
			if len(f.Frames) > 0 {
				items[n].frames = f.Frames
			}
		}
		err := r.staged.found(x.outer, items)
		r.pause(x.outer, Evidence, "batch")
		return true, err
	})
}
