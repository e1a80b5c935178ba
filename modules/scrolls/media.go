package scrolls

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/plugins/stage"
)

// watch has the media of the highest ranked videos fetched and looked at, some at a
// time, so that little lies in scratch at once. A video that has all evidence
// already is left out, and so is one that no source can fetch.
func (l *looking) watch() error {
	if len(l.watchers) == 0 || l.r.s.cfg.MaxMedia == 0 {
		return nil
	}
	wanted, err := l.fetchable()
	if err != nil {
		return err
	}
	done := 0
	for part := range slices.Chunk(wanted, l.r.s.cfg.MediaBatch) {
		if l.ctx.Err() != nil || l.idle() {
			break
		}
		if err := l.watchSome(part, float64(done)/float64(len(wanted)), float64(len(part))/float64(len(wanted))); err != nil {
			return err
		}
		done += len(part)
	}
	if l.outer.Err() != nil {
		return context.Cause(l.outer)
	}
	return nil
}

// idle tells that no stage is left that would look.
func (l *looking) idle() bool {
	return !slices.ContainsFunc(l.watchers, func(id string) bool { return l.faults[id] < maxFaults })
}

// candidate is a video whose media are wanted.
type candidate struct {
	id  int64
	ref stage.Ref
	// sources that can fetch it, the best first.
	sources []string
}

// fetchable picks the videos, the highest ranked first.
func (l *looking) fetchable() (wanted []candidate, err error) {
	sources := map[string][]string{}
	err = l.r.batches(l.outer, l.ids, func(items []item) (bool, error) {
		for _, i := range items {
			platform := i.record.Platform
			if _, asked := sources[platform]; !asked {
				sources[platform] = l.r.s.needs.Media.Fetchers(platform, l.r.template.Sources)
			}
			apply(&i.record, l.found[i.record.Ref])
			if len(sources[platform]) > 0 && !complete(i.record.Evidence) && len(wanted) < l.r.s.cfg.MaxMedia {
				wanted = append(wanted, candidate{i.id, i.record.Ref, sources[platform]})
			}
		}
		return len(wanted) < l.r.s.cfg.MaxMedia, nil
	})
	return wanted, err
}

func complete(e *stage.Evidence) bool {
	return e != nil && len(e.Visual) > 0 && e.Spoken != nil && e.OnScreenText != nil
}

// watchSome is one batch: fetch, look, delete.
func (l *looking) watchSome(part []candidate, from, share float64) error {
	folder, err := l.r.s.needs.Media.Folder()
	if err != nil {
		// No place is the house's trouble, and no reason to lose the scroll.
		for _, id := range l.watchers {
			l.faults[id] = maxFaults
			err = l.account(Looked{Stage: id, Asked: len(part)}, &stage.CallError{Stage: id, Failure: stage.SourceUnavailable, Cause: err})
		}
		return err
	}
	defer folder.Remove()
	has := &media{folder: folder, files: map[stage.Ref]string{}}
	if err := l.fetch(part, has); err != nil {
		return err
	}
	var ids []int64
	for _, c := range part {
		if has.files[c.ref] != "" {
			ids = append(ids, c.id)
		}
	}
	for _, id := range l.watchers {
		if err := l.pass(id, ids, has, 0, 0); err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
	}
	if err := l.write(ids); err != nil {
		return err
	}
	return l.note(plainShare + (1-plainShare)*(from+share))
}

// fetch asks each source for what it can fetch and none before it could.
func (l *looking) fetch(part []candidate, has *media) error {
	var sources []string
	for _, c := range part {
		for _, id := range c.sources {
			if !slices.Contains(sources, id) {
				sources = append(sources, id)
			}
		}
	}
	for _, source := range sources {
		var refs []stage.Ref
		for _, c := range part {
			if slices.Contains(c.sources, source) && has.files[c.ref] == "" {
				refs = append(refs, c.ref)
			}
		}
		if len(refs) == 0 || l.faults[source] >= maxFaults {
			continue
		}
		if err := l.fetchFrom(source, refs, has); err != nil {
			return fmt.Errorf("fetch media from %s: %w", source, err)
		}
	}
	return nil
}

var errFetchTime = errors.New("fetching took too long")

func (l *looking) fetchFrom(source string, refs []stage.Ref, has *media) error {
	ctx, cancel := context.WithTimeoutCause(l.ctx, l.r.s.cfg.MediaWithin, errFetchTime)
	defer cancel()
	found := 0
	outcomes, err := has.folder.Fetch(ctx, source, l.r.call, refs, func(f stage.File) error {
		if slices.Contains(refs, f.Ref) && has.files[f.Ref] == "" {
			has.files[f.Ref] = f.Name
			found++
		}
		return nil
	})
	one := Looked{Stage: source, Asked: len(refs), Found: found}
	var fault *stage.CallError
	switch {
	case err == nil:
		one.Outcome, one.RetryAt = fetched(one, outcomes)
	case !errors.As(err, &fault) && !errors.Is(err, errLost):
		// Nothing of it is the scroll's own: emit cannot fail.
		err = &stage.CallError{Stage: source, Failure: stage.SourceUnavailable, Cause: err}
	}
	return l.account(one, err)
}

// fetched says how a fetch went, where the source did not fail as a whole; empty
// where all is well.
func fetched(one Looked, outcomes []stage.Outcome) (string, *int64) {
	if one.Found == one.Asked {
		return "", nil
	}
	for _, o := range outcomes {
		if o.Status != stage.OK && o.Status != stage.Partial && one.Found == 0 {
			return string(o.Status), o.RetryAt
		}
	}
	return string(stage.Partial), nil
}
