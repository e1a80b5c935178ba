package scrolls

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/plugins/stage"
)

// media has the media of the highest ranked videos fetched and examined, a batch at a
// time, so that they need little disk. Videos that have all evidence, and those that
// no source can fetch, are left out.
func (x *examination) media() error {
	if len(x.viewers) == 0 || x.r.s.cfg.MaxMedia == 0 {
		return nil
	}
	wanted, err := x.fetchable()
	if err != nil {
		return err
	}
	done := 0
	for part := range slices.Chunk(wanted, x.r.s.cfg.MediaBatch) {
		if x.ctx.Err() != nil || x.idle() {
			break
		}
		if err := x.mediaOf(part, float64(done)/float64(len(wanted)), float64(len(part))/float64(len(wanted))); err != nil {
			return err
		}
		done += len(part)
	}
	if x.outer.Err() != nil {
		return context.Cause(x.outer)
	}
	return nil
}

// idle reports whether no stage is left that reads media.
func (x *examination) idle() bool {
	return !slices.ContainsFunc(x.viewers, func(id string) bool { return x.faults[id] < maxFaults })
}

// candidate is a video to fetch.
type candidate struct {
	id  int64
	ref stage.Ref
	// sources that can fetch it, the best first.
	sources []string
}

// fetchable returns the videos to fetch, the highest ranked first.
func (x *examination) fetchable() (wanted []candidate, err error) {
	sources := map[string][]string{}
	err = x.r.batches(x.outer, x.ids, func(items []item) (bool, error) {
		for _, i := range items {
			platform := i.record.Platform
			if _, asked := sources[platform]; !asked {
				sources[platform] = x.fetchers(platform)
			}
			apply(&i.record, x.found[i.record.Ref])
			if len(sources[platform]) > 0 && !complete(i.record.Evidence) && len(wanted) < x.r.s.cfg.MaxMedia {
				wanted = append(wanted, candidate{i.id, i.record.Ref, sources[platform]})
			}
		}
		return len(wanted) < x.r.s.cfg.MaxMedia, nil
	})
	return wanted, err
}

// fetchers names the sources that can fetch videos of a platform, those of the
// template first.
func (x *examination) fetchers(platform string) (ids []string) {
	for _, s := range x.r.stages.List() {
		if s.Usable && s.FetchesMedia && (len(s.Platforms) == 0 || slices.Contains(s.Platforms, platform)) {
			ids = append(ids, s.ID)
		}
	}
	others := func(id string) bool { return !slices.Contains(x.r.template.Sources, id) }
	return append(slices.DeleteFunc(slices.Clone(ids), others), slices.DeleteFunc(ids, func(id string) bool { return !others(id) })...)
}

func complete(e *stage.Evidence) bool {
	return e != nil && len(e.Visual) > 0 && e.Spoken != nil && e.OnScreenText != nil
}

// mediaOf fetches, examines and deletes one batch.
func (x *examination) mediaOf(part []candidate, from, share float64) error {
	folder, err := x.r.stages.Folder()
	if err != nil {
		// That the server has no space is no reason to fail the scroll.
		for _, id := range x.viewers {
			x.faults[id] = maxFaults
			err = x.result(Looked{Stage: id, Asked: len(part)}, &stage.CallError{Stage: id, Failure: stage.SourceUnavailable, Cause: err})
		}
		return err
	}
	defer folder.Remove()
	has := &media{folder: folder, files: map[stage.Ref]string{}}
	if err := x.fetch(part, has); err != nil {
		return err
	}
	var ids []int64
	for _, c := range part {
		if has.files[c.ref] != "" {
			ids = append(ids, c.id)
		}
	}
	for _, id := range x.viewers {
		if err := x.pass(id, ids, has, 0, 0); err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
	}
	if err := x.write(ids); err != nil {
		return err
	}
	return x.note(plainShare + (1-plainShare)*(from+share))
}

// fetch asks each source for what it can fetch and no earlier one could.
func (x *examination) fetch(part []candidate, has *media) error {
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
		if len(refs) == 0 || x.faults[source] >= maxFaults {
			continue
		}
		if err := x.fetchFrom(source, refs, has); err != nil {
			return fmt.Errorf("fetch media from %s: %w", source, err)
		}
	}
	return nil
}

var errFetchTime = errors.New("fetching took too long")

func (x *examination) fetchFrom(source string, refs []stage.Ref, has *media) error {
	ctx, cancel := context.WithTimeoutCause(x.ctx, x.r.s.cfg.MediaWithin, errFetchTime)
	defer cancel()
	found := 0
	outcomes, err := has.folder.Fetch(ctx, source, x.r.call, refs, func(f stage.File) error {
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
		// It is not the scroll's error, since emit cannot fail.
		err = &stage.CallError{Stage: source, Failure: stage.SourceUnavailable, Cause: err}
	}
	return x.result(one, err)
}

// fetched returns the outcome of a fetch whose source did not fail as a whole; empty
// where it delivered all.
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
