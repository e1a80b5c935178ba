package scrolls

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollery/scrollery/plugins/stage"
)

// source is a scripted source plugin.
type source struct {
	records  []stage.Record
	outcomes []stage.Outcome
	err      error
	// refreshes maps what it can look up to what it finds.
	refreshes map[stage.Ref]stage.Record
	gone      map[stage.Ref]bool // what it then says is not there
	seeds     []stage.Seed       // what it was asked
	lookedUp  []stage.Ref        // what it was asked for, of what is known
	// keeps is what it keeps of each seed, nil for nothing; given is what each call got of them.
	keeps func(call int, seed stage.Seed) []byte
	given []map[string]string
}

// call counts the calls of a stage and says how this one fails.
func (w *world) call(id string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls[id]++
	if fail := w.stageErr[id]; fail != nil {
		return fail(w.calls[id])
	}
	return nil
}

// Find describes the scripted sources, the planner `model`, the media source
// `fetcher`, and any other id as a screen or evidence stage.
func (w *world) Find(id string) Stage {
	found := Stage{ID: id, Usable: !slices.Contains(w.unusable, id), NeedsMedia: slices.Contains(w.watchers, id)}
	found.AfterEvidence = w.afterEvidence[id] != nil
	if !found.Usable {
		found.Off = "switched off"
	}
	if slices.Contains(w.resting, id) {
		found.Usable, found.Resting = false, true
	}
	source := w.sources[id]
	found.MostRecords, found.MostSetting = w.most, "limits.records"
	switch {
	case id == "model":
		found.Kind, found.Usable = stage.PlanKind, w.planner != nil
	case id == "fetcher":
		found.Kind, found.FetchesMedia, found.Usable = stage.SourceKind, true, w.film != nil
		found.Platforms = []string{"tiktok", "youtube", "instagram"}
	case source != nil:
		found.Kind, found.Platforms = stage.SourceKind, w.serves[id]
		found.After, found.Fallback = w.behind[id], w.behind[id] != nil
		found.Refreshes, found.Searches = source.refreshes != nil, !slices.Contains(w.offline, id)
	case slices.Contains([]string{"feed", "youtube", "tiktok", "instagram", "youtube-feed", "ytdlp", "api", "tool", "broken", "plan"}, id):
		found.Usable = false // not installed
	}
	return found
}

func (w *world) List() []Stage { return []Stage{w.Find("feed"), w.Find("fetcher")} }

func (w *world) Collect(ctx context.Context, id string, run stage.Run, seeds []stage.Seed, emit func([]stage.Record) error) ([]stage.Outcome, error) {
	fault := w.call(id)
	s := w.sources[id]
	w.mu.Lock()
	s.seeds = seeds
	if s.keeps != nil {
		given := map[string]string{}
		for _, seed := range seeds {
			given[placeOf(seed)] = string(run.States.State(seed))
		}
		s.given = append(s.given, given)
	}
	calls := len(s.given)
	w.mu.Unlock()
	for part := range slices.Chunk(s.records, 7) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := emit(part); err != nil {
			return nil, err
		}
	}
	for _, seed := range seeds {
		if s.keeps == nil {
			break
		}
		if err := run.States.Keep(ctx, seed, s.keeps(calls, seed)); err != nil {
			return nil, err
		}
	}
	outcomes := slices.Clone(s.outcomes)
	if w.serves[id] != nil { // it answers for what it was asked
		outcomes = slices.DeleteFunc(outcomes, func(o stage.Outcome) bool {
			return !slices.ContainsFunc(seeds, func(s stage.Seed) bool {
				return s.Text() == o.Seed && (s.Platform == "" || s.Platform == o.Platform)
			})
		})
	}
	return outcomes, errors.Join(fault, s.err)
}

func (w *world) Refresh(_ context.Context, id string, _ stage.Run, refs []stage.Ref, emit func([]stage.Record) error) (outcomes []stage.Outcome, err error) {
	w.sources[id].lookedUp = append(w.sources[id].lookedUp, refs...)
	for _, ref := range refs {
		if w.sources[id].gone[ref] {
			outcomes = append(outcomes, stage.Outcome{Seed: ref.ExternalID, Platform: ref.Platform, Status: stage.NotFound, Asked: 1})
		}
		if rec, ok := w.sources[id].refreshes[ref]; ok {
			if err := emit([]stage.Record{rec}); err != nil {
				return nil, err
			}
		}
	}
	return outcomes, w.sources[id].err
}

func (w *world) Screen(_ context.Context, id string, _ stage.Run, next func() ([]stage.Record, error), emit func([]stage.Verdict) error) (stage.Summary, error) {
	if err := w.call(id); err != nil {
		return stage.Summary{}, err
	}
	err := each(next, func(rec stage.Record) error {
		verdict := stage.Verdict{Ref: rec.Ref}
		if late := w.afterEvidence[id]; late != nil {
			verdict = late(rec)
		} else if w.screen != nil {
			verdict = w.screen(rec)
		}
		return emit([]stage.Verdict{verdict})
	})
	return stage.Summary{Unclear: []string{"be nice"}}, err
}

// Group has no recipes; any other name is itself.
func (w *world) Group(name string) []string {
	if name == "http" {
		return nil
	}
	return []string{name}
}

func (w *world) Session(context.Context) (Stages, func(), error) { return w, func() {}, nil }

func (w *world) Folder() (MediaFolder, error) {
	if err := w.call("folder"); err != nil {
		return nil, err
	}
	w.folders = append(w.folders, &folder{world: w, id: len(w.folders)})
	return w.folders[len(w.folders)-1], nil
}

// folder holds no files, but knows what would be in it.
type folder struct {
	*world
	id      int
	fetched []stage.Ref
	removed bool
}

func (f *folder) Fetch(_ context.Context, id string, _ stage.Run, refs []stage.Ref, emit func(stage.File) error) ([]stage.Outcome, error) {
	if err := f.call(id); err != nil {
		return nil, err
	}
	for _, ref := range refs {
		ok, err := f.film(ref)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		f.fetched = append(f.fetched, ref)
		if err := emit(stage.File{Ref: ref, Name: fmt.Sprintf("folder%d/%s", f.id, ref.ExternalID)}); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func (f *folder) Remove() { f.removed = true }

func (w *world) Evidence(ctx context.Context, id string, _ stage.Run, next func() ([]stage.Record, error), emit func([]stage.Finding) error) error {
	err := w.call(id)
	if errors.Is(err, errHangs) {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	if err != nil && !errors.Is(err, errHalfWay) {
		return err
	}
	done := 0
	return errors.Join(each(next, func(rec stage.Record) error {
		if done++; err != nil && done > 3 {
			return err
		}
		if w.look == nil {
			return nil
		}
		if finding := w.look(rec); finding != nil {
			return emit([]stage.Finding{*finding})
		}
		return nil
	}))
}

// How an evidence stage fails, besides at once.
var (
	errHangs   = errors.New("hangs")
	errHalfWay = &stage.CallError{Stage: "x", Failure: stage.StageCrashed, Retry: true, Cause: errors.New("after three records")}
)

func each(next func() ([]stage.Record, error), do func(stage.Record) error) error {
	for {
		records, err := next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, rec := range records {
			if err := do(rec); err != nil {
				return err
			}
		}
	}
}

// rankByNumber keeps what pass says, ranked by the number in its id.
func rankByNumber(pass func(n int) string) func(stage.Record) stage.Verdict {
	return func(rec stage.Record) stage.Verdict {
		n, _ := strconv.Atoi(strings.TrimPrefix(rec.ExternalID, "v"))
		return stage.Verdict{Ref: rec.Ref, DroppedBy: pass(n), Rank: float64(n)}
	}
}

func ptr[T any](value T) *T { return &value }

// feed reads parts one after another.
func feed(parts ...[]stage.Record) func() ([]Reading, error) {
	at := -1
	return func() ([]Reading, error) {
		if at++; at == len(parts) {
			return nil, io.EOF
		}
		readings := make([]Reading, len(parts[at]))
		for i, rec := range parts[at] {
			readings[i] = Reading{rec, at}
		}
		return readings, nil
	}
}

func (w *world) Plan(_ context.Context, _ string, _ stage.Run, seeds []stage.Seed) ([]stage.Seed, error) {
	w.mu.Lock()
	w.calls["model"]++
	w.mu.Unlock()
	return w.planner(seeds)
}

func (w *world) Read(_ context.Context, address string) (stage.Page, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.read = append(w.read, address)
	page, ok := w.pages[address]
	if !ok {
		return page, errors.New("no such page")
	}
	return page, nil
}
