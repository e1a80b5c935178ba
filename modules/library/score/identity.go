package score

import "strings"

// Creators identifies who made a video. A platform's id is a creator; a handle is one only
// until it is known whose it is, since handles change hands. The zero value is ready.
type Creators struct {
	// ids are the ids that videos of a platform carry with a handle; empty text where
	// there are several.
	ids map[[2]string]string
}

// Handle is a handle without its sign and case-folded, as identities compare them.
func Handle(handle string) string {
	return Fold(strings.TrimPrefix(strings.TrimSpace(handle), "@"))
}

// Add takes note of a video's creator id and handle, either of which may be empty. Add
// all videos of a tenant before Key is asked; their order does not matter.
func (c *Creators) Add(platform, id, handle string) {
	if handle = Handle(handle); id == "" || handle == "" {
		return
	}
	if c.ids == nil {
		c.ids = map[[2]string]string{}
	}
	at := [2]string{platform, handle}
	if known, ok := c.ids[at]; ok && known != id {
		id = ""
	}
	c.ids[at] = id
}

// Key is the creator of a video: `id:` and its creator id; without one, the id that the
// tenant's other videos of the platform carry with the handle, if there is exactly
// one; else `handle:` and the handle; empty if neither is known.
func (c *Creators) Key(platform, id, handle string) string {
	if id != "" {
		return "id:" + id
	}
	if handle = Handle(handle); handle == "" {
		return ""
	}
	if known := c.ids[[2]string{platform, handle}]; known != "" {
		return "id:" + known
	}
	return "handle:" + handle
}

// PostedAt is the posting time of a video: the given one, Undated if there is none. What its
// id says, byID, which is 0 if it says nothing, is taken where no time is given, or a date
// alone: a time on the quarter of an hour, as midnight in any zone is.
func PostedAt(byID, given int64) int64 {
	const quarter = hour / 4
	if byID == 0 || given != Undated && given%quarter != 0 {
		return given
	}
	return byID
}
