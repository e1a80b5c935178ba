package videos

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/modules/library/score"
)

// Removal says what stays of videos that are deleted.
type Removal struct {
	// Deletion is the request that deletes them; 0 for none, which leaves nothing.
	Deletion int64
	// Undo keeps them, sealed, for an undo of the deletion.
	Undo bool
	// Erasure keeps them out of the libraries of all tenants; 0 for none. It leaves nothing else.
	Erasure int64
}

// CreatorName is a creator by all names that a library has for one.
type CreatorName struct {
	Platform string
	// Asked are the names of the request, and Keys all that are known, both like the keys of the
	// table of creators: `id:…` and `handle:…`.
	Asked, Keys []string
}

// hashes are what keeps a creator out. A handle that was not asked for may be another's by now:
// it counts for records that do not say whose they are.
func (c CreatorName) hashes(v *vault) []string {
	hashes := make([]string, 0, len(c.Keys))
	for _, key := range c.Keys {
		if handle, isHandle := strings.CutPrefix(key, "handle:"); isHandle && !slices.Contains(c.Asked, key) {
			key = "alone:" + handle
		}
		hashes = append(hashes, v.ofCreator(c.Platform, key))
	}
	return hashes
}

// copied is a deleted video as it is sealed: all rows that its scores do not follow from.
type copied struct {
	Video    *ent.Video
	Doc      *ent.VideoDoc
	Creator  *ent.Creator `json:",omitempty"`
	Readings []*ent.Observation
	Points   []*ent.ScorePoint `json:",omitempty"`
	Frames   []*ent.Frame      `json:",omitempty"`
	// Beside is what dependants keep of it.
	Beside json.RawMessage `json:",omitempty"`

	// fewer: it comes back without some of its readings.
	fewer bool
}

// row is the row of the table videos, without a score: that follows from the others.
func (c *copied) row(creator *int64) []any {
	v := c.Video
	byNiche := 0
	if v.UsableViews != nil {
		byNiche = AwaitsNiche
	}
	var order, rising any
	if v.HookOrder != nil {
		order = *v.HookOrder
	}
	if v.RisingOrder != nil {
		rising = *v.RisingOrder
	}
	return []any{
		v.ID, v.Platform, v.ExternalID, creator, v.Kind, v.GrowthKind, v.Duration, v.Handle, v.HandleOnly,
		v.Subject, v.ScrollID, v.PostedAt, v.FirstSeenAt, v.ObservedAt, v.UsableViews, v.UsableAt, v.UsableLikes, byNiche,
		v.GoneAt, v.Digest, v.Archived, v.HookArchived, v.HookHidden, v.SeenOrder, order, v.HookChangedAt, v.Opening,
		v.PostedWeek, rising,
	}
}

// postedOf is the posting time of a row as scoring knows it.
func postedOf(v *ent.Video) int64 {
	if v.PostedAt == nil {
		return score.Undated
	}
	return *v.PostedAt
}

// touched are the kinds that videos count in, each from the oldest of them on.
func touched(videos []*ent.Video) map[score.Kind]int64 {
	niches := map[score.Kind]int64{}
	for _, v := range videos {
		if v.GrowthKind != "" {
			Touch(niches, score.Kind(v.GrowthKind), postedOf(v))
		}
	}
	return niches
}
