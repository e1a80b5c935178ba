package library

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
	"github.com/scrollery/scrollery/modules/library/insight"
	"github.com/scrollery/scrollery/modules/library/score"
)

const (
	// nicheAtOnce is how many videos of one part of a niche are read together; the
	// statement names it too.
	nicheAtOnce = 2000
	// nicheTogether is how many are scored before they are written, in the order of the
	// rows on disk: the more, the fewer pages each transaction writes.
	nicheTogether = 10_000
	// nicheInScroll bounds the videos of a kind that a scroll waits for, beside those
	// that it touched; the queue scores the others after it.
	nicheInScroll = 20_000
	// scoresAtOnce bounds the scores of one transaction, some 30 ms.
	scoresAtOnce = 2000

	endOfTime, startOfTime = int64(math.MaxInt64), int64(math.MinInt64)
)

// touch notes that a video of the kind, posted then, changed. score.Undated is the least
// number, as an unknown time can be near any other.
func touch(niches map[score.Kind]int64, kind score.Kind, posted int64) {
	if from, known := niches[kind]; !known || posted < from {
		niches[kind] = posted
	}
}

// markNiches marks kinds for the next scoring, from a posting time on.
func (s *Service) markNiches(ctx context.Context, tx *store.Tx, niches map[score.Kind]int64) error {
	if len(niches) == 0 {
		return nil
	}
	var values [][]any
	for _, kind := range sortedKeys(niches) {
		values = append(values, []any{s.db.NewID(), string(kind), 1, niches[kind]})
	}
	if _, err := s.hot.markNiches.ExecIn(ctx, tx, values); err != nil {
		return fmt.Errorf("mark niches: %w", err)
	}
	return nil
}

// scoreNiches scores the videos that depend on a marked niche: those that wait for it, and
// those posted within a year of a change. The newest come first; of a niche with more than
// most of them the rest is left to the queue.
func (s *Service) scoreNiches(ctx context.Context, most int) error {
	marked, err := s.db.Ent().Niche.Query().Where(niche.DirtyGT(0)).Order(niche.ByKind()).All(ctx)
	if err != nil {
		return fmt.Errorf("read niches: %w", err)
	}
	behind := false
	for _, row := range marked {
		done, err := s.scoreNiche(ctx, row, most)
		if err != nil {
			return fmt.Errorf("score niche of %s: %w", row.Kind, err)
		}
		behind = behind || !done
	}
	if !behind {
		return nil
	}
	account, err := tenant(ctx)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return tx.Enqueue(ctx, store.Job{Kind: nicheJob, Args: nicheArgs{account, scrollOf(ctx)}, UniqueKey: fmt.Sprint(account)})
	})
}

// nicheArgs are those of a job that ends the scoring of niches.
type nicheArgs struct {
	Account int64 `json:"account"`
	// Scroll is the one after which the niches were marked, 0 for none.
	Scroll int64 `json:"scroll,omitempty"`
}

// finishNiches scores the rest of the marked niches.
func (s *Service) finishNiches(ctx context.Context, args json.RawMessage) error {
	var of nicheArgs
	if err := json.Unmarshal(args, &of); err != nil {
		return store.Cancel(err)
	}
	return s.scoreNiches(atScroll(withTenant(ctx, of.Account), of.Scroll), math.MaxInt)
}

// scoreNiche scores the videos of a kind, at most most of those that did not change
// themselves, and removes the mark where it came to the end and the kind did not change
// meanwhile.
func (s *Service) scoreNiche(ctx context.Context, row *ent.Niche, most int) (done bool, err error) {
	kind, from := score.Kind(row.Kind), row.DirtyFrom
	if from != endOfTime && from > startOfTime+score.Apart {
		from -= score.Apart
	}
	done = true
	for _, part := range []nichePart{ // those that wait come last, or they would be among the others too
		{kind: kind, state: byNiche, isUndated: true, from: startOfTime},
		{kind: kind, state: byNiche, from: from},
		{kind: kind, state: awaitsNiche, isUndated: true, from: startOfTime},
		{kind: kind, state: awaitsNiche, from: startOfTime},
	} {
		if part.state == byNiche && row.DirtyFrom == endOfTime {
			continue
		}
		part.before, part.id = endOfTime, endOfTime
		if part.isUndated {
			part.id = startOfTime
		}
		for more := true; more; {
			if part.state == byNiche && part.scored >= most {
				done = false
				break
			}
			if more, err = s.scorePart(ctx, &part); err != nil {
				return false, err
			}
		}
	}
	if !done {
		return false, nil
	}
	err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return tx.Ent().Niche.Update().Where(niche.Kind(row.Kind), niche.Dirty(row.Dirty)).SetDirty(0).Exec(ctx)
	})
	return true, err
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
}

// scorePart scores the next videos of the part; more where there may be others.
func (s *Service) scorePart(ctx context.Context, part *nichePart) (more bool, err error) {
	var last *standingScore
	var count int
	err = s.update(ctx, func(ctx context.Context, read reader) (writes, error) {
		targets, err := s.nicheTargets(ctx, read, part)
		if err != nil {
			return nil, err
		}
		if last, count = nil, len(targets); count > 0 {
			last = targets[count-1]
		}
		changes, flags, err := s.finishAll(ctx, read, part.kind, targets)
		return s.scoreWrites(changes, flags), err
	})
	if last != nil {
		part.before, part.id = last.PostedAt, last.ID
	}
	part.scored += count
	return count == nicheTogether, err
}

// nicheTargets are the next videos of a part, at most nicheTogether.
func (s *Service) nicheTargets(ctx context.Context, read reader, part *nichePart) (targets []*standingScore, err error) {
	take := eachScored(func(v *standingScore) { targets = append(targets, v) })
	before, id := part.before, part.id
	for known := -nicheAtOnce; len(targets) == known+nicheAtOnce && len(targets) < nicheTogether; {
		known = len(targets)
		if part.isUndated {
			err = read.each(ctx, s.undatedByNiche(), take, string(part.kind), part.state, id)
		} else {
			err = read.each(ctx, s.hot.byNiche, take, string(part.kind), part.state, max(part.from, startOfTime+1), before, id)
		}
		if err != nil {
			return nil, fmt.Errorf("read videos of a niche: %w", err)
		}
		if len(targets) > 0 {
			last := targets[len(targets)-1]
			before, id = last.PostedAt, last.ID
		}
	}
	return targets, nil
}

// finishAll scores targets, newest first, by the videos of their kind.
func (s *Service) finishAll(ctx context.Context, read reader, kind score.Kind, targets []*standingScore) (changes []change, flags []insight.Point, err error) {
	changes = make([]change, 0, len(targets))
	var peers *nicheReader
	var n *score.Niche
	for _, v := range targets {
		latest := v.LatestPeer()
		// A niche is read from its newest video on, and peers of an old one are far from
		// there: where nothing near was read, reading begins anew at its first peer.
		if n == nil || peers.oldest > latest {
			peers = &nicheReader{s: s, read: read, kind: kind, latest: latest}
			n = s.cfg.Growth.Niche(func(undated bool, last *score.Reading) ([]score.Reading, error) {
				return peers.load(ctx, undated, last)
			})
		}
		o := score.Outlier{CreatorPeers: v.row.peers, OwnViews: v.row.ownViews, Doubtful: v.row.doubtful == 1}
		if err := n.Finish(v.Reading, &o); err != nil {
			return nil, nil, err
		}
		changes = v.finish(changes, &o)
		flags = s.flag(ctx, flags, v, &o)
	}
	return changes, flags, nil
}

// scoreWrites are the writes of changes, each with the flags of its videos.
func (s *Service) scoreWrites(changes []change, flags []insight.Point) (found writes) {
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.id, b.id) })
	for part := range slices.Chunk(changes, scoresAtOnce) {
		found = append(found, func(ctx context.Context, tx *store.Tx) error {
			if err := s.saveScores(ctx, tx, part); err != nil {
				return err
			}
			changed := make(map[int64]bool, len(part))
			for i := range part {
				changed[part[i].id] = true
			}
			return s.saveFlags(ctx, tx, slices.DeleteFunc(slices.Clone(flags), func(p insight.Point) bool { return !changed[p.Video] }))
		})
	}
	return found
}

// nicheReader loads the usable videos of a kind, newest first.
type nicheReader struct {
	s    *Service
	read reader
	kind score.Kind
	// latest is the newest posting time that is of use.
	latest int64
	// oldest is the posting time of the last one that was loaded.
	oldest int64
}

func (r *nicheReader) load(ctx context.Context, undated bool, last *score.Reading) (found []score.Reading, err error) {
	take := func(row store.Row) (bool, error) {
		found = append(found, readingOf(row))
		return true, nil
	}
	switch {
	case undated && last == nil:
		err = r.read.each(ctx, r.s.undatedPeers(), take, string(r.kind), startOfTime)
	case undated:
		err = r.read.each(ctx, r.s.undatedPeers(), take, string(r.kind), last.ID)
	case last == nil:
		err = r.read.each(ctx, r.s.hot.nichePeers, take, string(r.kind), r.latest, startOfTime)
	default:
		err = r.read.each(ctx, r.s.hot.nichePeers, take, string(r.kind), last.PostedAt, last.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("read peers of a niche: %w", err)
	}
	if !undated {
		r.oldest = startOfTime
		if len(found) > 0 {
			r.oldest = found[len(found)-1].PostedAt
		}
	}
	return found, nil
}

// undatedPeers and undatedByNiche are statements for videos without a posting time.
func (s *Service) undatedPeers() *store.Hot {
	return s.db.Hot(`SELECT id, ` + readingColumns + ` FROM videos
WHERE {tenant} AND growth_kind = $1 AND posted_at IS NULL AND id > $2 AND usable_views IS NOT NULL ORDER BY id LIMIT 300`)
}

func (s *Service) undatedByNiche() *store.Hot {
	return s.db.Hot(`SELECT id, ` + readingColumns + `, creator_id, ` + scoreColumns + ` FROM videos
WHERE {tenant} AND growth_kind = $1 AND by_niche = $2 AND posted_at IS NULL AND id > $3 ORDER BY id LIMIT 2000`)
}
