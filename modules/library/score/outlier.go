package score

import (
	"cmp"
	"slices"
)

// Basis says what a baseline was made of.
type Basis uint8

// The bases.
const (
	// NoBasis: the video cannot be used, or there are too few peers.
	NoBasis Basis = iota
	// CreatorBasis: the creator's own videos.
	CreatorBasis
	// NicheBasis: the newest videos of the kind, by any creator.
	NicheBasis
)

// String is the stable name of the basis.
func (b Basis) String() string { return [...]string{"none", "creator", "niche"}[b] }

// Outlier is how a video compares with what its peers would have at its age.
type Outlier struct {
	ID   int64
	Kind Kind
	// Views and ObservedAt are of the reading that was scored.
	Views, ObservedAt int64
	// Age is UnknownAge without a posting time; Share the thousandths at that age.
	Age, Share int64
	Basis      Basis
	// TwiceBaseline is twice baselineViews, so that a mean of two stays whole; 0 on no
	// basis, at most 2^55.
	TwiceBaseline int64
	// SampleCount is the number of peers in the median.
	SampleCount int
	// CreatorPeers is the number of the creator's own peers, whatever the basis.
	CreatorPeers int
	// OwnViews are the most expected views of an own peer if there are one or two, else
	// 0: a baseline by the niche is never below it.
	OwnViews int64
	// LessOwn are the fewest expected views of an own peer if there are two, else 0.
	LessOwn int64
	// Score is 2 × Views ÷ TwiceBaseline.
	Score Decimal
	// Order is the evidence-weighted score that lists sort by.
	Order Decimal
	// Doubtful marks views that look bought.
	Doubtful bool
	// Listed is true where the unrounded score is above 1.
	Listed bool
}

// Baseline is baselineViews.
func (o *Outlier) Baseline() Decimal { return half(o.TwiceBaseline) }

// OrderBaseline is M of the order value: twice the baseline, at least 200.
func (o *Outlier) OrderBaseline() int64 { return max(o.TwiceBaseline, leastOrderBaseline) }

// leastOrderBaseline is twice the least baseline that an order value is drawn from.
const leastOrderBaseline = 200

// Compare sorts outliers as lists show them: the doubtful last, then the order value,
// score, views and reading time, highest first, then id. It is 0 for one video alone.
func Compare(a, b *Outlier) int {
	if a.Doubtful != b.Doubtful {
		if b.Doubtful {
			return -1
		}
		return 1
	}
	return cmp.Or(b.Order.Compare(a.Order), b.Score.Compare(a.Score), cmp.Compare(b.Views, a.Views),
		cmp.Compare(b.ObservedAt, a.ObservedAt), cmp.Compare(a.ID, b.ID))
}

// Score scores the i-th video. niche may be nil: a video that needs it then has
// NoBasis, NeedsNiche reports it, and [Niche.Finish] completes the score later: all that
// it needs of the creator is in the Outlier. why may be nil; else it is filled. Errors
// are those of the niche's loader.
func (c *Creator) Score(i int, niche *Niche, why *Explanation) (Outlier, error) {
	target := &c.peers[i]
	o := Outlier{
		ID: target.ID, Kind: target.Kind, Views: target.Views, ObservedAt: target.ObservedAt,
		Age: target.Age(), Share: target.share,
	}
	if why != nil {
		*why = Explanation{Most: why.Most, Method: c.table.Method(), Target: target.Reading, TargetUse: target.usable}
		defer func() { why.Outlier = o }()
	}
	if target.usable != Used {
		return o, nil
	}
	var buffer [nearestPeers]int64
	own := c.own(i, &buffer, why)
	o.CreatorPeers = len(own)
	o.Doubtful = c.doubtful(i, why)
	if len(own) >= fewestPeers {
		o.on(CreatorBasis, twiceMedian(own), len(own))
		return o, nil
	}
	if len(own) > 0 {
		o.OwnViews = slices.Max(own)
	}
	if len(own) == 2 {
		o.LessOwn = slices.Min(own)
	}
	if niche == nil {
		return o, nil
	}
	return o, niche.finish(target, &o, why)
}

// NeedsNiche reports whether a usable video has too few peers by its creator, and no
// baseline yet.
func (o *Outlier) NeedsNiche() bool {
	return o.Basis == NoBasis && o.Views > 0 && o.CreatorPeers < fewestPeers
}

// Finish scores a usable video by the niche. Of o it takes CreatorPeers, OwnViews,
// LessOwn and Doubtful, as Creator.Score found them without a niche, and fills the rest. With too few
// peers o has NoBasis.
func (n *Niche) Finish(r Reading, o *Outlier) error {
	target := n.table.peer(r)
	*o = Outlier{
		ID: r.ID, Kind: r.Kind, Views: r.Views, ObservedAt: r.ObservedAt, Age: r.Age(), Share: target.share,
		CreatorPeers: o.CreatorPeers, OwnViews: o.OwnViews, LessOwn: o.LessOwn, Doubtful: o.Doubtful,
	}
	if target.usable != Used {
		return nil
	}
	return n.finish(&target, o, nil)
}

func (n *Niche) finish(target *peer, o *Outlier, why *Explanation) error {
	twice, count, err := n.median(target, why)
	if err != nil {
		return err
	}
	if why != nil {
		why.TwiceNicheMedian = twice
	}
	if count >= fewestPeers {
		o.on(NicheBasis, max(twice, 2*o.OwnViews), count)
	}
	return nil
}

// on completes a score whose baseline is known.
func (o *Outlier) on(basis Basis, twiceBaseline int64, samples int) {
	o.Basis, o.TwiceBaseline, o.SampleCount = basis, twiceBaseline, samples
	o.Score = ratio(2*uint64(o.Views), uint64(o.TwiceBaseline))
	o.Listed = 2*o.Views > o.TwiceBaseline
	o.Order = orderValue(o.Views, o.TwiceBaseline, o.CreatorPeers)
}

// orderValue is (n × V ÷ max(baseline, 100) + 2) ÷ (n + 2): the score, drawn towards 1
// as if two peers had seen nothing unusual, so that much evidence of a little beats
// little evidence of much. A baseline below 100 counts as 100: twenty views over two
// say nothing. With M = max(2 × baseline, 200) it is (2nV + 2M) ÷ (M × (n + 2)); for 30
// peers, 2^53 views and a baseline of 2^54 both products stay below 2^61.
func orderValue(views, twiceBaseline int64, n int) Decimal {
	m := uint64(max(twiceBaseline, leastOrderBaseline))
	return ratio(2*uint64(n)*uint64(views)+2*m, m*uint64(n+2))
}
