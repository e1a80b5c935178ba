package score

// Explanation is everything that went into an outlier, made by the code that decides.
// Pass one to Creator.Score; the score can be recomputed from it alone.
type Explanation struct {
	// Most bounds the refused of each list; 0 keeps all. Set it before the call. The
	// counts are complete either way, but for a niche, where a bound also leaves out
	// what is over a year apart without looking at it.
	Most int

	// Method names the rules and the growth table, with their versions.
	Method string
	Target Reading
	// TargetUse is Used, or why the target's own reading cannot be scored.
	TargetUse Reason
	// Peers are the creator's other videos, nearest in posting time first.
	Peers Decisions
	// Niche are others of the kind, newest first, until 200 are used: those behind were
	// not looked at. Empty on a baseline by the creator.
	Niche Decisions
	// TwiceNicheMedian is twice the median of the niche's expected views.
	TwiceNicheMedian int64
	// Likes are the creator's other videos as a like rate sees them, nearest first.
	Likes Decisions
	// TwiceUsualRate is twice the usual likes by a million views; 0 if unknown.
	TwiceUsualRate int64
	// Outlier is the result.
	Outlier Outlier
}

// Decisions are the videos that were looked at for one purpose.
type Decisions struct {
	// All are in the order in which they were looked at.
	All []Decision
	// Counts are by Reason, those left out of All included.
	Counts [reasons]int
}

// Decision is a video that was looked at, and what became of it.
type Decision struct {
	Reading
	Reason Reason
	// Share is the thousandths at its own age.
	Share int64
	// Expected are the views it would have at the target's age; 0 if refused.
	Expected int64
	// Rate is likes by a million views; only of Likes, 0 if refused.
	Rate int64
}

func (d *Decisions) keep(one Decision, most int) {
	d.Counts[one.Reason]++
	refused := len(d.All) - min(d.Counts[Used], len(d.All))
	if one.Reason == Used || most == 0 || refused < most {
		d.All = append(d.All, one)
	}
}

func (d *Decisions) add(target, p *peer, reason Reason, most int) {
	one := Decision{Reading: p.Reading, Reason: reason, Share: p.share}
	if reason == Used {
		one.Expected = target.expected(p)
	}
	d.keep(one, most)
}

func (d *Decisions) addRate(p *peer, rate int64, reason Reason, most int) {
	one := Decision{Reading: p.Reading, Reason: reason, Share: p.share}
	if reason == Used {
		one.Rate = rate
	}
	d.keep(one, most)
}

// Outcome says why a video is in the list or is not.
type Outcome string

// The outcomes.
const (
	IsListed      Outcome = "listed"
	NotUsable     Outcome = "not_usable"
	TooFewPeers   Outcome = "too_few_peers"
	NotAboveUsual Outcome = "not_above_baseline"
)

// Outcome of the explained video. Whether it is archived is the caller's to add.
func (e *Explanation) Outcome() Outcome {
	switch {
	case e.TargetUse != Used:
		return NotUsable
	case e.Outlier.Basis == NoBasis:
		return TooFewPeers
	case !e.Outlier.Listed:
		return NotAboveUsual
	}
	return IsListed
}
