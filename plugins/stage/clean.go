package stage

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scrollery/scrollery/plugins/stage/platforms"
)

// The bounds of what a stage may hand over.
const (
	MaxRecord     = 1 << 20 // bytes of a record on the wire
	MaxMetadata   = 256 << 10
	MaxKnown      = 832 << 10 // of a caption, hashtags, sound and duration, where these alone are more than MaxMetadata
	MaxVisual     = 64 << 10
	MaxText       = 64 << 10 // bytes of one text: a transcript, a sticker
	MaxLabel      = 1 << 10  // bytes of a handle, a seed, a reason
	MaxURL        = 4 << 10
	MaxKeys       = 100
	MaxCues       = 20_000
	MaxStickers   = 500
	MaxExternalID = 200 // characters
)

// The words of some fields.
func seedKinds() []string { return []string{"own", "competitor", "niche"} }
func semantics() []string { return []string{"exact", "rounded", "lagged", "paid_and_organic"} }
func parts() []string     { return []string{PartWorks, PartOpening, PartTrend, PartMake} }

// maxFileName is the most bytes of the name of a file.
const maxFileName = 255

// The times that are taken for real: 2000-01-01 to 2100-01-01.
const (
	minTime = 946_684_800_000
	maxTime = 4_102_444_800_000
)

// The refusals: without a usable name a record cannot be kept at all.
var (
	ErrPlatform   = errors.New("platform: want 1 to 40 of a-z, 0-9 and _")
	ErrExternalID = errors.New("externalId: want 1 to 200 characters of valid text")
)

// Repairs counts what was changed to make strangers' data fit to be kept.
type Repairs struct {
	// Text had invalid UTF-8 or NUL, or was cut at its bound.
	Text int
	// JSON was not what it should be, and is dropped.
	JSON int
	// Numbers, times or words were out of their range, and are dropped.
	Values int
	// Trimmed metadata was over its bound, and lost its largest members.
	Trimmed int
}

// Any reports whether something was changed.
func (r Repairs) Any() bool { return r != Repairs{} }

// Add sums up.
func (r *Repairs) Add(other Repairs) {
	r.Text += other.Text
	r.JSON += other.JSON
	r.Values += other.Values
	r.Trimmed += other.Trimmed
}

// Clean refuses a ref that names nothing. A platform in capitals is lowered; an
// id is taken as it is or not at all, since a repaired one names another video.
func (r *Ref) Clean() error {
	if !platform().MatchString(r.Platform) {
		lower := strings.ToLower(r.Platform)
		if !platform().MatchString(lower) {
			return ErrPlatform
		}
		r.Platform = lower
	}
	id := r.ExternalID
	if id == "" || !utf8.ValidString(id) || strings.IndexByte(id, 0) >= 0 || utf8.RuneCountInString(id) > MaxExternalID {
		return ErrExternalID
	}
	return nil
}

// Clean makes a record fit to be kept, or refuses it. What it repairs it counts.
// The host fills in Media and Unread.
func (r *Record) Clean() (Repairs, error) {
	var repairs Repairs
	r.Media, r.Unread = "", false
	if err := r.Ref.Clean(); err != nil {
		return repairs, err
	}
	repairs.url(&r.SourceURL)
	repairs.text(&r.CreatorID, MaxLabel)
	repairs.text(&r.Seed, MaxLabel)
	repairs.time(&r.PostedAt)
	if r.Source != nil {
		repairs.word(&r.Source.Kind, seedKinds()...)
		repairs.text(&r.Source.Handle, MaxLabel)
		repairs.text(&r.Source.SeededBy, MaxLabel)
	}
	repairs.metadata(r)
	metrics := &r.Metrics
	for _, count := range []**int64{&metrics.Views, &metrics.Likes, &metrics.Comments, &metrics.Shares, &metrics.Saves, &metrics.Followers} {
		repairs.count(count)
	}
	repairs.time(&metrics.ObservedAt)
	repairs.word(&metrics.Semantics, semantics()...)
	if r.Evidence != nil {
		repairs.evidence(r.Evidence)
	}
	repairs.cues(&r.Cues)
	repairs.stickers(&r.Stickers)
	repairs.keys(&r.Keys)
	return repairs, nil
}

// Clean makes a verdict fit to be kept, or refuses it.
func (v *Verdict) Clean() (Repairs, error) {
	var repairs Repairs
	if err := v.Ref.Clean(); err != nil {
		return repairs, err
	}
	repairs.text(&v.DroppedBy, MaxLabel)
	repairs.text(&v.RuleID, MaxLabel)
	repairs.text(&v.Reason, MaxLabel)
	if math.IsNaN(v.Rank) || math.IsInf(v.Rank, 0) {
		v.Rank = 0
		repairs.Values++
	}
	return repairs, nil
}

// Clean makes a finding fit to be kept, or refuses it; for its frames with [ErrFrames].
func (f *Finding) Clean() (Repairs, error) {
	var repairs Repairs
	if err := f.Ref.Clean(); err != nil {
		return repairs, err
	}
	repairs.evidence(&f.Evidence)
	repairs.keys(&f.Keys)
	return repairs, checkFrames(f.Frames)
}

// ErrSeed is the refusal of a seed that names nothing.
var ErrSeed = errors.New("seed: want a kind and either a handle or a term of 1 to 200 characters")

// maxSeed is the most characters of a handle or a term.
const maxSeed = 200

// Clean makes a seed fit to be asked for, or refuses it.
func (s *Seed) Clean() (Repairs, error) {
	var repairs Repairs
	repairs.word(&s.Kind, seedKinds()...)
	repairs.text(&s.Handle, MaxLabel)
	repairs.text(&s.Term, MaxLabel)
	s.Handle, s.Term = strings.TrimSpace(s.Handle), strings.TrimSpace(s.Term)
	text := s.Text()
	switch {
	case s.Kind == "", text == "", s.Handle != "" && s.Term != "", utf8.RuneCountInString(text) > maxSeed,
		strings.ContainsFunc(text, unicode.IsControl):
		return repairs, ErrSeed
	case s.Platform != "" && !platform().MatchString(s.Platform):
		return repairs, ErrPlatform
	}
	s.Limit = max(s.Limit, 0)
	return repairs, nil
}

const (
	// MaxSentence is the most characters of a sentence of a brief.
	MaxSentence = 500
	// MaxCites is the most facts that one sentence may rest on.
	MaxCites = 50
)

// TurnsText reports a character that changes the direction of the text after it, so that a
// reader sees other words than those that are there.
func TurnsText(r rune) bool { return r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' }

// ErrSentence is the refusal of a sentence that says nothing, or rests on nothing.
var ErrSentence = fmt.Errorf("sentence: want a part, 1 to %d characters without those that control or turn text, and 1 to %d citations", MaxSentence, MaxCites)

// Clean makes a sentence fit to be shown, or refuses it. The host compares its citations
// with the facts.
func (s *Sentence) Clean() (Repairs, error) {
	var repairs Repairs
	repairs.word(&s.Part, parts()...)
	repairs.text(&s.Text, 4*MaxSentence)
	s.Text = strings.TrimSpace(s.Text)
	if s.Part == "" || s.Text == "" || utf8.RuneCountInString(s.Text) > MaxSentence || strings.ContainsFunc(s.Text, func(r rune) bool { return unicode.IsControl(r) || TurnsText(r) }) ||
		len(s.Cites) == 0 || len(s.Cites) > MaxCites {
		return repairs, ErrSentence
	}
	return repairs, nil
}

// Clean makes an outcome fit to be kept; an unknown status becomes partial.
func (o *Outcome) Clean() Repairs {
	var repairs Repairs
	repairs.text(&o.Seed, MaxLabel)
	repairs.text(&o.Detail, MaxLabel)
	repairs.text(&o.Platform, 40)
	if !slices.Contains(Statuses(), string(o.Status)) {
		o.Status = Partial
		repairs.Values++
	}
	o.Asked, o.Returned = max(o.Asked, 0), max(o.Returned, 0)
	repairs.time(&o.RetryAt)
	if o.Cost != nil && *o.Cost < 0 {
		o.Cost = nil
		repairs.Values++
	}
	return repairs
}

// PostedByID reads the time of publication out of an id, in Unix milliseconds. It returns nil
// where the ids of the platform have none.
func PostedByID(ref Ref) *int64 {
	if at := platforms.PostedAt(ref.Platform, ref.ExternalID); at != 0 {
		return &at
	}
	return nil
}
