package videos

import (
	"bytes"
	"encoding/json"
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
	if later.SourceURL != earlier.SourceURL || !bytes.Equal(later.Metadata, earlier.Metadata) || later.PostedAt != earlier.PostedAt {
		merged := mergeDescriptions(later.Platform, descriptionOf(earlier), descriptionOf(later))
		later.SourceURL, later.PostedAt, later.Metadata = merged.address, merged.postedAt, json.RawMessage(merged.metadata)
	}
	if later.CreatorID == "" {
		later.CreatorID = earlier.CreatorID
	}
	if later.Source == nil {
		later.Source = earlier.Source
	} else if earlier.Source != nil {
		source := *later.Source
		source.Handle = betterHandle(earlier.Source.Handle, source.Handle)
		later.Source = &source
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

// digestOf is a hash of everything in a record but its numbers: FNV-1a of its parts, each
// behind its length.
func digestOf(r *stage.Record) int64 {
	d := digest(fnvStart)
	d.put(r.SourceURL)
	if r.PostedAt != nil {
		d.put(strconv.FormatInt(*r.PostedAt, 10))
	}
	d.put(r.CreatorID)
	if r.Source != nil {
		d.put("source")
		d.put(r.Source.Kind)
		d.put(r.Source.Handle)
		d.put(r.Source.SeededBy)
	}
	put(&d, r.Metadata)
	if e := r.Evidence; e != nil {
		d.put("evidence")
		put(&d, e.Visual)
		for _, text := range []*string{e.Spoken, e.OnScreenText} {
			if text != nil {
				d.put(*text)
			}
			d.put("")
		}
		if e.Language != "" { // those that were stored before there was any stay as they are
			d.put("language")
			d.put(e.Language)
		}
	}
	for _, key := range r.Keys {
		d.put(key.Key)
		d.put(key.Label)
	}
	return int64(d)
}

// digest is a hash that grows. It is stored with videos, so it stays as it is.
type digest uint64

const (
	fnvStart = 14695981039346656037
	fnvPrime = 1099511628211
)

func (d *digest) put(part string) { put(d, part) }

// put hashes a part as it is, without the copy that an io.Writer needs of a text.
func put[T ~string | ~[]byte](d *digest, part T) {
	h := *d
	for shift := 56; shift >= 0; shift -= 8 {
		h = (h ^ digest(byte(len(part)>>shift))) * fnvPrime
	}
	for i := range len(part) {
		h = (h ^ digest(part[i])) * fnvPrime
	}
	*d = h
}
