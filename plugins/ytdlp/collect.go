package ytdlp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scrollery/scrollery/plugins/formats"
	"github.com/scrollery/scrollery/plugins/internal/lazy"
	"github.com/scrollery/scrollery/plugins/stage"
)

const (
	// defaultLimit is how many videos are asked of a seed that does not say.
	defaultLimit = 50
	// maxLimit is the most that is ever asked of one.
	maxLimit = 500
	// maxTerm is the longest search, in bytes.
	maxTerm = 200
	// onlyShorts is YouTube's search filter for Shorts. The program's own search, ytsearch,
	// asks for the filter of videos, which has left Shorts out since 2026.
	onlyShorts = "EgIQCQ%3D%3D"
)

var (
	handleForm  = lazy.Pattern(`^[\pL\pN][\pL\pM\pN._·-]{0,59}$`)
	channelForm = lazy.Pattern(`^UC[A-Za-z0-9_-]{22}$`)
)

// target is what to ask for a seed on one platform; empty if the program has no
// way to find it.
func target(seed stage.Seed, platform string) (address string) {
	switch {
	case platform == youtube && channelForm().MatchString(seed.Handle):
		return "https://www.youtube.com/channel/" + seed.Handle + "/shorts"
	case platform == youtube && handleForm().MatchString(seed.Handle):
		return "https://www.youtube.com/@" + url.PathEscape(seed.Handle) + "/shorts"
	case platform == tiktok && handleForm().MatchString(seed.Handle):
		return "https://www.tiktok.com/@" + url.PathEscape(seed.Handle)
	case platform == youtube && seed.Term != "" && len(seed.Term) <= maxTerm:
		return "https://www.youtube.com/results?search_query=" + url.QueryEscape(strings.Join(strings.Fields(seed.Term), " ")) + "&sp=" + onlyShorts
	}
	return ""
}

// collect asks for one seed after the other: a site is asked one thing at a time.
func collect(ctx context.Context, call *stage.Call, seeds []stage.Seed, emit func(stage.Record) error) ([]stage.Outcome, error) {
	if err := allowed(call); err != nil {
		return nil, err
	}
	t, err := find(ctx, call)
	if err != nil {
		return nil, err
	}
	var outcomes []stage.Outcome
	sites := map[string]*away{youtube: {}, tiktok: {}, instagram: {}}
	for _, seed := range seeds {
		for _, platform := range Spec().Platforms {
			if seed.Platform != "" && seed.Platform != platform {
				continue
			}
			limit := defaultLimit
			if seed.Limit > 0 {
				limit = min(seed.Limit, maxLimit)
			}
			address := target(seed, platform)
			if address == "" {
				outcomes = append(outcomes, stage.Outcome{Seed: seed.Text(), Platform: platform, Status: stage.Unsupported})
				continue
			}
			if site := sites[platform]; site.isSo() {
				same := site.last
				same.Seed, same.Asked, same.Returned = seed.Text(), limit, 0
				outcomes = append(outcomes, same)
				continue
			}
			o, err := t.list(ctx, seed, platform, address, limit, emit)
			outcomes = append(outcomes, o)
			if err != nil {
				return outcomes, err
			}
			sites[platform].note(o)
		}
	}
	return outcomes, nil
}

// list emits the videos behind one address.
func (t *tool) list(ctx context.Context, seed stage.Seed, platform, address string, limit int, emit func(stage.Record) error) (stage.Outcome, error) {
	args := append(slices.Clone(t.flags), "--dump-json", "--flat-playlist", "--playlist-items", "1:"+strconv.Itoa(limit), "--", address)
	returned, long := 0, 0
	enough := false
	r := t.read(ctx, args, func(rec stage.Record) error {
		if rec.Platform != platform {
			return nil
		}
		if platform == youtube && seed.Term != "" && !strings.Contains(rec.SourceURL, "/shorts/") {
			long++
			return nil
		}
		finish(&rec, seed)
		err := emit(rec)
		if errors.Is(err, stage.ErrEnough) {
			enough = true
		}
		if err == nil {
			returned++
		}
		return err
	})
	if enough {
		return stage.Outcome{Seed: seed.Text(), Platform: platform, Status: stage.Partial, Asked: limit, Returned: returned}, stage.ErrEnough
	}
	o := t.outcome(seed, platform, limit, returned, r)
	if o.Status == stage.Empty && long > 0 {
		o.Status = stage.Changed
		o.Detail = fmt.Sprintf("yt-dlp %s: a search for Shorts brought %d videos and no Short", t.version, long)
	}
	return o, fatal(ctx, r)
}

// read runs the program and emits the videos of its output.
func (t *tool) read(ctx context.Context, args []string, emit func(stage.Record) error) result {
	now := time.Now().UnixMilli()
	return t.run(ctx, args, func(out io.Reader) error {
		report, err := formats.ReadStream(ctx, out, program, formats.Options{Format: formats.YTDLP, Now: now, ObservedAt: &now}, emit)
		if n := report.Skipped(); n > 0 {
			t.call.Log.Warn("yt-dlp wrote what is no video", "version", t.version, "count", n)
		}
		return err
	})
}

// finish makes a record ours: its address is built here.
func finish(rec *stage.Record, seed stage.Seed) {
	rec.Seed = seed.Text()
	if rec.Source == nil {
		rec.Source = &stage.Source{}
	}
	if rec.Source.Handle == "" {
		rec.Source.Handle = seed.Handle
	}
	rec.SourceURL = page(rec.Ref, rec.Source.Handle)
	if rec.Metrics.Semantics == "" {
		rec.Metrics.Semantics = "exact"
		if rec.Platform == tiktok {
			rec.Metrics.Semantics = "rounded"
		}
	}
}

// page is the address of a video; empty for an id that is none.
func page(ref stage.Ref, handle string) string {
	if !idForm().MatchString(ref.ExternalID) {
		return ""
	}
	switch ref.Platform {
	case youtube:
		return "https://www.youtube.com/shorts/" + ref.ExternalID
	case tiktok:
		if !handleForm().MatchString(handle) {
			handle = "_"
		}
		return "https://www.tiktok.com/@" + url.PathEscape(handle) + "/video/" + ref.ExternalID
	case instagram:
		return "https://www.instagram.com/reel/" + ref.ExternalID + "/"
	}
	return ""
}

var idForm = lazy.Pattern(`^[A-Za-z0-9_-]{1,64}$`)
