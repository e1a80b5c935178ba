package stage

import "strconv"

// firstTikTok is the earliest time of a TikTok id, in Unix seconds: 2014-05-13.
const firstTikTok = 1_400_000_000

// PostedByID reads the time of publication out of an id, in Unix milliseconds: the upper
// half of TikTok's decimal ids is Unix seconds. It returns nil for other platforms, and
// for an id that gives no time of TikTok's.
func PostedByID(ref Ref) *int64 {
	id, err := strconv.ParseUint(ref.ExternalID, 10, 64)
	at := int64(id>>32) * 1000
	if ref.Platform != "tiktok" || err != nil || at < firstTikTok*1000 || at >= maxTime {
		return nil
	}
	return &at
}
