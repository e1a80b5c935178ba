package videos

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Video is a video of the library as it is loaded, changed and saved. Its tagged
// fields are the members of the API's Video, in the order of the JSON text. What
// sources wrote is untrusted and kept byte for byte. Times are Unix milliseconds.
type Video struct {
	ID string `json:"id"`
	stage.Ref
	SourceURL   string  `json:"sourceUrl"`
	PostedAt    *int64  `json:"postedAt"`
	FirstSeenAt int64   `json:"firstSeenAt"`
	Origin      *Origin `json:"source"`
	// Annotations belong to the caller; no scroll changes them.
	Annotations jsontext.Value `json:"agentMetadata"`
	// Metadata is an object.
	Metadata   jsontext.Value `json:"metadata"`
	LastSeenAt int64          `json:"lastSeenAt"`
	// Metrics are the newest numbers.
	Metrics Metrics `json:"metrics"`

	// Hook has version 0 while there is no evidence.
	Hook Hook        `json:"-"`
	Keys []stage.Key `json:"-"`

	id          int64
	isNew       bool
	scrollID    int64 // of the scroll that brought it first
	identity    identity
	usableViews *int64
	usableLikes *int64
	usableAt    *int64
	goneAt      *int64
	duration    *int64 // milliseconds
	growthKind  score.Kind
	doubtful    bool // when it was scored last
	// hookChangedAt is when the evidence last changed; 0 without evidence.
	hookChangedAt int64
	hookOrder     []byte
	opening       string
	digest        int64 // of the last record, as its source gave it; see digestOf
	// known is what facts read of Metadata; nil if it has not.
	known *facts
	// before is what scoring knew of the video when it was loaded.
	before loadedState
	// hasNewReading: the reading that scoring uses changed.
	hasNewReading bool
	// hasNewWords: what a search reads changed.
	hasNewWords bool
	// seen is true when the scroll has an observation of the video already.
	seen bool
	// readings are the observations that this batch adds.
	readings []reading
	// followers are the creator's, as this batch read them last; nil if it did not.
	followers *followers
}

// Origin is how a video was found.
type Origin struct {
	Kind     string  `json:"kind"`
	Handle   *string `json:"handle,omitzero"`
	SeededBy *string `json:"seededBy,omitzero"`
}

// Metrics is one snapshot of a video's counts; null if the source gave none.
type Metrics struct {
	Views      *int64 `json:"views"`
	Likes      *int64 `json:"likes"`
	Comments   *int64 `json:"comments"`
	Shares     *int64 `json:"shares"`
	Saves      *int64 `json:"saves"`
	ObservedAt *int64 `json:"observedAt"`
}

// reading is a snapshot as an observation keeps it.
type reading struct {
	Metrics
	semantics, source string
}

// followers are how many a creator had at a time.
type followers struct{ count, at int64 }

// Hook is what the first seconds show, say and print.
type Hook struct {
	Visual       jsontext.Value `json:"visual"`
	Spoken       *string        `json:"spoken"`
	OnScreenText *string        `json:"onScreenText"`
	// Version counts the changes of the evidence.
	Version int `json:"version"`
	// Text is what is spoken in one sentence; nil if nothing is. The contract has no such member.
	Text *string `json:"-"`
	// Language is that of the speech, as en; nil if unknown. The contract has no such member.
	Language *string `json:"-"`

	// known is what opening found; nil if it has not.
	known *string
}

// newVideo returns a video that the library does not have yet.
func newVideo(id int64, r *stage.Record, batch Batch) *Video {
	v := &Video{
		ID: publicid.Format(publicid.Video, id), Ref: r.Ref, FirstSeenAt: batch.At, Metadata: jsontext.Value("{}"),
		id: id, isNew: true, hasNewWords: true, scrollID: batch.ScrollID,
	}
	v.derive(&facts{}) // a record of numbers alone has nothing to merge
	v.Merge(r, batch.said(r), batch.At)
	v.Observe(r, &batch)
	if v.SourceURL == "" {
		v.SourceURL = sourceURL(v.Ref, v.Origin, v.facts().known(v.Platform, "", nil).Format)
	}
	return v
}

// Kind is the kind of the origin; empty without an origin.
func (v *Video) Kind() string {
	if v.Origin == nil {
		return ""
	}
	return v.Origin.Kind
}

// Merge updates everything but the numbers from a record; what the record leaves
// out stays. said is the record as its source gave it: r, where no stage has added to it.
// Merge returns false for a record that repeats the last one or carries numbers alone.
func (v *Video) Merge(r, said *stage.Record, at int64) bool {
	digest := digestOf(said)
	if digest == v.digest && said == r || numbersOnly(r) {
		return false
	}
	v.digest, v.hasNewWords = digest, true
	merged := mergeDescriptions(v.Platform, v.description(), descriptionOf(r))
	v.SourceURL, v.PostedAt, v.Metadata, v.known = merged.address, merged.postedAt, merged.metadata, nil
	if v.identity.merge(r); r.Source != nil {
		v.Origin = closer(v.Origin, originOf(r.Source))
	}
	spoken := v.Hook.Spoken
	if v.Hook.merge(r.Evidence) {
		if v.Hook.Spoken != spoken {
			v.Hook.summarise(r.Cues)
		}
		v.hookChangedAt, v.opening = at, v.Hook.opening()
		v.hookOrder = hookOrder(false, at, v.id)
	}
	known := v.facts()
	v.derive(known)
	v.mergeKeys(r, known)
	return true
}

// facts reads the metadata once. They must not be changed.
func (v *Video) facts() *facts {
	if v.known == nil {
		known := FactsOf(v.Metadata)
		v.known = &known
	}
	return v.known
}

// derive works out what scoring needs besides the numbers.
func (v *Video) derive(known *facts) {
	if v.duration = nil; known.Duration > 0 {
		v.duration = &known.Duration
	}
	v.growthKind = known.known(v.Platform, v.SourceURL, v.PostedAt).Kind(v.Platform, known.Hashtags)
}

// risingOrder is the column of that name.
func (v *Video) risingOrder(growth *score.Table) any {
	if v.usableViews == nil {
		return nil
	}
	r := score.Reading{ID: v.id, Kind: v.growthKind, PostedAt: v.posted(), ObservedAt: *v.usableAt, Views: *v.usableViews, Likes: Count(v.usableLikes)}
	return Nullable(growth.RisingKey(&r, v.doubtful))
}

// postedWeek is the column of that name.
func (v *Video) postedWeek() int64 {
	if v.PostedAt == nil {
		return 0
	}
	return score.WeekOf(*v.PostedAt)
}

// posted is the posting time as scoring knows it.
func (v *Video) posted() int64 {
	if v.PostedAt == nil {
		return score.Undated
	}
	return *v.PostedAt
}

// Observe adds the numbers of a record of the batch as an observation. They become the video's
// own unless it has newer ones. A video that was gone is back.
func (v *Video) Observe(r *stage.Record, batch *Batch) {
	m, at := r.Metrics, batch.At
	read := at
	if m.ObservedAt != nil {
		read = *m.ObservedAt
	}
	one := Metrics{m.Views, m.Likes, m.Comments, m.Shares, m.Saves, &read}
	v.readings = append(v.readings, reading{one, m.Semantics, batch.source(r)})
	if m.Followers != nil && (v.followers == nil || read >= v.followers.at) {
		v.followers = &followers{*m.Followers, read}
	}
	if v.Metrics.ObservedAt == nil || read >= *v.Metrics.ObservedAt {
		v.Metrics, v.LastSeenAt = one, max(at, v.FirstSeenAt)
	} else {
		v.LastSeenAt = max(v.LastSeenAt, at)
	}
	if usable(m.Views, m.Likes) && (v.usableAt == nil || read >= *v.usableAt) {
		v.usableViews, v.usableLikes, v.usableAt, v.hasNewReading = m.Views, m.Likes, &read, true
	}
	v.restore()
}

// see notes that a scroll met the video without a reading of its numbers.
func (v *Video) see(at int64) {
	v.LastSeenAt = max(v.LastSeenAt, at)
	v.restore()
}

// usable reports whether scoring can use a snapshot.
func usable(views, likes *int64) bool { return score.Usable(Count(views), Count(likes)) == score.Used }

// Count is a count as scoring knows it.
func Count(n *int64) int64 {
	if n == nil {
		return score.Unknown
	}
	return *n
}

// mergeKeys replaces the keys that follow from metadata and evidence, and those of stages
// where a stage gave some.
func (v *Video) mergeKeys(r *stage.Record, known *facts) {
	keys := known.TrendKeys(v.Platform)
	given := r.Keys
	if len(given) == 0 {
		given = v.Keys
	}
	for _, key := range given {
		if key.Label == "" {
			key.Label = key.Key
		}
		if r.Keys != nil && fromMetadata(key) || !fromMetadata(key) && !fromHook(key) {
			keys = addKey(keys, key)
		}
	}
	for _, key := range v.Hook.keys() {
		keys = addKey(keys, key)
	}
	v.Keys = keys
}

func originOf(s *stage.Source) *Origin {
	made := &Origin{Kind: s.Kind}
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

// closer returns the origin that is closer to the tenant, the next one where both
// are as close, with what only the other has: a competitor's video stays one when
// a niche term finds it again.
func closer(old, next *Origin) *Origin {
	if old == nil {
		return next
	}
	handle := old.Handle
	if handle == nil {
		handle = next.Handle
	} else if next.Handle != nil {
		better := betterHandle(*handle, *next.Handle)
		handle = &better
	}
	rank := []string{Niche, Competitor, Own}
	if slices.Index(rank, next.Kind) < slices.Index(rank, old.Kind) {
		next, old = old, next
	}
	next.Handle = handle
	if next.SeededBy == nil {
		next.SeededBy = old.SeededBy
	}
	return next
}

// merge takes over the parts that were found and keeps the rest. It reports
// whether anything changed.
func (h *Hook) merge(found *stage.Evidence) (changed bool) {
	if found == nil {
		return false
	}
	said := h.Spoken
	if visual := value(found.Visual); visual != nil && (visual[0] == '{' || visual[0] == '"') && !bytes.Equal(visual, h.Visual) {
		h.Visual, changed = visual, true
	}
	replace := func(old **string, next *string, cut func(string) string) {
		if next == nil || *next == "" {
			return
		}
		if text := cut(strings.ToValidUTF8(*next, "\uFFFD")); *old == nil || **old != text {
			*old, changed = &text, true
		}
	}
	replace(&h.Spoken, found.Spoken, score.CutSpoken)
	replace(&h.OnScreenText, found.OnScreenText, func(text string) string { return text })
	if changed {
		h.Version++
		h.known = nil
	}
	h.speak(found, said)
	return changed
}

// speak takes over the language of what is spoken, which is no evidence by itself and makes
// no other version. said is what was known to be spoken before; of other words the language
// is unknown until it is given.
func (h *Hook) speak(found *stage.Evidence, said *string) {
	language := stage.LanguageOf(found.Language)
	switch {
	case h.Version == 0:
	case language != "":
		h.Language = &language
	case said != h.Spoken:
		h.Language = nil
	}
}

// summarise works out the text of the hook. cues are empty if the record has none.
func (h *Hook) summarise(cues []stage.Cue) {
	if h.Spoken == nil {
		return
	}
	timed := make([]score.Cue, len(cues))
	for i, c := range cues {
		timed[i] = score.Cue{Start: c.Start, End: c.End, Text: c.Text}
	}
	if text := clean(score.HookText(*h.Spoken, timed)); text != "" {
		h.Text = &text
	}
}

// goneMember is the member of a Video's metadata that holds the time, in Unix
// milliseconds, since when the platform is known to have removed the video.
const goneMember = "goneAt"

// markGone adds the member, unless the platform's own metadata has one of that name.
func (v *Video) markGone(at int64) {
	v.goneAt = &at
	if _, taken := memberOf(v.Metadata, goneMember); !taken {
		v.Metadata = withMember(v.Metadata, goneMember, jsontext.Value(strconv.FormatInt(at, 10)))
	}
}

// restore removes what markGone added.
func (v *Video) restore() {
	if v.goneAt == nil {
		return
	}
	if at, _ := memberOf(v.Metadata, goneMember); string(at) == strconv.FormatInt(*v.goneAt, 10) {
		v.Metadata = withMember(v.Metadata, goneMember, nil)
	}
	v.goneAt = nil
}
