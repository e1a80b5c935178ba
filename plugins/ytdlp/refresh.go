package ytdlp

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
)

const (
	// maxRefresh is how many videos one call looks up: each costs a page.
	maxRefresh = 100
	// maxMedia is the most bytes of one video.
	maxMedia = "40M"
	// mediaDeadline is how long the fetching of one may take.
	mediaDeadline = 2 * time.Minute
)

// account sums up the videos of one platform.
type account struct {
	asked, returned int
	worst           stage.Outcome
	away            away
}

// refresh looks up known videos, each on its own page. Those whose page says that
// they are gone have an outcome of their own.
func refresh(ctx context.Context, call *stage.Call, refs []stage.Ref, emit func(stage.Record) error) ([]stage.Outcome, error) {
	var missing []stage.Outcome
	outcomes, err := each(ctx, call, refs[:min(len(refs), maxRefresh)], func(t *tool, ref stage.Ref, address string) (stage.Outcome, error) {
		args := append(slices.Clone(t.flags), "--dump-json", "--skip-download", "--no-playlist", "--", address)
		returned := 0
		r := t.read(ctx, args, func(rec stage.Record) error {
			if rec.Ref != ref || returned > 0 || !hasNumbers(rec.Metrics) {
				return nil
			}
			finish(&rec, stage.Seed{})
			// What a record does not say stays in the library. Its metadata would take the
			// place of what the source that brought the video knew, and the address be
			// wrong where the page does not name the creator.
			rec.Seed, rec.SourceURL, rec.Metadata = "", "", nil
			if err := emit(rec); err != nil {
				return err
			}
			returned++
			return nil
		})
		o := t.judged(stage.Seed{Term: ref.ExternalID}, ref.Platform, 1, returned, r, fate(ref.ExternalID))
		if o.Status == stage.NotFound {
			missing = append(missing, o)
		}
		return o, fatal(ctx, r)
	})
	return append(outcomes, missing...), err
}

// hasNumbers reports whether a record has any number. Of a page without a video the
// program makes a line all the same, with a title of its own and no number, and
// says in its complaints alone what the page was.
func hasNumbers(m stage.Metrics) bool {
	return m.Views != nil || m.Likes != nil || m.Comments != nil || m.Shares != nil || m.Saves != nil
}

// media fetches videos, each in the smallest form that has picture and sound.
func media(ctx context.Context, call *stage.Call, refs []stage.Ref, emit func(stage.File) error) ([]stage.Outcome, error) {
	n := 0
	return each(ctx, call, refs, func(t *tool, ref stage.Ref, address string) (stage.Outcome, error) {
		n++
		name := "media-" + strconv.Itoa(n)
		limit, cancel := context.WithTimeout(ctx, mediaDeadline)
		defer cancel()
		args := append(slices.Clone(t.flags),
			"--no-playlist", "--format", "worst[ext=mp4][acodec!=none][vcodec!=none]/worst[ext=mp4]/worst",
			"--max-filesize", maxMedia, "--no-part", "--no-mtime", "--no-continue", "--force-overwrites", "--newline",
			"--output", filepath.Join(call.Scratch, name+".%(ext)s"), "--", address)
		r := t.run(limit, args, discard)
		fetched := func(n int) stage.Outcome { return t.outcome(stage.Seed{Term: program}, ref.Platform, 1, n, r) }
		found, err := filepath.Glob(filepath.Join(call.Scratch, name+".*"))
		if err != nil || len(found) == 0 || r.code != 0 {
			removeAll(found)
			if limit.Err() != nil && ctx.Err() == nil {
				r.err = errSilent
			}
			return fetched(0), fatal(ctx, r)
		}
		if err := emit(stage.File{Ref: ref, Name: filepath.Base(found[0])}); err != nil {
			return fetched(0), err
		}
		return fetched(1), nil
	})
}

func removeAll(paths []string) {
	for _, path := range paths {
		_ = os.Remove(path)
	}
}

// each does one thing with one video after the other, and gives one outcome a
// platform: the worst that happened, where anything is missing.
func each(ctx context.Context, call *stage.Call, refs []stage.Ref, do func(t *tool, ref stage.Ref, address string) (stage.Outcome, error)) ([]stage.Outcome, error) {
	if err := allowed(call); err != nil {
		return nil, err
	}
	t, err := find(ctx, call)
	if err != nil {
		return nil, err
	}
	accounts := map[string]*account{}
	defer call.Progress("done")
	for _, ref := range refs {
		address := page(ref, "")
		a := accounts[ref.Platform]
		if a == nil {
			a = &account{}
			accounts[ref.Platform] = a
		}
		a.asked++
		if address == "" || a.away.isSo() {
			continue
		}
		o, err := do(t, ref, address)
		a.returned += o.Returned
		if errors.Is(err, stage.ErrEnough) {
			break
		}
		if err != nil {
			return outcomes(accounts), err
		}
		a.away.note(o)
		if o.Returned == 0 {
			a.worst = o
		}
	}
	return outcomes(accounts), nil
}

func outcomes(accounts map[string]*account) []stage.Outcome {
	var all []stage.Outcome
	for platform, a := range accounts {
		o := a.worst
		o.Seed, o.Platform, o.Asked, o.Returned = program, platform, a.asked, a.returned
		switch {
		case a.returned == a.asked:
			o.Status, o.RetryAt, o.Detail = stage.OK, nil, ""
		case a.returned > 0:
			o.Status = stage.Partial
		case o.Status == "":
			o.Status = stage.Unsupported
		}
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b stage.Outcome) int { return strings.Compare(a.Platform, b.Platform) })
	return all
}
