package score

import (
	"encoding/binary"
	"errors"
	"maps"
	"math/big"
	"math/bits"
	"slices"
	"sort"
)

const (
	// EarlyPeers is the greatest number of own peers of a video with early views: from 3 on
	// it has a baseline by its creator.
	EarlyPeers = fewestPeers - 1
	// fewestAlike is the least number of creators whose median stands for their like.
	fewestAlike = 5
	// alike is a factor of 3 in steps of [StepOf]: 4 × log₂ 3 is 6.3.
	alike = 6
	// steps is the number of steps of a number below 2^63.
	steps = 4 * 63
)

// stepParts are 2^(1/4), 2^(2/4) and 2^(3/4), as parts of 2^63 rounded down, where 2^0 is 2^63.
// stepMiddles are 2^(1/8), 2^(3/8), 2^(5/8) and 2^(7/8) alike.
var (
	stepParts   = [3]uint64{0x9837f0518db8a96f, 0xb504f333f9de6484, 0xd744fccad69d6af4}
	stepMiddles = [4]uint64{0x8b95c1e3ea8bd6e6, 0xa5fed6a9b15138ea, 0xc5672a115506dadd, 0xeac0c6e7dd24392e}
)

// StepOf is ⌊4 × log₂ n⌋ of a number above 0: four steps to a doubling. It is 0 of others.
func StepOf(n int64) int {
	if n < 1 {
		return 0
	}
	zeros := bits.LeadingZeros64(uint64(n))
	part := uint64(n) << zeros
	return 4*(63-zeros) + sort.Search(3, func(i int) bool { return stepParts[i] >= part })
}

// MiddleOf is the number in the middle of a step, in logarithms: 2^((step + ½) ÷ 4), rounded
// down. step is from 0 to 251, that of a number below 2^63.
func MiddleOf(step int) int64 { return int64(stepMiddles[step%4] >> (63 - step/4)) }

// Standing says where a creator stands among those of a kind: the steps of followers and of
// the views that a grown-up video usually has.
type Standing struct{ Followers, Views int }

// Standings count the creators of a kind by step of followers, then of views; none is below 0.
type Standings map[int]*[steps]int

// Add counts n more creators there.
func (s Standings) Add(at Standing, n int) {
	if s[at.Followers] == nil {
		s[at.Followers] = new([steps]int)
	}
	s[at.Followers][at.Views] += n
}

// Pack is the column of the counts: of each place with creators the step of followers, of views
// and their number, as varints, in this order.
func (s Standings) Pack() (packed []byte) {
	for _, followers := range slices.Sorted(maps.Keys(s)) {
		for views, n := range s[followers] {
			if n > 0 {
				for _, one := range []int{followers, views, n} {
					packed = binary.AppendUvarint(packed, uint64(one))
				}
			}
		}
	}
	return packed
}

// UnpackStandings is the reverse of Pack.
func UnpackStandings(packed []byte) (Standings, error) {
	s := Standings{}
	for len(packed) > 0 {
		var place [3]uint64
		for i := range place {
			n := 0
			if place[i], n = binary.Uvarint(packed); n <= 0 || i < 2 && place[i] >= steps {
				return nil, errors.New("the counts of creators cannot be read")
			}
			packed = packed[n:]
		}
		s.Add(Standing{int(place[0]), int(place[1])}, int(place[2]))
	}
	return s, nil
}

// Alike are the views that a grown-up video of creators of as many followers usually has, and
// the number of these creators: the middle of the step of their median (the lower one of
// two), of those at most 6 steps of followers away, a factor of about 3. Views are 0 for fewer than 5
// creators. self, where it stands among them, is left out.
func (s Standings) Alike(followers int64, self *Standing) (views int64, creators int) {
	if followers < 1 {
		return 0, 0
	}
	var by [steps]int
	at := StepOf(followers)
	for step := at - alike; step <= at+alike; step++ {
		if s[step] == nil {
			continue
		}
		for views, n := range s[step] {
			by[views] += n
			creators += n
		}
	}
	if self != nil && self.Followers >= at-alike && self.Followers <= at+alike && by[self.Views] > 0 {
		by[self.Views]--
		creators--
	}
	if creators < fewestAlike {
		return 0, creators
	}
	rank := (creators - 1) / 2
	for step, n := range by {
		if rank -= n; rank < 0 {
			return MiddleOf(step), creators
		}
	}
	return 0, creators // not reached: the counts add up
}

// Early is what a video of a creator with one or two own peers would usually have at its
// age, by these and by creators of as many followers.
type Early struct {
	// Views are in the middle, in logarithms. Four of five creators are to be from Low to
	// High. All are 0 where nothing can be said.
	Views, Low, High int64
}

// EarlyOf is the mean in logarithms of n = 1 or 2 expected views by own peers and the views by
// creators of as many followers, of which the video's age has share thousandths:
//
//	views = ⌊(e₁ × … × eₙ × a)^(1 ÷ (n + 1))⌋ with a = max(⌊alike × share ÷ 1000⌋, 1)
//
// The interval is what was wide enough for four of five of 252 creators on TikTok: 5 ÷ 12
// to 12 ÷ 5 of the views with one peer, ½ to 2 with two. It is nothing with other n, and
// where alike is 0.
func EarlyOf(own []int64, alike, share int64) (e Early) {
	if len(own) < 1 || len(own) > EarlyPeers || alike < 1 {
		return e
	}
	hi, lo := bits.Mul64(uint64(alike), uint64(share))
	a, _ := bits.Div64(hi, lo, whole) // share is at most whole, so a at most alike
	product := new(big.Int).SetUint64(max(a, 1))
	for _, views := range own {
		product.Mul(product, big.NewInt(max(views, 1)))
	}
	return EarlyAround(rootOf(product, len(own)+1), len(own))
}

// EarlyAround is the interval around views that rest on so many own peers; nothing around 0.
func EarlyAround(views int64, own int) Early {
	times, by := int64(12), int64(5)
	if own == 2 {
		times, by = 2, 1
	}
	return Early{views, views * by / times, views * times / by}
}

// Early is what the video would usually have, by creators of as many followers who usually
// have alike on a grown-up video. It is nothing without one or two own peers.
func (o *Outlier) Early(alike int64) Early {
	switch {
	case o.OwnViews == 0:
		return Early{}
	case o.LessOwn == 0:
		return EarlyOf([]int64{o.OwnViews}, alike, o.Share)
	}
	return EarlyOf([]int64{o.OwnViews, o.LessOwn}, alike, o.Share)
}

// rootOf is the n-th root of a product of n numbers below 2^55, rounded down.
func rootOf(product *big.Int, n int) int64 {
	power := big.NewInt(int64(n))
	return int64(sort.Search(1<<55, func(i int) bool { // the first whose power is above it
		return new(big.Int).Exp(big.NewInt(int64(i)), power, nil).Cmp(product) > 0
	})) - 1
}
