package library

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollery/scrollery/plugins/stage"
)

// merge makes one record of all that a batch has of a video: sources repeat
// themselves from page to page. Order is kept.
func merge(records []stage.Record) []*stage.Record {
	merged := make([]*stage.Record, 0, len(records))
	at := make(map[stage.Ref]int, len(records))
	for i := range records {
		r := records[i]
		r.Platform, r.ExternalID = clean(r.Platform), clean(r.ExternalID)
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

// fill takes from an earlier record what the later one does not say.
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
		later.Metrics = earlier.Metrics
	}
	if later.Evidence == nil {
		later.Evidence = earlier.Evidence
	}
	if later.Keys == nil {
		later.Keys = earlier.Keys
	}
}

func observedAt(r *stage.Record, now int64) int64 {
	if r.Metrics.ObservedAt != nil {
		return *r.Metrics.ObservedAt
	}
	return now
}

// usable tells whether scoring can use a snapshot.
func usable(views, likes *int64) bool {
	return views != nil && *views > 0 && (likes == nil || *likes <= *views)
}

// begin makes a new video of its record.
func (v *row) begin(now int64) {
	r := v.record
	v.postedAt = r.PostedAt
	d := document{
		ID: publicID(v.id), Platform: r.Platform, ExternalID: r.ExternalID, SourceURL: r.SourceURL,
		PostedAt: r.PostedAt, FirstSeenAt: v.firstSeenAt, Source: sourceOf(r.Source), Metadata: object(r.Metadata),
	}
	v.finish(&d)
	var hook evidence
	if hook.take(r.Evidence) {
		v.setHook(&hook, now)
	}
	v.keys = packKeys(trendKeys(r, d.Metadata))
	v.digest = digestOf(r)
	v.setMetrics(now)
	v.setUsable(now)
}

// finish renders the document and takes the kind from it.
func (v *row) finish(d *document) {
	if d.SourceURL == "" {
		handle := ""
		if d.Source != nil && d.Source.Handle != nil {
			handle = *d.Source.Handle
		}
		d.SourceURL = sourceURL(v.record.Ref, handle)
	}
	if v.kind = ""; d.Source != nil {
		v.kind = d.Source.Kind
	}
	v.doc = d.render()
}

// renew brings the documents of a known video up to date with its record. What
// the record does not say stays; the caller's annotations stay always.
func (v *row) renew(now int64) error {
	r := v.record
	d, err := readDocument(v.doc)
	if err != nil {
		return err
	}
	if r.SourceURL != "" {
		d.SourceURL = r.SourceURL
	}
	if r.PostedAt != nil {
		d.PostedAt, v.postedAt = r.PostedAt, r.PostedAt
	}
	d.Source = stronger(d.Source, sourceOf(r.Source))
	if r.Metadata != nil {
		d.Metadata = object(r.Metadata)
	}
	if v.isBack() {
		d.Metadata, v.goneAt = withoutGone(d.Metadata, *v.goneAt), nil
	}
	v.finish(d)
	e, err := readEvidence(v.hook)
	if err != nil {
		return err
	}
	if e.take(r.Evidence) {
		v.setHook(e, now)
	}
	v.keys = packKeys(renewKeys(unpackKeys(v.keys), r, d.Metadata))
	return nil
}

// renewKeys replaces the keys that the record speaks of: those of its metadata
// where it has any, and those of stages where a stage gave some.
func renewKeys(old []stage.Key, r *stage.Record, metadata []byte) []stage.Key {
	if r.Metadata == nil {
		metadata = nil
	}
	keys := trendKeys(r, metadata)
	for _, key := range old {
		if fromMetadata(key) && r.Metadata == nil || !fromMetadata(key) && len(r.Keys) == 0 {
			keys = addKey(keys, key)
		}
	}
	return keys
}

func sourceOf(s *stage.Source) *source {
	if s == nil {
		return nil
	}
	made := &source{Kind: s.Kind}
	if !slices.Contains([]string{Own, Competitor}, made.Kind) {
		made.Kind = Niche
	}
	if s.Handle != "" {
		made.Handle = &s.Handle
	}
	if s.SeededBy != "" {
		made.SeededBy = &s.SeededBy
	}
	return made
}

// stronger keeps how a video was come by unless the new way is at least as
// close: a competitor's video stays one when a niche term finds it again.
func stronger(old, next *source) *source {
	if old == nil || next == nil {
		if next == nil {
			return old
		}
		return next
	}
	rank := []string{Niche, Competitor, Own}
	if slices.Index(rank, next.Kind) < slices.Index(rank, old.Kind) {
		next, old = old, next
	}
	if next.Handle == nil {
		next.Handle = old.Handle
	}
	if next.SeededBy == nil {
		next.SeededBy = old.SeededBy
	}
	return next
}

// take takes what evidence says and keeps the rest; it tells whether anything changed.
func (e *evidence) take(found *stage.Evidence) (changed bool) {
	if found == nil {
		return false
	}
	if visual := value(found.Visual); visual != nil && (visual[0] == '{' || visual[0] == '"') && !bytes.Equal(visual, e.Visual) {
		e.Visual, changed = visual, true
	}
	replace := func(old **string, next *string) {
		if next == nil || *next == "" {
			return
		}
		if text := strings.ToValidUTF8(*next, "\uFFFD"); *old == nil || **old != text {
			*old, changed = &text, true
		}
	}
	replace(&e.Spoken, found.Spoken)
	replace(&e.OnScreenText, found.OnScreenText)
	if changed {
		e.Version++
	}
	return changed
}

func (v *row) setHook(e *evidence, now int64) {
	text := e.render()
	v.hook, v.hookOrder = &text, seenOrder(now, v.id)
}

// observe takes the numbers of a known video's new observation, unless it is
// older than what is there.
func (v *row) observe(now int64) error {
	at := observedAt(v.record, now)
	if at >= v.observedAt {
		v.setMetrics(now)
	} else {
		f, err := readFacts(v.facts)
		if err != nil {
			return err
		}
		f.LastSeenAt = max(f.LastSeenAt, now)
		v.facts = f.render()
	}
	if v.usableAt == nil || at >= *v.usableAt {
		v.setUsable(now)
	}
	return nil
}

func (v *row) setMetrics(now int64) {
	m, at := v.record.Metrics, observedAt(v.record, now)
	v.observedAt = at
	f := facts{LastSeenAt: max(now, v.firstSeenAt), Metrics: metrics{m.Views, m.Likes, m.Comments, m.Shares, m.Saves, &at}}
	v.facts = f.render()
}

func (v *row) setUsable(now int64) {
	if m := v.record.Metrics; usable(m.Views, m.Likes) {
		at := observedAt(v.record, now)
		v.usableViews, v.usableAt = m.Views, &at
	}
}

// silent tells whether a record says nothing apart from its numbers.
func silent(r *stage.Record) bool {
	return r.SourceURL == "" && r.PostedAt == nil && r.CreatorID == "" && r.Source == nil && r.Metadata == nil && r.Evidence == nil && r.Keys == nil
}

// digestOf is a short form of all that a record says apart from its numbers.
func digestOf(r *stage.Record) int64 {
	h := fnv.New64a()
	var size [8]byte
	put := func(part string) {
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write([]byte(part))
	}
	put(r.SourceURL)
	if r.PostedAt != nil {
		put(strconv.FormatInt(*r.PostedAt, 10))
	}
	put(r.CreatorID)
	if r.Source != nil {
		put("source")
		put(r.Source.Kind)
		put(r.Source.Handle)
		put(r.Source.SeededBy)
	}
	put(string(r.Metadata))
	if e := r.Evidence; e != nil {
		put("evidence")
		put(string(e.Visual))
		for _, text := range []*string{e.Spoken, e.OnScreenText} {
			if text != nil {
				put(*text)
			}
			put("")
		}
	}
	for _, key := range r.Keys {
		put(key.Key)
		put(key.Label)
	}
	return int64(h.Sum64())
}
