package score

import (
	"cmp"
	"slices"
	"time"
)

// latestPosts is how many of the newest videos the median gap is of, and one more.
const latestPosts = 30

// KindFacts are what the videos of one creator and kind have in common. No rule of scoring
// is different here: a video counts by its newest usable reading, its expected views and
// its like rate are those of a peer.
type KindFacts struct {
	Kind Kind
	// Videos of the kind; Usable ones have usable views.
	Videos, Usable int
	// TwiceMedian is twice the median of the usable views, 0 without any.
	TwiceMedian int64
	// TwiceGrown is twice the median of the expected views of the newest 30 that may be
	// peers of a grown-up video: what the creator usually has after 7 days. 0 with fewer
	// than 3.
	TwiceGrown int64
	// Rated have known likes; TwiceRate is twice the median of their likes by a million
	// views, each rounded down.
	Rated     int
	TwiceRate int64
}

// Rhythm is when a creator posts. Times are Unix milliseconds.
type Rhythm struct {
	// Dated videos have a posting time; First and Last are those of the oldest and the
	// newest, 0 without any.
	Dated       int
	First, Last int64
	// TwiceGap is twice the median time between a video and the next, of the newest 31; 0
	// with fewer than 2.
	TwiceGap int64
	// Weekdays begin with Monday, Hours with midnight UTC.
	Weekdays [7]int
	Hours    [24]int
}

// Facts sums up the creator's videos: by kind, the one with the most videos first, and
// over all kinds when they were posted.
func (c *Creator) Facts() (kinds []KindFacts, rhythm Rhythm) {
	byKind := map[Kind][]*peer{}
	for i := range c.peers {
		p := &c.peers[i]
		byKind[p.Kind] = append(byKind[p.Kind], p)
	}
	for kind, peers := range byKind {
		kinds = append(kinds, factsOf(kind, peers))
		kinds[len(kinds)-1].TwiceGrown = c.twiceGrown(kind)
	}
	slices.SortFunc(kinds, func(a, b KindFacts) int {
		return cmp.Or(cmp.Compare(b.Videos, a.Videos), cmp.Compare(a.Kind, b.Kind))
	})
	return kinds, c.rhythm()
}

// Standings calls add with where the creator, who has so many followers, stands in each kind
// with 3 videos that tell the views; never if followers are unknown, 0 or less.
func (c *Creator) Standings(followers int64, add func(Kind, Standing)) {
	if followers < 1 {
		return
	}
	var kinds [8]Kind // those done
	done := kinds[:0]
	for i := range c.peers {
		kind := c.peers[i].Kind
		if slices.Contains(done, kind) {
			continue
		}
		done = append(done, kind)
		if twice := c.twiceGrown(kind); twice >= 2 {
			add(kind, Standing{StepOf(followers), StepOf(twice / 2)})
		}
	}
}

// twiceGrown is that of KindFacts.
func (c *Creator) twiceGrown(kind Kind) int64 {
	grownUp := peer{Reading: Reading{Kind: kind}, share: whole}
	var buffer [nearestPeers]int64
	grown := buffer[:0]
	for i := range c.peers { // newest first
		if p := &c.peers[i]; p.Kind == kind && p.usable == Used && 2*p.share >= whole && len(grown) < nearestPeers {
			grown = append(grown, grownUp.expected(p))
		}
	}
	if len(grown) < fewestPeers {
		return 0
	}
	slices.Sort(grown)
	return twiceMedian(grown)
}

// factsOf sums up videos of one kind, newest first, but for TwiceGrown.
func factsOf(kind Kind, peers []*peer) KindFacts {
	f := KindFacts{Kind: kind, Videos: len(peers)}
	grownUp := peer{Reading: Reading{Kind: kind}, share: whole}
	var views, rates []int64
	for _, p := range peers {
		if p.usable != Used {
			continue
		}
		views = append(views, p.Views)
		if rate, reason := grownUp.likeRate(p); reason == Used {
			rates = append(rates, rate)
		}
	}
	f.Usable, f.Rated = len(views), len(rates)
	for _, all := range [][]int64{views, rates} {
		slices.Sort(all)
	}
	f.TwiceMedian, f.TwiceRate = twiceMedian(views), twiceMedian(rates)
	return f
}

func (c *Creator) rhythm() Rhythm {
	r := Rhythm{Dated: c.dated}
	if c.dated == 0 {
		return r
	}
	r.First, r.Last = c.peers[c.dated-1].PostedAt, c.peers[0].PostedAt
	var gaps []int64
	for i := range c.dated {
		at := time.UnixMilli(c.peers[i].PostedAt).UTC()
		r.Weekdays[(int(at.Weekday())+6)%7]++
		r.Hours[at.Hour()]++
		if 0 < i && i <= latestPosts {
			gaps = append(gaps, c.peers[i-1].PostedAt-c.peers[i].PostedAt)
		}
	}
	slices.Sort(gaps)
	r.TwiceGap = twiceMedian(gaps)
	return r
}
