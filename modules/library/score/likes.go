package score

import "math/bits"

const (
	million = 1_000_000
	// expectedLikes is the least that a usual like rate must give a video's views:
	// below it, having a tenth is chance.
	expectedLikes = 30
	// tenth: fewer than this part of the usual likes are doubtful.
	tenth = 10
)

// doubtful reports whether the i-th video's views look bought. The usual like rate is the
// median of ⌊likes × 1,000,000 ÷ views⌋ over the 30 nearest others of creator and kind
// with usable views and known likes, at least 3, of any age and date: unlike views, the
// rate hardly changes as a video ages. Doubtful is the video whose views would have at
// least 30 likes at that rate, and which has fewer than a tenth of them. Real audiences
// differ by less; bought views bring no likes.
func (c *Creator) doubtful(i int, why *Explanation) bool {
	target := &c.peers[i]
	likes, known := target.likes()
	// A rate is at most 1, so that a tenth of it cannot exceed likes from here on. Nor does
	// a median exceed the greatest rate.
	if why == nil && (known != Used || tenth*likes >= target.Views || !bought(target.Views, likes, 2*c.mostRate)) {
		return false
	}
	var buffer [nearestPeers]int64
	rates := buffer[:0]
	for w := c.walk(i); ; {
		j := w.next()
		if j < 0 || why == nil && len(rates) == nearestPeers {
			break
		}
		p := &c.peers[j]
		rate, reason := target.likeRate(p)
		switch {
		case reason == Used && len(rates) == nearestPeers:
			reason = BeyondNearest
		case reason == Used:
			rates = append(rates, rate)
		}
		if why != nil {
			why.Likes.addRate(p, rate, reason, why.Most)
		}
	}
	if len(rates) < fewestPeers {
		return false
	}
	twice := twiceMedian(rates)
	if why != nil {
		why.TwiceUsualRate = twice
	}
	return known == Used && bought(target.Views, likes, twice)
}

// likeRate is p's likes by a million views, and whether it may say what is usual.
func (target *peer) likeRate(p *peer) (int64, Reason) {
	if p.Kind != target.Kind {
		return 0, OtherKind
	}
	return p.rate, p.rated
}

// likeRate is the likes by a million views of a reading whose counts are usable or not, and
// why it has none.
func (r *Reading) likeRate(usable Reason) (int64, Reason) {
	if usable != Used {
		return 0, usable
	}
	likes, reason := r.likes()
	if reason != Used {
		return 0, reason
	}
	hi, lo := bits.Mul64(uint64(likes), million)
	rate, _ := bits.Div64(hi, lo, uint64(r.Views)) // likes ≤ views: at most a million
	return int64(rate), Used
}

// bought compares without rounding: with r = twiceRate ÷ 2,000,000 the views would have
// r × views likes. 2^53 × 2,000,000 needs 74 bits.
func bought(views, likes, twiceRate int64) bool {
	hi, lo := bits.Mul64(uint64(twiceRate), uint64(views))
	if hi == 0 && lo < expectedLikes*2*million {
		return false
	}
	hasHi, hasLo := bits.Mul64(uint64(likes), tenth*2*million)
	return hasHi < hi || hasHi == hi && hasLo < lo
}
