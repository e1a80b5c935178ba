package library

import (
	"fmt"
	"sort"
)

// board is a platform's videos as niche peers, newest first, unknown dates last.
// It reads only as far as somebody asked.
type board struct {
	youtube bool
	// more returns the samples after the last one, dated or undated; fewer than it
	// could is the end. after is nil at the beginning.
	more         func(undated bool, after *sample) (next []*sample, end bool, err error)
	dated, never shelf
	last         nicheKey
	lastPeers    *nichePeers
}

type shelf struct {
	samples []*sample
	end     bool
}

// nicheKey is what two targets must share to have the same niche peers, apart
// from themselves and how far back they may look.
type nicheKey struct {
	start     int
	age       int64
	late, set bool
}

// nichePeers are the first peers for a key: one more than count, so that a
// target that is among them can be left out.
type nichePeers struct {
	samples []*sample
	// oldest is the posting time of the last one; only a full list of dated ones is kept.
	oldest int64
}

// at returns the i-th sample of a shelf, nil at its end.
func (b *board) at(s *shelf, undated bool, i int) (*sample, error) {
	for i >= len(s.samples) && !s.end {
		var after *sample
		if len(s.samples) > 0 {
			after = s.samples[len(s.samples)-1]
		}
		next, end, err := b.more(undated, after)
		if err != nil {
			return nil, fmt.Errorf("read niche peers: %w", err)
		}
		s.samples, s.end = append(s.samples, next...), end
	}
	if i >= len(s.samples) {
		return nil, nil
	}
	return s.samples[i], nil
}

// start is where the peers of target begin: at the newest that is not too new.
func (b *board) start(target *sample) (int, error) {
	if target.posted == undated {
		return 0, nil
	}
	for {
		n := len(b.dated.samples)
		if n > 0 && b.dated.samples[n-1].posted <= target.posted+apart || b.dated.end {
			break
		}
		if _, err := b.at(&b.dated, false, n); err != nil {
			return 0, err
		}
	}
	return sort.Search(len(b.dated.samples), func(i int) bool { return b.dated.samples[i].posted <= target.posted+apart }), nil
}

// score scores target by all other videos of the platform.
func (b *board) score(target *sample) (score, error) {
	start, err := b.start(target)
	if err != nil {
		return score{}, err
	}
	key := nicheKey{start: start, age: target.age(), late: target.late() || !b.youtube, set: true}
	if b.last != key || target.posted != undated && b.lastPeers.oldest < target.posted-apart {
		peers, err := b.peers(target, start)
		if err != nil {
			return score{}, err
		}
		if len(peers.samples) <= nichePeerCount || peers.oldest == undated {
			return nicheScore(target, peers.samples), nil
		}
		b.last, b.lastPeers = key, peers
	}
	return nicheScore(target, b.lastPeers.samples), nil
}

// peers collects one peer more than count for any target that is as target but in its id.
func (b *board) peers(target *sample, start int) (*nichePeers, error) {
	anybody := *target
	anybody.id = 0
	found := &nichePeers{}
	for i := start; len(found.samples) <= nichePeerCount; i++ {
		peer, err := b.at(&b.dated, false, i)
		if err != nil {
			return nil, err
		}
		if peer == nil || target.posted != undated && peer.posted < target.posted-apart {
			break
		}
		if anybody.accepts(peer, b.youtube) {
			found.samples, found.oldest = append(found.samples, peer), peer.posted
		}
	}
	for i := 0; len(found.samples) <= nichePeerCount; i++ {
		peer, err := b.at(&b.never, true, i)
		if err != nil {
			return nil, err
		}
		if peer == nil {
			break
		}
		if anybody.accepts(peer, b.youtube) {
			found.samples, found.oldest = append(found.samples, peer), undated
		}
	}
	return found, nil
}

func nicheScore(target *sample, peers []*sample) score {
	views := make([]int64, 0, nichePeerCount)
	for _, peer := range peers {
		if peer.id != target.id && len(views) < nichePeerCount {
			views = append(views, peer.views)
		}
	}
	return scoreOf(views)
}
