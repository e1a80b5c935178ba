package scoring

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/niche"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/library/insight"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/modules/library/videos"
)

const (
	// nicheAtOnce is how many videos of one part of a niche are read together; the
	// statement names it too.
	nicheAtOnce = 2000
	// nicheTogether is about how many, of all kinds, are scored before they are written, in
	// the order of the rows on disk: the more, the fewer pages each transaction writes.
	nicheTogether = 10_000
	// NicheInScroll bounds the videos of a kind that a scroll waits for, beside those
	// that it touched; the queue scores the others after it.
	NicheInScroll = 20_000
	// scoresAtOnce bounds the scores of one transaction, some 30 ms.
	scoresAtOnce = 2000

	EndOfTime, StartOfTime = int64(math.MaxInt64), int64(math.MinInt64)
)

// scoreNiches scores the videos that depend on a marked niche: those that wait for it, and
// those posted within a year of a change. The newest come first; of a niche with more than
// most of them the rest is left to the queue. The mark of a kind is removed where all of it
// was scored and the kind did not change meanwhile.
func (s *Service) scoreNiches(ctx context.Context, most int) error {
	marked, err := s.db.Ent().Niche.Query().Where(niche.DirtyGT(0)).Order(niche.ByKind()).All(ctx)
	if err != nil {
		return fmt.Errorf("read niches: %w", err)
	}
	var parts []nichePart
	for _, row := range marked {
		parts = append(parts, nicheParts(row)...)
	}
	for left := len(parts) > 0; left; {
		if parts, err = s.scoreParts(ctx, parts, most); err != nil {
			return fmt.Errorf("score niches: %w", err)
		}
		left = slices.ContainsFunc(parts, func(p nichePart) bool { return !p.ended })
	}
	behind := map[score.Kind]bool{}
	for _, part := range parts {
		behind[part.kind] = behind[part.kind] || part.behind
	}
	return s.unmarkNiches(ctx, marked, behind)
}

// unmarkNiches removes the marks of kinds that are not behind, nor changed since they were
// read, and has the queue score the others.
func (s *Service) unmarkNiches(ctx context.Context, marked []*ent.Niche, behind map[score.Kind]bool) error {
	if len(marked) == 0 {
		return nil
	}
	account, err := videos.Account(ctx)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		queue := false
		for _, row := range marked {
			if behind[score.Kind(row.Kind)] {
				queue = true
				continue
			}
			err := tx.Ent().Niche.Update().Where(niche.Kind(row.Kind), niche.Dirty(row.Dirty)).SetDirty(0).Exec(ctx)
			if err != nil {
				return fmt.Errorf("remove the mark of %s: %w", row.Kind, err)
			}
		}
		if !queue {
			return nil
		}
		return tx.Enqueue(ctx, store.Job{Kind: NicheJob, Args: nicheArgs{account, videos.ScrollOf(ctx)}, UniqueKey: fmt.Sprint(account)})
	})
}

// nicheArgs are those of a job that ends the scoring of niches.
type nicheArgs struct {
	Account int64 `json:"account"`
	// Scroll is the one after which the niches were marked, 0 for none.
	Scroll int64 `json:"scroll,omitempty"`
}

// FinishNiches scores the rest of the marked niches.
func (s *Service) FinishNiches(ctx context.Context, args json.RawMessage) error {
	var of nicheArgs
	if err := json.Unmarshal(args, &of); err != nil {
		return jobs.Cancel(err)
	}
	return s.scoreNiches(videos.AtScroll(viewer.As(ctx, of.Account), of.Scroll), math.MaxInt)
}

// nichePart is a range of the videos of a kind that are scored by it: newest first, of one
// time the greatest id first, from where the last call ended. Those without a time come by
// id, the least first.
type nichePart struct {
	kind       score.Kind
	state      int
	isUndated  bool
	from       int64
	before, id int64 // posting time and id of the last one
	scored     int
	// ended: nothing of it is left to score, or the rest is left behind, to the queue.
	ended, behind bool
}

// nicheParts are those of a marked kind.
func nicheParts(row *ent.Niche) (parts []nichePart) {
	kind, from := score.Kind(row.Kind), row.DirtyFrom
	if from != EndOfTime && from > StartOfTime+score.Apart {
		from -= score.Apart
	}
	if row.DirtyFrom != EndOfTime {
		parts = []nichePart{
			{kind: kind, state: videos.ByNiche, isUndated: true, from: StartOfTime, before: EndOfTime, id: StartOfTime},
			{kind: kind, state: videos.ByNiche, from: from, before: EndOfTime, id: EndOfTime},
		}
	}
	// Those that wait come last, or they would be among the others too.
	return append(parts,
		nichePart{kind: kind, state: videos.AwaitsNiche, isUndated: true, from: StartOfTime, before: EndOfTime, id: StartOfTime},
		nichePart{kind: kind, state: videos.AwaitsNiche, from: StartOfTime, before: EndOfTime, id: EndOfTime})
}

// scoreParts scores the next videos of the parts, in their order, some nicheTogether of them,
// and returns the parts as they are after it. Videos of several kinds are written together,
// as they lie side by side on disk: each transaction writes a page once.
func (s *Service) scoreParts(ctx context.Context, parts []nichePart, most int) (after []nichePart, err error) {
	err = s.update(ctx, func(ctx context.Context, read videos.Reader) (writes, error) {
		after = slices.Clone(parts)
		var changes []Change
		var flags []insight.Point
		room := nicheTogether
		for i := range after {
			part := &after[i]
			for room > 0 && !part.ended {
				limit := room
				if part.state == videos.ByNiche {
					if limit = min(room, most-part.scored); limit <= 0 {
						part.ended, part.behind = true, true
						break
					}
				}
				targets, err := s.nicheTargets(ctx, read, part, limit)
				if err != nil {
					return nil, err
				}
				room -= len(targets)
				if changes, flags, err = s.finishAll(ctx, read, part.kind, targets, changes, flags); err != nil {
					return nil, fmt.Errorf("%s: %w", part.kind, err)
				}
			}
		}
		return s.scoreWrites(changes, flags), nil
	})
	return after, err
}

// nicheTargets are the next videos of a part: all that are left, or at least limit.
func (s *Service) nicheTargets(ctx context.Context, read videos.Reader, part *nichePart, limit int) (targets []*standingScore, err error) {
	take := eachScored(func(v *standingScore) { targets = append(targets, v) })
	for known := 0; !part.ended && known < limit; known = len(targets) {
		if part.isUndated {
			err = store.EachIn(ctx, read.Tx, s.UndatedByNiche(), take, string(part.kind), part.state, part.id)
		} else {
			err = store.EachIn(ctx, read.Tx, s.hot.byNiche, take, string(part.kind), part.state, max(part.from, StartOfTime+1), part.before, part.id)
		}
		if err != nil {
			return nil, fmt.Errorf("read videos of a niche: %w", err)
		}
		if len(targets) > 0 {
			last := targets[len(targets)-1]
			part.before, part.id = last.PostedAt, last.ID
		}
		part.ended = len(targets) < known+nicheAtOnce
	}
	part.scored += len(targets)
	return targets, nil
}

// finishAll scores targets, newest first, by the videos of their kind, and appends what
// changes.
func (s *Service) finishAll(
	ctx context.Context, read videos.Reader, kind score.Kind, targets []*standingScore, changes []Change, flags []insight.Point,
) ([]Change, []insight.Point, error) {
	changes = slices.Grow(changes, len(targets))
	var peers *nicheReader
	var n *score.Niche
	for _, v := range targets {
		latest := s.growth.LatestPeer(&v.Reading)
		// A niche is read from its newest video on, and peers of an old one are far from
		// there: where nothing near was read, reading begins anew at its first peer.
		if n == nil || peers.oldest > latest {
			peers = &nicheReader{core: s.core, read: read, kind: kind, latest: latest}
			n = s.growth.Niche(func(undated bool, last *score.Reading) ([]score.Reading, error) {
				return peers.load(ctx, undated, last)
			})
		}
		o := score.Outlier{CreatorPeers: v.row.Peers, OwnViews: v.row.ownViews, Doubtful: v.row.doubtful == 1}
		if err := n.Finish(v.Reading, &o); err != nil {
			return nil, nil, err
		}
		changes = v.finish(changes, &o, s.growth)
		flags = s.flag(ctx, flags, v, &o, v.row.early.views)
	}
	return changes, flags, nil
}

// scoreWrites are the writes of changes, each with the flags of its videos.
func (s *Service) scoreWrites(changes []Change, flags []insight.Point) (found writes) {
	slices.SortFunc(changes, func(a, b Change) int { return cmp.Compare(a.Id, b.Id) })
	for part := range slices.Chunk(changes, scoresAtOnce) {
		found = append(found, func(ctx context.Context, tx *store.Tx) error {
			if err := s.SaveScores(ctx, tx, part); err != nil {
				return err
			}
			changed := make(map[int64]bool, len(part))
			for i := range part {
				changed[part[i].Id] = true
			}
			return s.saveFlags(ctx, tx, slices.DeleteFunc(slices.Clone(flags), func(p insight.Point) bool { return !changed[p.Video] }))
		})
	}
	return found
}

// nicheReader loads the usable videos of a kind, newest first.
type nicheReader struct {
	*core
	read videos.Reader
	kind score.Kind
	// Latest is the newest posting time that is of use.
	latest int64
	// oldest is the posting time of the last one that was loaded.
	oldest int64
}

func (r *nicheReader) load(ctx context.Context, undated bool, last *score.Reading) (found []score.Reading, err error) {
	take := func(row *videos.ReadingRow) (bool, error) {
		found = append(found, row.Reading())
		return true, nil
	}
	switch {
	case undated && last == nil:
		err = store.EachIn(ctx, r.read.Tx, r.undatedPeers(), take, string(r.kind), StartOfTime)
	case undated:
		err = store.EachIn(ctx, r.read.Tx, r.undatedPeers(), take, string(r.kind), last.ID)
	case last == nil:
		err = store.EachIn(ctx, r.read.Tx, r.hot.nichePeers, take, string(r.kind), r.latest, StartOfTime)
	default:
		err = store.EachIn(ctx, r.read.Tx, r.hot.nichePeers, take, string(r.kind), last.PostedAt, last.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("read peers of a niche: %w", err)
	}
	if !undated {
		r.oldest = StartOfTime
		if len(found) > 0 {
			r.oldest = found[len(found)-1].PostedAt
		}
	}
	return found, nil
}

// undatedPeers and UndatedByNiche are statements for videos without a posting time.
func (c *core) undatedPeers() *store.Hot {
	return c.db.Hot(`SELECT id, ` + videos.ReadingColumns + ` FROM videos
WHERE {tenant} AND growth_kind = $1 AND posted_at IS NULL AND id > $2 AND usable_views IS NOT NULL ORDER BY id LIMIT 300`)
}

func (s *Service) UndatedByNiche() *store.Hot {
	return s.db.Hot(`SELECT id, ` + videos.ReadingColumns + `, creator_id, ` + scoreColumns + ` FROM videos
WHERE {tenant} AND growth_kind = $1 AND by_niche = $2 AND posted_at IS NULL AND id > $3 ORDER BY id LIMIT 2000`)
}
