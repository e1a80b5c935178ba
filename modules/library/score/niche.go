package score

import (
	"fmt"
	"slices"
	"sort"
)

const (
	// nichePeers bounds a baseline by the niche.
	nichePeers = 200
	// nicheLists bounds what a niche remembers, about 2 KB each.
	nicheLists = 1024
	// block is how many videos have one summary.
	block = 64
)

// Load returns the videos that follow last, newest first, unknown posting times apart,
// then by id: with undated those without a posting time by id, else those with one. last
// is nil at the beginning. No videos are the end.
type Load func(undated bool, last *Reading) ([]Reading, error)

// Niche holds the videos of one kind, for those whose creator has too few. It loads
// only as far as a target asked, and remembers the medians of targets of the same share,
// so that a library's thin creators cost little each. Not for concurrent use.
type Niche struct {
	table          *Table
	load           Load
	dated, undated column
	lists          map[nicheKey]*nicheList
	buffer         [nichePeers]int64
}

// column is a part of the niche, as far as it is loaded.
type column struct {
	peers []peer
	// best is the greatest usable share of each block, so that a block of videos that
	// are all too young costs one look.
	best []int64
	end  bool
}

// nicheKey is what targets must share to have the same peers, apart from themselves and
// how far back they may look.
type nicheKey struct {
	start, side int
	share       int64
	isUndated   bool
}

// nicheList are the peers of any target with the key: one more than count, so that a
// target that is among them can be left out.
type nicheList struct {
	peers []nichePeer
	twice int64
}

// nichePeer is what a list keeps of a peer; its expected views are the same for all
// targets with the list's key.
type nichePeer struct{ id, postedAt, expected int64 }

// Niche makes a niche that reads by load.
func (t *Table) Niche(load Load) *Niche {
	return &Niche{table: t, load: load, lists: map[nicheKey]*nicheList{}}
}

// NicheOf makes a niche of videos in memory, of one kind and in any order.
func (t *Table) NicheOf(readings []Reading) *Niche {
	n := t.Niche(nil)
	peers := make([]peer, len(readings))
	for i, r := range readings {
		peers[i] = t.peer(r)
	}
	slices.SortFunc(peers, func(a, b peer) int { return newestFirst(&a, &b) })
	dated := sort.Search(len(peers), func(i int) bool { return peers[i].PostedAt == Undated })
	n.dated.add(peers[:dated])
	n.undated.add(peers[dated:])
	n.dated.end, n.undated.end = true, true
	return n
}

func (c *column) add(peers []peer) {
	for i := range peers {
		if len(c.peers)%block == 0 {
			c.best = append(c.best, 0)
		}
		if peers[i].usable == Used {
			last := len(c.best) - 1
			c.best[last] = max(c.best[last], peers[i].share)
		}
		c.peers = append(c.peers, peers[i])
	}
}

// at is the i-th video of a column, nil at its end.
func (n *Niche) at(undated bool, i int) (*peer, error) {
	c := &n.dated
	if undated {
		c = &n.undated
	}
	for i >= len(c.peers) && !c.end {
		var last *Reading
		if len(c.peers) > 0 {
			last = &c.peers[len(c.peers)-1].Reading
		}
		next, err := n.load(undated, last)
		if err != nil {
			return nil, fmt.Errorf("load niche peers: %w", err)
		}
		peers := make([]peer, len(next))
		for j, r := range next {
			peers[j] = n.table.peer(r)
		}
		c.add(peers)
		c.end = len(next) == 0
	}
	if i >= len(c.peers) {
		return nil, nil
	}
	return &c.peers[i], nil
}

// skip is the first position from i on that is loaded no further or whose block has a
// usable video of at least the share.
func (c *column) skip(i int, share int64) int {
	for i%block == 0 && i+block <= len(c.peers) && c.best[i/block] < share {
		i += block
	}
	return i
}

// LatestPeer is the newest posting time that a peer of the video can have; the greatest
// number where any will do.
func (t *Table) LatestPeer(r *Reading) int64 {
	latest := int64(1<<63 - 1)
	if r.PostedAt != Undated && r.PostedAt < latest-apart {
		latest = r.PostedAt + apart
	}
	if next, ok := t.steps().next(r.Kind, t.steps().side(r.Kind, r.PostedAt)); ok {
		latest = min(latest, next-1)
	}
	return latest
}

// start is where the peers of target begin: at the newest that is not too new.
func (n *Niche) start(target *peer) (int, error) {
	latest := n.table.LatestPeer(&target.Reading)
	for c := &n.dated; !c.end && (len(c.peers) == 0 || c.peers[len(c.peers)-1].PostedAt > latest); {
		if _, err := n.at(false, len(c.peers)); err != nil {
			return 0, err
		}
	}
	return sort.Search(len(n.dated.peers), func(i int) bool { return n.dated.peers[i].PostedAt <= latest }), nil
}

// median is twice the median of the expected views of the newest 200 peers of target,
// and their number.
func (n *Niche) median(target *peer, why *Explanation) (twice int64, count int, err error) {
	if why != nil {
		return n.explain(target, why)
	}
	start, err := n.start(target)
	if err != nil {
		return 0, 0, err
	}
	key := nicheKey{start: start, share: target.share, side: target.side, isUndated: target.PostedAt == Undated}
	list := n.lists[key]
	if list == nil || list.tooOld(target) {
		anyone := *target
		anyone.ID = 0
		peers, err := n.collect(&anyone, start, nichePeers+1)
		if err != nil {
			return 0, 0, err
		}
		list = &nicheList{peers: peers}
		if len(peers) <= nichePeers || !key.isUndated && peers[nichePeers].postedAt == Undated {
			twice, count = n.of(target, list)
			return twice, count, nil // it would not serve another target
		}
		list.twice, _ = n.of(&anyone, list)
		if len(n.lists) == nicheLists {
			clear(n.lists)
		}
		n.lists[key] = list
	}
	if slices.ContainsFunc(list.peers, func(p nichePeer) bool { return p.id == target.ID }) {
		twice, count = n.of(target, list)
		return twice, count, nil
	}
	return list.twice, nichePeers, nil
}

// tooOld reports whether the list reaches further back than target may look.
func (l *nicheList) tooOld(target *peer) bool {
	return target.PostedAt != Undated && l.peers[nichePeers].postedAt < target.PostedAt-apart
}

// of is twice the median of the first 200 of a list without target, and their number.
func (n *Niche) of(target *peer, list *nicheList) (twice int64, count int) {
	views := n.buffer[:0]
	for i := range list.peers {
		if p := &list.peers[i]; p.id != target.ID && len(views) < nichePeers {
			views = append(views, p.expected)
		}
	}
	return twiceMedian(views), len(views)
}

// collect finds the newest peers of target, at most most of them.
func (n *Niche) collect(target *peer, start, most int) (found []nichePeer, err error) {
	least := (target.share + 1) / 2
	for i := n.dated.skip(start, least); len(found) < most; i = n.dated.skip(i+1, least) {
		p, err := n.at(false, i)
		if err != nil {
			return nil, err
		}
		if p == nil || n.tooFar(target, p) {
			break
		}
		if target.judge(p) == Used {
			found = append(found, nichePeer{p.ID, p.PostedAt, target.expected(p)})
		}
	}
	if _, more := n.table.steps().next(target.Kind, target.side); more {
		return found, nil // those without a posting time count as after the last change
	}
	for i := n.undated.skip(0, least); len(found) < most; i = n.undated.skip(i+1, least) {
		p, err := n.at(true, i)
		if err != nil {
			return nil, err
		}
		if p == nil {
			break
		}
		if target.judge(p) == Used {
			found = append(found, nichePeer{p.ID, p.PostedAt, target.expected(p)})
		}
	}
	return found, nil
}

// tooFar reports whether p and all dated ones behind it are refused for their posting time.
func (n *Niche) tooFar(target, p *peer) bool {
	if target.PostedAt != Undated && p.PostedAt < target.PostedAt && distance(target.PostedAt, p.PostedAt) > uint64(apart) {
		return true
	}
	return p.side < target.side
}

// explain is median with every video that was looked at recorded.
func (n *Niche) explain(target *peer, why *Explanation) (twice int64, count int, err error) {
	start := 0
	if why.Most > 0 {
		if start, err = n.start(target); err != nil {
			return 0, 0, err
		}
	}
	views := n.buffer[:0]
	for _, undated := range []bool{false, true} {
		for i := start; len(views) < nichePeers; i++ {
			p, err := n.at(undated, i)
			if err != nil {
				return 0, 0, err
			}
			if p == nil || why.Most > 0 && !undated && n.tooFar(target, p) {
				break
			}
			if p.ID == target.ID {
				continue
			}
			reason := target.judge(p)
			if reason == Used {
				views = append(views, target.expected(p))
			}
			why.Niche.add(target, p, reason, why.Most)
		}
		start = 0
	}
	return twiceMedian(views), len(views), nil
}
