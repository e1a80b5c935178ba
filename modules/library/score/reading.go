package score

import "math"

// Times are Unix milliseconds, ages and durations milliseconds.
const (
	hour = int64(3600_000)
	day  = 24 * hour
)

const (
	// Undated is the posting time of a video where it is not known.
	Undated = int64(math.MinInt64)
	// UnknownAge is the age of a video without a posting time.
	UnknownAge = int64(math.MinInt64)
	// Unknown is a count that the platform did not give.
	Unknown = int64(-1)
	// MaxViews bounds views and likes: JSON numbers are exact up to it.
	MaxViews = int64(1) << 53
)

// Reading is a video as scoring sees it: by its newest usable observation. Where a
// video has none, it is the newest one of all, which is then refused with the reason.
type Reading struct {
	ID   int64
	Kind Kind
	// PostedAt is Undated if unknown.
	PostedAt int64
	// ObservedAt is when the counts were read.
	ObservedAt int64
	// Views and Likes are Unknown where not given.
	Views, Likes int64
}

// Age is how old the video was when its counts were read. A reading of exactly
// midnight UTC has a date and no time: it counts as the end of that day, since its
// counts are of some moment before. Negative for a reading before the posting time.
func (r *Reading) Age() int64 {
	if r.PostedAt == Undated {
		return UnknownAge
	}
	at := r.ObservedAt
	if at%day == 0 {
		at += day
	}
	age := at - r.PostedAt
	if (at < 0) != (r.PostedAt < 0) && (age < 0) != (at < 0) { // beyond 63 bits
		if at < 0 {
			return math.MinInt64 + 1
		}
		return math.MaxInt64
	}
	return age
}

// Usable reports whether scoring can use counts, and why not: views must be known,
// above 0, at most MaxViews, and not fewer than the likes.
func Usable(views, likes int64) Reason {
	switch {
	case views <= 0:
		return NoViews
	case views > MaxViews:
		return TooManyViews
	case likes > views:
		return FewerViewsThanLikes
	}
	return Used
}

// likes returns the likes and why they cannot be used. Instagram shows up to three
// likes of a video whose creator hides the number.
func (r *Reading) likes() (int64, Reason) {
	switch {
	case r.Likes < 0:
		return 0, LikesUnknown
	case r.Kind == Instagram && r.Likes <= 3:
		return 0, LikesHidden
	}
	return r.Likes, Used
}

// Reason says what became of a video that was looked at.
type Reason uint8

// The reasons. Used is the only one that admits.
const (
	Used Reason = iota
	// OtherKind: another platform, or long where the target is short.
	OtherKind
	// NoViews: its newest reading has no views above 0.
	NoViews
	// TooManyViews: more than MaxViews, which no platform shows.
	TooManyViews
	// FewerViewsThanLikes: the platform had not caught up, or the reading is wrong.
	FewerViewsThanLikes
	// YearApart: posted more than 365 days before or after the target.
	YearApart
	// OtherCount: its platform counted views in another way when it was posted, see Epochs.
	OtherCount
	// TooYoung: its share is less than half the target's, so that its final views are
	// more guess than reading.
	TooYoung
	// BeyondNearest: fit, but enough others are nearer.
	BeyondNearest
	// LikesUnknown and LikesHidden concern the like rate alone.
	LikesUnknown
	LikesHidden
	reasons
)

var reasonNames = [reasons]string{
	"used", "other_kind", "no_views", "too_many_views", "fewer_views_than_likes", "over_a_year_apart",
	"counted_differently", "too_young", "beyond_nearest", "likes_unknown", "likes_hidden",
}

// String is the stable name of the reason.
func (r Reason) String() string {
	if r < reasons {
		return reasonNames[r]
	}
	return "unknown"
}
