package tiktok

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/scrollery/scrollery/plugins/internal/sources"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

// refresh reads known videos again, by their ids. A query needs dates too: they
// come from the ids, whose upper half is the second of the upload. That is seen in
// every recorded video and written down nowhere.
//
// Every video has an outcome of its own, whose seed is its id. One that a whole
// answer leaves out is `unsupported`: the interface never had videos of creators
// under 18 and of some countries, or not yet one of today, and it is asked for what
// any source brought. So it may still be there.
func (s source) refresh(ctx context.Context, call *stage.Call, refs []stage.Ref, emit func(stage.Record) error) ([]stage.Outcome, error) {
	session, _, wrong := s.open(call)
	now := time.UnixMilli(call.Now)
	ids, outcomes := sources.Known(platform, refs, func(id string) bool { _, ok := uploaded(id, now); return ok }, "no id of a video of TikTok")
	absent := stage.Outcome{Platform: platform, Status: stage.Unsupported, Detail: "the interface does not have it: gone, or never there"}
	fates, err := sources.Refresh(ctx, groups(ids, now), absent, wrong, func(ctx context.Context, group []string) (map[string]bool, error) {
		return session.lookUp(ctx, group, now, emit)
	})
	return append(outcomes, fates...), err
}

// uploaded reads the time of a video out of its id.
func uploaded(id string, now time.Time) (time.Time, bool) {
	n, err := strconv.ParseUint(id, 10, 64)
	at := time.Unix(int64(n>>32), 0)
	first := time.Date(2014, 1, 1, 0, 0, 0, 0, time.UTC)
	return at, err == nil && at.After(first) && at.Before(now.Add(day))
}

// groups are videos that fit into one query, the oldest first: of one page, and of
// one window with a day to spare at both ends.
func groups(ids []string, now time.Time) [][]string {
	at := func(id string) time.Time {
		time, _ := uploaded(id, now)
		return time
	}
	slices.SortFunc(ids, func(a, b string) int { return at(a).Compare(at(b)) })
	var all [][]string
	for _, id := range ids {
		last := len(all) - 1
		if last < 0 || len(all[last]) >= perPage || at(id).Sub(at(all[last][0])) > span-3*day {
			all = append(all, []string{id})
			continue
		}
		all[last] = append(all[last], id)
	}
	return all
}

// lookUp asks for one group.
func (s *session) lookUp(ctx context.Context, group []string, now time.Time, emit func(stage.Record) error) (map[string]bool, error) {
	found := map[string]bool{}
	h := &lookup{
		session: s, limit: perPage + 1, seen: map[site.ID]bool{},
		filter: filter{And: []condition{{"IN", "video_id", group}}},
	}
	h.take = func(v video) error {
		id := string(v.ID)
		if found[id] || !slices.Contains(group, id) {
			return nil
		}
		found[id] = true
		record := v.record()
		// They would take the place of what the source that brought the video knew.
		record.Metadata = nil
		return emit(record)
	}
	first, _ := uploaded(group[0], now)
	last, _ := uploaded(group[len(group)-1], now)
	first, last = first.UTC().Truncate(day), last.UTC().Truncate(day)
	if today := s.site.Now().UTC().Truncate(day); last.Before(today) {
		last = last.Add(day)
	}
	return found, h.run(ctx, []window{{first.Add(-day), last}})
}
