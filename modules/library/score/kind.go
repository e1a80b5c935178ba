package score

import "strings"

// Kind is what a video competes with: its platform, and on YouTube a length. Shorts
// and long videos of one channel have different audiences and different growth, so
// neither says what is usual for the other.
type Kind string

// The kinds that the rules name. Every other kind is its platform's name.
const (
	YouTubeShort Kind = "youtube_short"
	YouTubeLong  Kind = "youtube_long"
	Instagram    Kind = "instagram"
)

const (
	// longerShorts is 2024-10-15: Shorts posted since may last three minutes.
	longerShorts = int64(1728950400_000)

	oldestShort = int64(60_000)
	newestShort = int64(180_000)
)

// KindOf is the kind of a video. postedAt is Undated and duration, in milliseconds, 0
// or less where unknown; a video without a posting time counts as posted today.
// hashtags are in any case, without the sign; they decide only where the duration is
// unknown, because long videos carry #shorts too.
func KindOf(platform string, postedAt, duration int64, hashtags []string) Kind {
	if platform != "youtube" {
		return Kind(platform)
	}
	if duration > 0 {
		longest := newestShort
		if postedAt != Undated && postedAt < longerShorts {
			longest = oldestShort
		}
		if duration <= longest {
			return YouTubeShort
		}
		return YouTubeLong
	}
	for _, tag := range hashtags {
		if tag = Fold(tag); tag == "shorts" || tag == "short" {
			return YouTubeShort
		}
	}
	return YouTubeLong
}

// Platform is the platform of the kind.
func (k Kind) Platform() string {
	if k == YouTubeShort || k == YouTubeLong {
		return "youtube"
	}
	return string(k)
}

// tagOf is a hashtag without its sign, folded.
func tagOf(tag string) string {
	return Fold(strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(tag), "#＃")))
}

// KindsOf are the kinds that videos of a platform may have.
func KindsOf(platform string) []Kind {
	if platform == "youtube" {
		return []Kind{YouTubeShort, YouTubeLong}
	}
	return []Kind{Kind(platform)}
}
