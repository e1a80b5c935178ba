package lists

import (
	"encoding/base64"

	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// List names what a page shows; a token holds it, so that no token opens another list.
type List byte

const (
	Hooks    List = 'h'
	Outliers List = 'o'
	Trends   List = 't'
	Videos   List = 'v'
	// NewOutliers are the outliers that became one since a time, in their order; Rising the videos of
	// at most 7 days, most 7-day views first; BestHooks the hooks of outliers, in their order.
	NewOutliers List = 'n'
	Rising      List = 'r'
	BestHooks   List = 'b'
	// MovingTrends are the trends with rising ones first, then those that hold.
	MovingTrends List = 'm'
)

// items is the list with the same items, in its usual order.
func (l List) items() List {
	switch l {
	case NewOutliers, Rising:
		return Outliers
	case BestHooks:
		return Hooks
	case MovingTrends:
		return Trends
	}
	return l
}

// ordered is the list in an order that a request names.
func (l List) ordered(order string) List {
	switch {
	case l == Outliers && order == "new":
		return NewOutliers
	case l == Outliers && order == "rising":
		return Rising
	case l == Hooks && order == "score":
		return BestHooks
	}
	return l
}

// isKey reports whether a text of n bytes can be one of the list's sort keys.
func (l List) isKey(n int) bool {
	switch l {
	case Rising:
		return n == score.RisingKeySize
	case Outliers, NewOutliers, BestHooks:
		return n == videos.OutlierKeySize || n == videos.FormerKeySize
	case Hooks:
		return n == videos.FormerHookSize+1 || n == videos.FormerHookSize
	case Trends:
		return n >= 16
	case MovingTrends:
		return n >= 17
	}
	return n == 16
}

// Token is the opaque form of a sort key: a page begins after it.
func (l List) Token(key []byte) string {
	return base64.RawURLEncoding.EncodeToString(append([]byte{byte(l)}, key...))
}

// key reads a token. The empty token is before everything; ok is false for
// text that token does not return.
func (l List) key(token string) (key []byte, ok bool) {
	if token == "" {
		return []byte{0}, true
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) == 0 || List(raw[0]) != l {
		return nil, false
	}
	key = raw[1:]
	return key, l.isKey(len(key))
}
