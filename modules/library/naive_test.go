package library

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/plugins/stage"
)

// naive is the library as the rules tell it, computed from scratch each time.
type naive struct {
	videos []*naiveVideo
}

type naiveVideo struct {
	ref      stage.Ref
	creator  string
	posted   *int64
	archived bool
	keys     []string
	seen     []naiveSeen
}

type naiveSeen struct {
	scroll, at   int64
	views, likes *int64
}

func (s naiveSeen) usable() bool {
	return s.views != nil && *s.views > 0 && (s.likes == nil || *s.likes <= *s.views)
}

func (n *naive) take(scroll, at int64, records []stage.Record) {
	for _, r := range records {
		i := slices.IndexFunc(n.videos, func(v *naiveVideo) bool { return v.ref == r.Ref })
		if i < 0 {
			v := &naiveVideo{ref: r.Ref, posted: r.PostedAt, creator: r.CreatorID}
			if v.creator == "" && r.Source != nil {
				v.creator = strings.ToLower(strings.TrimPrefix(r.Source.Handle, "@"))
			}
			for _, key := range r.Keys {
				v.keys = append(v.keys, key.Key)
			}
			n.videos = append(n.videos, v)
			i = len(n.videos) - 1
		}
		v := n.videos[i]
		if slices.ContainsFunc(v.seen, func(s naiveSeen) bool { return s.scroll == scroll }) {
			continue
		}
		read := at
		if r.Metrics.ObservedAt != nil {
			read = *r.Metrics.ObservedAt
		}
		v.seen = append(v.seen, naiveSeen{scroll, read, r.Metrics.Views, r.Metrics.Likes})
	}
}

// latest is the newest usable observation.
func (v *naiveVideo) latest() (best naiveSeen, ok bool) {
	for _, s := range v.seen {
		if s.usable() && (!ok || s.at >= best.at) {
			best, ok = s, true
		}
	}
	return best, ok
}

func (v *naiveVideo) hours(at int64) float64 {
	if v.posted == nil {
		return 72
	}
	return math.Min(math.Max(float64(at-*v.posted)/3600_000, 0), 72)
}

type naiveOutlier struct {
	ID       string
	Score    float64
	Baseline float64
	Peers    int
	views    int64
	at       int64
}

func (n *naive) outliers() (list []naiveOutlier) {
	for i, target := range n.videos {
		last, ok := target.latest()
		if !ok {
			continue
		}
		peersOf := func(sameCreator bool, count int, less func(a, b int) int) []float64 {
			var chosen []int
			for j, peer := range n.videos {
				theirs, ok := peer.latest()
				if j == i || !ok || peer.ref.Platform != target.ref.Platform || sameCreator && (peer.creator == "" || peer.creator != target.creator) {
					continue
				}
				if peer.hours(theirs.at) < target.hours(last.at)/2 {
					continue
				}
				if target.posted != nil && peer.posted != nil && math.Abs(float64(*target.posted-*peer.posted)) > 365*24*3600_000 {
					continue
				}
				after := func(p *int64) bool { return p == nil || *p >= 1743379200_000 }
				if peer.ref.Platform == "youtube" && after(target.posted) != after(peer.posted) {
					continue
				}
				chosen = append(chosen, j)
			}
			slices.SortFunc(chosen, less)
			var views []float64
			for _, j := range chosen[:min(len(chosen), count)] {
				theirs, _ := n.videos[j].latest()
				views = append(views, float64(*theirs.views))
			}
			return views
		}
		newest := func(a, b int) int { // videos stand in the order of their ids
			p, q := n.videos[a].posted, n.videos[b].posted
			switch {
			case p == nil || q == nil:
				return cmp.Or(cmp.Compare(btoi(p == nil), btoi(q == nil)), cmp.Compare(a, b))
			default:
				return cmp.Or(cmp.Compare(*q, *p), cmp.Compare(a, b))
			}
		}
		nearest := func(a, b int) int {
			p, q := n.videos[a].posted, n.videos[b].posted
			if target.posted == nil || p == nil || q == nil {
				return newest(a, b)
			}
			return cmp.Or(cmp.Compare(abs(*p-*target.posted), abs(*q-*target.posted)), newest(a, b))
		}
		views := peersOf(true, 30, nearest)
		if len(views) < 3 {
			views = peersOf(false, 200, newest)
		}
		if len(views) < 3 {
			continue
		}
		slices.Sort(views)
		median := (views[(len(views)-1)/2] + views[len(views)/2]) / 2
		if score := float64(*last.views) / median; score > 1 && !target.archived {
			list = append(list, naiveOutlier{target.ref.ExternalID, math.Round(score*1e4) / 1e4, median, len(views), *last.views, last.at})
		}
	}
	slices.SortStableFunc(list, func(a, b naiveOutlier) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.views, a.views), cmp.Compare(b.at, a.at))
	})
	return list
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

type naiveTrend struct {
	Key      string
	Median   float64
	Videos   int
	Examples []string
}

func (n *naive) trends(window []int64, withArchived bool) (list []naiveTrend) {
	type grown struct {
		id       string
		creator  string
		multiple float64
	}
	counts, growths, total := map[string]int{}, map[string][]grown{}, 0
	for _, v := range n.videos {
		if v.archived && !withArchived {
			continue
		}
		var seen []naiveSeen
		in := false
		for _, s := range v.seen {
			if slices.Contains(window, s.scroll) {
				in = true
				if s.usable() {
					seen = append(seen, s)
				}
			}
		}
		if !in {
			continue
		}
		total++
		slices.SortFunc(seen, func(a, b naiveSeen) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.scroll, b.scroll)) })
		for _, key := range v.keys {
			counts[key]++
			if len(seen) > 1 {
				first := math.Max(float64(*seen[0].views), 100)
				creator := v.creator
				if creator != "" {
					// One handle on two platforms is two creators.
					creator += " on " + v.ref.Platform
				}
				growths[key] = append(growths[key], grown{v.ref.ExternalID, creator, float64(*seen[len(seen)-1].views) / first})
			}
		}
	}
	for key, count := range counts {
		all := growths[key]
		creators := map[string]bool{}
		for _, g := range all {
			creators[g.creator] = true
		}
		if key == "hashtag:fyp" || total >= 10 && float64(count) > 0.6*float64(total) || len(all) < 2 || len(creators) < 2 {
			continue
		}
		slices.SortStableFunc(all, func(a, b grown) int { return cmp.Compare(b.multiple, a.multiple) })
		median := (all[(len(all)-1)/2].multiple + all[len(all)/2].multiple) / 2
		t := naiveTrend{key, math.Round(median*1e4) / 1e4, count, nil}
		for _, g := range all[:min(3, len(all))] {
			t.Examples = append(t.Examples, g.id)
		}
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b naiveTrend) int {
		return cmp.Or(cmp.Compare(b.Median, a.Median), cmp.Compare(b.Videos, a.Videos), strings.Compare(a.Key, b.Key))
	})
	return list
}
