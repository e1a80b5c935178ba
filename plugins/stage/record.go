package stage

import "encoding/json"

// Ref names a video on its platform.
type Ref struct {
	// Platform in lower case: `tiktok`, `youtube`, `instagram`.
	Platform string `json:"platform"`
	// ExternalID is the platform's own id of the video, unchanged.
	ExternalID string `json:"externalId"`
}

// Record is one video as a source saw it. A value that the platform did not give is nil
// or empty, never 0. All text was written by third parties: it is data, never an address
// to fetch, a template or an instruction. The host checks each record and repairs or
// refuses what does not fit, see [Record.Clean].
type Record struct {
	Ref
	// SourceURL is the http or https address of the video's page; empty if unknown.
	SourceURL string `json:"sourceUrl,omitempty"`
	// PostedAt is the time of publication in Unix milliseconds.
	PostedAt *int64 `json:"postedAt,omitempty"`
	// CreatorID is the platform's stable id of the creator, if it gives one; a name that
	// the creator can change belongs in Metadata.
	CreatorID string `json:"creatorId,omitempty"`
	// Source says how the source found the video; nil leaves it to the host, which knows
	// the seed.
	Source *Source `json:"source,omitempty"`
	// Metadata is a JSON object, such as caption, hashtags and durationSeconds. It is
	// archived byte for byte up to MaxMetadata; a larger one loses its largest members, but
	// caption, hashtags, sound and duration are kept up to MaxKnown. Nil is {}.
	Metadata json.RawMessage `json:"metadata,omitempty"`
	// Metrics are the counts at one time.
	Metrics Metrics `json:"metrics"`
	// Evidence is set if the source itself knows what the first seconds hold.
	Evidence *Evidence `json:"evidence,omitempty"`
	// Cues and Stickers are input of evidence stages; they are not archived.
	Cues     []Cue     `json:"cues,omitempty"`
	Stickers []Sticker `json:"stickers,omitempty"`
	// Keys are trend keys beyond hashtags and sound, which the host derives itself.
	Keys []Key `json:"keys,omitempty"`
	// Seed is the text of the seed that led to the video, as in Outcome.Seed.
	Seed string `json:"seed,omitempty"`
	// Trimmed: a part of the metadata was left out to keep its bound. [Record.Clean] sets
	// it; a source sets it where it leaves out a part itself.
	Trimmed bool `json:"trimmed,omitempty"`
	// Unread: the reading was refused, and Metrics is empty. The host sets it; a source
	// leaves it false.
	Unread bool `json:"unread,omitempty"`
	// Media is the path of a file with the video or its beginning. Only an evidence stage
	// with Spec.NeedsMedia gets it; a source leaves it empty.
	Media string `json:"-"`
}

// File is the media of one video, fetched by a source.
type File struct {
	Ref
	// Name of a plain file in Call.Scratch, without any folder.
	Name string `json:"name"`
}

// Source is the origin of a video.
type Source struct {
	// Kind is `own`, `competitor` or `niche`; empty leaves the choice to the scroll.
	Kind string `json:"kind,omitempty"`
	// Handle is the creator's handle; a leading @ is ignored.
	Handle string `json:"handle,omitempty"`
	// SeededBy is what led to the video, such as a search term.
	SeededBy string `json:"seededBy,omitempty"`
}

// Metrics is one snapshot of a video's counts. Each count is 0 or more; nil is unknown.
type Metrics struct {
	Views    *int64 `json:"views,omitempty"`
	Likes    *int64 `json:"likes,omitempty"`
	Comments *int64 `json:"comments,omitempty"`
	Shares   *int64 `json:"shares,omitempty"`
	Saves    *int64 `json:"saves,omitempty"`
	// ObservedAt is the time of the snapshot in Unix milliseconds; nil is now.
	ObservedAt *int64 `json:"observedAt,omitempty"`
	// Semantics says how exact the counts are: `exact`, `rounded`, `lagged`,
	// `paid_and_organic`; empty if unknown.
	Semantics string `json:"semantics,omitempty"`
	// Followers is how many the creator has at the time of the snapshot. The library
	// stores the newest number with the creator.
	Followers *int64 `json:"followers,omitempty"`
}

// Evidence is the content of a video's first seconds. A nil part is unknown; an empty text
// says that there is none.
type Evidence struct {
	// Visual describes the picture, as a JSON string or object.
	Visual json.RawMessage `json:"visual,omitempty"`
	// Spoken is the words that are said.
	Spoken *string `json:"spoken,omitempty"`
	// OnScreenText is the words that are written in the picture.
	OnScreenText *string `json:"onScreenText,omitempty"`
	// Language is that of the speech, as the first part of a BCP 47 tag: `en`. Empty if
	// unknown; never the language of a page or an account. [LanguageOf] reads longer forms.
	Language string `json:"language,omitempty"`
}

// Cue is one cue of a caption track.
type Cue struct {
	// Start and End are milliseconds from the start of the video.
	Start int64 `json:"start"`
	End   int64 `json:"end"`
	// Text without markup.
	Text string `json:"text"`
}

// Sticker is a text that the platform itself prints over the video.
type Sticker struct {
	Text string `json:"text"`
	// Start is milliseconds from the start of the video; 0 if unknown.
	Start int64 `json:"start,omitempty"`
}

// Key is a trend that the video belongs to.
type Key struct {
	// Key is the form that videos are compared by, such as `hook:question`.
	Key string `json:"key"`
	// Label is the form that people read.
	Label string `json:"label"`
}
