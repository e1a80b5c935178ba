package score

import (
	"cmp"
	"slices"
	"sort"
)

const (
	// Apart is how far two posting times may be apart, in milliseconds: accounts change.
	Apart = 365 * day
	apart = Apart
	// nearestPeers bounds a baseline by the creator: recent form, not a career.
	nearestPeers = 30
	// fewestPeers is the least that has a median worth the name.
	fewestPeers = 3
)

// peer is a reading with what the rules ask of it, worked out once.
type peer struct {
	Reading
	share int64
	// side is the number of steps of its kind before it, see Epochs.
	side   int
	usable Reason
	// rate is likes by a million views where rated is Used.
	rate  int64
	rated Reason
}

func (t *Table) peer(r Reading) peer {
	p := peer{Reading: r, share: t.Share(r.Kind, r.Age()), side: t.steps().side(r.Kind, r.PostedAt), usable: Usable(r.Views, r.Likes)}
	p.rate, p.rated = r.likeRate(p.usable)
	return p
}

// judge decides whether p may be a peer of target, for scores and explanations alike.
func (target *peer) judge(p *peer) Reason {
	switch {
	case p.Kind != target.Kind:
		return OtherKind
	case p.usable != Used:
		return p.usable
	case target.PostedAt != Undated && p.PostedAt != Undated && distance(target.PostedAt, p.PostedAt) > uint64(apart):
		return YearApart
	case p.side != target.side:
		return OtherCount
	case 2*p.share < target.share:
		return TooYoung
	}
	return Used
}

// expected is what p would have at the target's age: views × target's share ÷ its own
// share, rounded down, at least 1. 2^53 × 1000 has 63 bits; the result is at most
// twice the views, as p's share is at least half the target's.
func (target *peer) expected(p *peer) int64 { return max(p.Views*target.share/p.share, 1) }

// distance is |a − b|, exact for any two times.
func distance(a, b int64) uint64 {
	if a < b {
		a, b = b, a
	}
	return uint64(a) - uint64(b)
}

// newestFirst sorts by posting time, newest first, unknown ones last, then by id.
func newestFirst(a, b *peer) int {
	return cmp.Or(cmp.Compare(b.PostedAt, a.PostedAt), cmp.Compare(a.ID, b.ID))
}

// Creator holds the videos of one creator, of all kinds and with those that cannot be
// used, ready to be scored by each other. It is read-only once made.
type Creator struct {
	table *Table
	peers []peer
	// dated is how many have a posting time; they come first.
	dated int
	// group is, by position, where those of the same posting time begin.
	group []int32
	// mostRate is the greatest like rate of all.
	mostRate int64
}

// Creator sorts the readings of one creator; their order does not matter, and they are
// not kept. A video whose creator is unknown is a Creator of its own.
func (t *Table) Creator(readings []Reading) *Creator {
	c := &Creator{table: t, peers: make([]peer, len(readings)), group: make([]int32, len(readings))}
	for i, r := range readings {
		c.peers[i] = t.peer(r)
		c.mostRate = max(c.mostRate, c.peers[i].rate)
	}
	slices.SortFunc(c.peers, func(a, b peer) int { return newestFirst(&a, &b) })
	c.dated = sort.Search(len(c.peers), func(i int) bool { return c.peers[i].PostedAt == Undated })
	for i := range c.peers {
		c.group[i] = int32(i)
		if i > 0 && c.peers[i].PostedAt == c.peers[i-1].PostedAt {
			c.group[i] = c.group[i-1]
		}
	}
	return c
}

// Len is the number of videos.
func (c *Creator) Len() int { return len(c.peers) }

// At is the i-th video: newest first, unknown posting times last, then by id.
func (c *Creator) At(i int) Reading { return c.peers[i].Reading }

// Index is the position of a video, -1 where it is none of the creator's.
func (c *Creator) Index(id int64) int {
	return slices.IndexFunc(c.peers, func(p peer) bool { return p.ID == id })
}

// walk visits the other videos of a creator, the nearest in posting time to self first:
// of two as near the newer, then by id, unknown posting times last. Where self has
// none, all are visited newest first.
type walk struct {
	c    *Creator
	self int
	at   int64
	// same, newer, older and undated are the next of each part; newer ones are visited
	// a posting time at a time, from newer to newerEnd.
	same, newer, newerEnd, older, undated int
}

func (c *Creator) walk(self int) walk {
	w := walk{c: c, self: self, at: c.peers[self].PostedAt}
	if w.at == Undated {
		w.older, w.same = len(c.peers), len(c.peers)
		return w
	}
	w.same = int(c.group[self])
	w.newerEnd = w.same
	w.newer = c.before(w.newerEnd)
	w.older = sort.Search(c.dated, func(i int) bool { return c.peers[i].PostedAt < w.at })
	w.undated = c.dated
	return w
}

// before is where the posting time of the one before end begins.
func (c *Creator) before(end int) int {
	if end == 0 {
		return 0
	}
	return int(c.group[end-1])
}

// next is the position of the next video, -1 after the last.
func (w *walk) next() int {
	c := w.c
	for w.same < c.dated && c.peers[w.same].PostedAt == w.at {
		if w.same++; w.same-1 != w.self {
			return w.same - 1
		}
	}
	if newer, older := w.newer < w.newerEnd, w.older < c.dated; newer || older {
		if newer && (!older || distance(c.peers[w.newer].PostedAt, w.at) <= distance(w.at, c.peers[w.older].PostedAt)) {
			i := w.newer
			if w.newer++; w.newer == w.newerEnd {
				w.newerEnd = int(c.group[i])
				w.newer = c.before(w.newerEnd)
			}
			return i
		}
		w.older++
		return w.older - 1
	}
	for w.undated < len(c.peers) {
		if w.undated++; w.undated-1 != w.self {
			return w.undated - 1
		}
	}
	return -1
}

// skipDated leaves out the remaining videos that have a posting time.
func (w *walk) skipDated() { w.same, w.newer, w.newerEnd, w.older = w.c.dated, 0, 0, w.c.dated }

// own finds the expected views of the creator's own peers of the i-th video, in no order.
func (c *Creator) own(i int, buffer *[nearestPeers]int64, why *Explanation) []int64 {
	target, found := &c.peers[i], buffer[:0]
	if why == nil && len(c.peers)-1 <= nearestPeers {
		for j := range c.peers { // all of them are the nearest
			if p := &c.peers[j]; j != i && target.judge(p) == Used {
				found = append(found, target.expected(p))
			}
		}
		return found
	}
	for w := c.walk(i); ; {
		j := w.next()
		if j < 0 {
			return found
		}
		p := &c.peers[j]
		reason := target.judge(p)
		switch {
		case reason == Used && len(found) == nearestPeers:
			reason = BeyondNearest
		case reason == Used:
			found = append(found, target.expected(p))
		}
		if why != nil {
			why.Peers.add(target, p, reason, why.Most)
			continue
		}
		if len(found) == nearestPeers {
			return found
		}
		if target.PostedAt != Undated && p.PostedAt != Undated && distance(target.PostedAt, p.PostedAt) > uint64(apart) {
			w.skipDated() // all that have a date are further apart from here on
		}
	}
}
