package tiktok

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

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
	inner, cancel := site.Early(ctx)
	defer cancel()
	outcomes, known := sorted(refs, time.UnixMilli(call.Now))
	var over *site.Stop // ended all that is left
	for _, group := range groups(known) {
		found, err := map[site.ID]bool{}, wrong
		stop := over
		if err == nil && stop == nil {
			found, err = session.lookUp(inner, group, emit)
		}
		if stop == nil {
			stop = site.Stopped(ctx, inner, err)
		}
		if stop == nil && err != nil {
			return outcomes, err
		}
		if stop != nil && stop.Scope == site.All {
			over = stop
		}
		outcomes = append(outcomes, account(group, found, stop)...)
	}
	return outcomes, nil
}

// sorted takes the refs apart: outcomes for those that cannot be asked for, and the
// uploads that can.
func sorted(refs []stage.Ref, now time.Time) (outcomes []stage.Outcome, known []upload) {
	seen := map[stage.Ref]bool{}
	for _, ref := range refs {
		if seen[ref] {
			continue
		}
		seen[ref] = true
		if at, ok := uploaded(ref.ExternalID, now); ok && ref.Platform == platform {
			known = append(known, upload{ref.ExternalID, at})
			continue
		}
		outcomes = append(outcomes, stage.Outcome{
			Seed: ref.ExternalID, Platform: platform, Status: stage.Unsupported, Asked: 1, Detail: "no id of a video of TikTok",
		})
	}
	return outcomes, known
}

// account says how each video of a group fared.
func account(group []upload, found map[site.ID]bool, stop *site.Stop) []stage.Outcome {
	outcomes := make([]stage.Outcome, 0, len(group))
	for _, u := range group {
		o := stage.Outcome{Seed: u.id, Platform: platform, Status: stage.OK, Asked: 1}
		switch {
		case found[site.ID(u.id)]:
			o.Returned = 1
		case stop != nil:
			o = stop.Outcome(o)
		default:
			o.Status, o.Detail = stage.Unsupported, "the interface does not have it: gone, or never there"
		}
		outcomes = append(outcomes, o)
	}
	return outcomes
}

// upload is a known video with its time.
type upload struct {
	id string
	at time.Time
}

// uploaded reads the time of a video out of its id.
func uploaded(id string, now time.Time) (time.Time, bool) {
	n, err := strconv.ParseUint(id, 10, 64)
	at := time.Unix(int64(n>>32), 0)
	first := time.Date(2014, 1, 1, 0, 0, 0, 0, time.UTC)
	return at, err == nil && at.After(first) && at.Before(now.Add(day))
}

// groups are videos that fit into one query: of one page, and of one window with a
// day to spare at both ends.
func groups(uploads []upload) [][]upload {
	slices.SortFunc(uploads, func(a, b upload) int { return cmp.Compare(a.at.UnixNano(), b.at.UnixNano()) })
	var all [][]upload
	for _, u := range uploads {
		last := len(all) - 1
		if last < 0 || len(all[last]) >= perPage || u.at.Sub(all[last][0].at) > span-3*day {
			all = append(all, []upload{u})
			continue
		}
		all[last] = append(all[last], u)
	}
	return all
}

// lookUp asks for one group.
func (s *session) lookUp(ctx context.Context, group []upload, emit func(stage.Record) error) (map[site.ID]bool, error) {
	ids := make([]string, len(group))
	wanted := map[site.ID]bool{}
	for i, u := range group {
		ids[i], wanted[site.ID(u.id)] = u.id, true
	}
	h := &lookup{
		session: s, limit: perPage + 1, seen: map[site.ID]bool{},
		filter: filter{And: []condition{{"IN", "video_id", ids}}},
	}
	found := map[site.ID]bool{}
	h.take = func(v video) error {
		if !wanted[v.ID] || found[v.ID] {
			return nil
		}
		found[v.ID] = true
		record := v.record()
		// They would take the place of what the source that brought the video knew.
		record.Metadata = nil
		return emit(record)
	}
	first, last := group[0].at.UTC().Truncate(day), group[len(group)-1].at.UTC().Truncate(day)
	if today := s.site.Now().UTC().Truncate(day); last.Before(today) {
		last = last.Add(day)
	}
	err := h.run(ctx, []window{{first.Add(-day), last}})
	return found, err
}
