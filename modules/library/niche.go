package library

import (
	"fmt"
	"sort"
)

// niche is a platform's videos as peers, newest first, unknown dates last. It
// reads no further than scores need.
type niche struct {
	youtube bool
	// more returns the samples after the last one, dated or undated; end is true
	// with the last ones. after is nil at the beginning.
	more           func(undated bool, after *sample) (next []*sample, end bool, err error)
	dated, undated peerList
	last           nicheKey
	lastPeers      nichePeers
}

// peerList is what was read so far of the dated or the undated samples.
type peerList struct {
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

// at returns the i-th sample of a list, nil at its end.
func (n *niche) at(list *peerList, i int) (*sample, error) {
	for i >= len(list.samples) && !list.end {
		var after *sample
		if len(list.samples) > 0 {
			after = list.samples[len(list.samples)-1]
		}
		next, end, err := n.more(list == &n.undated, after)
		if err != nil {
			return nil, fmt.Errorf("read niche peers: %w", err)
		}
		list.samples, list.end = append(list.samples, next...), end
	}
	if i >= len(list.samples) {
		return nil, nil
	}
	return list.samples[i], nil
}

// start is where the peers of target begin: at the newest that is not too new.
func (n *niche) start(target *sample) (int, error) {
	if target.posted == undated {
		return 0, nil
	}
	for {
		known := n.dated.samples
		if len(known) > 0 && known[len(known)-1].posted <= target.posted+apart || n.dated.end {
			return sort.Search(len(known), func(i int) bool { return known[i].posted <= target.posted+apart }), nil
		}
		if _, err := n.at(&n.dated, len(known)); err != nil {
			return 0, err
		}
	}
}

// score scores target by all other videos of the platform.
func (n *niche) score(target *sample) (score, error) {
	start, err := n.start(target)
	if err != nil {
		return score{}, err
	}
	key := nicheKey{start: start, age: target.age(), late: target.late() || !n.youtube, set: true}
	if n.last != key || target.posted != undated && n.lastPeers.oldest < target.posted-apart {
		peers, err := n.peers(target, start)
		if err != nil {
			return score{}, err
		}
		if len(peers.samples) <= nichePeerCount || peers.oldest == undated {
			return nicheScore(target, peers.samples), nil
		}
		n.last, n.lastPeers = key, peers
	}
	return nicheScore(target, n.lastPeers.samples), nil
}

// peers collects one peer more than count for any target that differs from target
// in its id alone.
func (n *niche) peers(target *sample, start int) (found nichePeers, err error) {
	anyOther := *target
	anyOther.id = 0
	take := func(list *peerList, from int, tooOld func(*sample) bool) error {
		for i := from; len(found.samples) <= nichePeerCount; i++ {
			peer, err := n.at(list, i)
			if err != nil || peer == nil || tooOld(peer) {
				return err
			}
			if anyOther.accepts(peer, n.youtube) {
				found.samples, found.oldest = append(found.samples, peer), peer.posted
			}
		}
		return nil
	}
	err = take(&n.dated, start, func(peer *sample) bool { return target.posted != undated && peer.posted < target.posted-apart })
	if err == nil {
		err = take(&n.undated, 0, func(*sample) bool { return false })
	}
	return found, err
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
