package library

import (
	"encoding/binary"
	"hash/fnv"
	"strconv"

	"github.com/scrollery/scrollery/plugins/stage"
)

// distinct makes one record of all that a batch has of a video: sources repeat
// themselves from page to page. Order is kept; what has no platform or id is left out.
func distinct(records []stage.Record) []*stage.Record {
	merged := make([]*stage.Record, 0, len(records))
	at := make(map[stage.Ref]int, len(records))
	for i := range records {
		r := records[i]
		r.Ref = cleanRef(r.Ref)
		if r.Platform == "" || r.ExternalID == "" {
			continue
		}
		if j, seen := at[r.Ref]; seen {
			fill(&r, merged[j])
			merged[j] = &r
			continue
		}
		at[r.Ref] = len(merged)
		merged = append(merged, &r)
	}
	return merged
}

func cleanRef(ref stage.Ref) stage.Ref {
	return stage.Ref{Platform: clean(ref.Platform), ExternalID: clean(ref.ExternalID)}
}

// fill copies from an earlier record what the later one leaves out.
func fill(later, earlier *stage.Record) {
	if later.SourceURL == "" {
		later.SourceURL = earlier.SourceURL
	}
	if later.PostedAt == nil {
		later.PostedAt = earlier.PostedAt
	}
	if later.CreatorID == "" {
		later.CreatorID = earlier.CreatorID
	}
	if later.Source == nil {
		later.Source = earlier.Source
	}
	if later.Metadata == nil {
		later.Metadata = earlier.Metadata
	}
	if later.Metrics == (stage.Metrics{}) {
		later.Metrics, later.Unread = earlier.Metrics, earlier.Unread
	}
	if later.Evidence == nil {
		later.Evidence = earlier.Evidence
	}
	if later.Keys == nil {
		later.Keys = earlier.Keys
	}
}

// numbersOnly reports whether a record holds nothing but its numbers.
func numbersOnly(r *stage.Record) bool {
	return r.SourceURL == "" && r.PostedAt == nil && r.CreatorID == "" && r.Source == nil && r.Metadata == nil && r.Evidence == nil && r.Keys == nil
}

// digestOf is a hash of everything in a record but its numbers.
func digestOf(r *stage.Record) int64 {
	h := fnv.New64a()
	var size [8]byte
	put := func(parts ...string) {
		for _, part := range parts {
			binary.BigEndian.PutUint64(size[:], uint64(len(part)))
			h.Write(size[:])
			h.Write([]byte(part))
		}
	}
	put(r.SourceURL)
	if r.PostedAt != nil {
		put(strconv.FormatInt(*r.PostedAt, 10))
	}
	put(r.CreatorID)
	if r.Source != nil {
		put("source", r.Source.Kind, r.Source.Handle, r.Source.SeededBy)
	}
	put(string(r.Metadata))
	if e := r.Evidence; e != nil {
		put("evidence", string(e.Visual))
		for _, text := range []*string{e.Spoken, e.OnScreenText} {
			if text != nil {
				put(*text)
			}
			put("")
		}
	}
	for _, key := range r.Keys {
		put(key.Key, key.Label)
	}
	return int64(h.Sum64())
}
