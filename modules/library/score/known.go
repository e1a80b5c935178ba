package score

import "strings"

// Format is what a platform itself says a video is. A greater one is better known: a list
// or page of Shorts has only Shorts in it, and elsewhere a Short may pass as a video.
type Format int8

// The formats.
const (
	// UnknownFormat leaves it to the length and the hashtags.
	UnknownFormat Format = iota
	LongFormat
	ShortFormat
)

// ByLength is the basis of a format that a source derived from the length alone.
const ByLength = "duration"

// FormatOf reads the format of a YouTube video: basis is how its source recognised a Short,
// such as `uush` for YouTube's own list of them, mediaType what the page calls the video,
// address where it was found. Empty ones are unknown. Other platforms have no formats.
func FormatOf(platform, address, basis, mediaType string) Format {
	switch mediaType = strings.ToLower(mediaType); {
	case platform != "youtube":
		return UnknownFormat
	case basis != "" && basis != ByLength, mediaType == "short", basis == "" && ShortAddress(address):
		return ShortFormat
	case mediaType == "video", mediaType == "livestream":
		return LongFormat
	}
	return UnknownFormat
}

// ShortAddress reports whether an address is one of YouTube's Shorts. One without says
// nothing: Shorts have such addresses too.
func ShortAddress(address string) bool {
	return strings.Contains(address, "youtube.com/shorts/")
}

// Known is what sightings of a video say of it besides its numbers. What a sighting does not
// know is UnknownFormat, Undated and 0.
type Known struct {
	Format Format
	// PostedAt is Unix milliseconds, Duration milliseconds.
	PostedAt, Duration int64
}

// With is the better of each. It is the same for every order of sightings, however often
// each of them is taken.
func (k Known) With(other Known) Known {
	return Known{
		Format: max(k.Format, other.Format), PostedAt: betterTime(k.PostedAt, other.PostedAt), Duration: betterDuration(k.Duration, other.Duration),
	}
}

// betterTime is the more exact one: many sources know a day alone, and some the quarter of
// an hour. Of two as exact, the earlier one is the publication.
func betterTime(a, b int64) int64 {
	exact := func(at int64) int {
		switch {
		case at == Undated:
			return 0
		case at%(24*hour) == 0:
			return 1
		case at%(hour/4) == 0:
			return 2
		}
		return 3
	}
	if x, y := exact(a), exact(b); x != y {
		if x > y {
			return a
		}
		return b
	}
	return min(a, b)
}

// betterDuration is the one with a part of a second, else the greater one: whole seconds
// are mostly rounded down.
func betterDuration(a, b int64) int64 {
	a, b = max(a, 0), max(b, 0)
	if x, y := a%1000 != 0, b%1000 != 0; x != y {
		if x {
			return a
		}
		return b
	}
	return max(a, b)
}

// Kind is the kind of a video of which this is known; see KindOf. What lasts longer than any
// Short is none, wherever it was found.
func (k Known) Kind(platform string, hashtags []string) Kind {
	const rounded = 2 * 1000
	switch {
	case platform == "youtube" && k.Format == ShortFormat && k.Duration <= newestShort+rounded:
		return YouTubeShort
	case platform == "youtube" && k.Format == LongFormat:
		return YouTubeLong
	}
	return KindOf(platform, k.PostedAt, k.Duration, hashtags)
}
