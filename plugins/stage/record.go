// Package record holds what travels between the stages of a scroll.
//
// A record is one video as a source saw it. All of its text was written by
// strangers: it is data, never an address to fetch, a template or an instruction.
package stage

import (
	"encoding/json"
	"strings"
)

// Ref names a video on its platform.
type Ref struct {
	// Platform in lower case: `tiktok`, `youtube`, `instagram`.
	Platform string `json:"platform"`
	// ExternalID as the platform gives it.
	ExternalID string `json:"externalId"`
}

// Record is one video as a source saw it. Absent is null, never zero.
type Record struct {
	Ref
	// SourceURL is the video's page; empty where unknown.
	SourceURL string `json:"sourceUrl,omitempty"`
	// PostedAt in Unix milliseconds.
	PostedAt *int64 `json:"postedAt,omitempty"`
	// CreatorID is the platform's stable id of the creator, where it gives one.
	CreatorID string  `json:"creatorId,omitempty"`
	Source    *Source `json:"source,omitempty"`
	// Metadata is a JSON object, kept byte for byte; nil stands for {}.
	Metadata json.RawMessage `json:"metadata,omitempty"`
	Metrics  Metrics         `json:"metrics"`
	// Evidence that the source itself already has.
	Evidence *Evidence `json:"evidence,omitempty"`
	// Cues and Stickers are what evidence stages read; they are not archived.
	Cues     []Cue     `json:"cues,omitempty"`
	Stickers []Sticker `json:"stickers,omitempty"`
	// Keys are trend keys beyond hashtags and sound.
	Keys []Key `json:"keys,omitempty"`
	// Seed is the seed that led to it, as in Outcome.Seed.
	Seed string `json:"seed,omitempty"`
	// Media is the file that holds the video or its beginning, where an evidence
	// stage asked for it. A source leaves it empty.
	Media string `json:"-"`
}

// File is a video's media, fetched.
type File struct {
	Ref
	// Name within the scratch folder of the call.
	Name string
}

// Source is how a video was come by.
type Source struct {
	// Kind is `own`, `competitor` or `niche`; empty leaves the choice to the scroll.
	Kind     string `json:"kind,omitempty"`
	Handle   string `json:"handle,omitempty"`
	SeededBy string `json:"seededBy,omitempty"`
}

// Metrics is one snapshot of a video's counts.
type Metrics struct {
	Views    *int64 `json:"views,omitempty"`
	Likes    *int64 `json:"likes,omitempty"`
	Comments *int64 `json:"comments,omitempty"`
	Shares   *int64 `json:"shares,omitempty"`
	Saves    *int64 `json:"saves,omitempty"`
	// ObservedAt in Unix milliseconds; null stands for now.
	ObservedAt *int64 `json:"observedAt,omitempty"`
	// Semantics says how exact the counts are: `exact`, `rounded`, `lagged`,
	// `paid_and_organic`; empty where the source does not say.
	Semantics string `json:"semantics,omitempty"`
}

// Evidence is what the first seconds show, say and print.
type Evidence struct {
	// Visual is a JSON string or object.
	Visual       json.RawMessage `json:"visual,omitempty"`
	Spoken       *string         `json:"spoken,omitempty"`
	OnScreenText *string         `json:"onScreenText,omitempty"`
}

// Cue is one caption cue; times in milliseconds from the start of the video.
type Cue struct {
	Start int64  `json:"start"`
	End   int64  `json:"end"`
	Text  string `json:"text"`
}

// Sticker is a text that the platform itself prints over the video.
type Sticker struct {
	Text string `json:"text"`
	// Start in milliseconds; 0 where the platform does not say.
	Start int64 `json:"start,omitempty"`
}

// Key is a trend key with its display form.
type Key struct {
	Key   string `json:"key"`
	Label string `json:"label"`
}

// Seed is where a source starts to look: a handle or a term on one platform.
type Seed struct {
	// Kind is `own`, `competitor` or `niche`.
	Kind string `json:"kind"`
	// Platform is empty for a seed that any source may try.
	Platform string `json:"platform,omitempty"`
	// Exactly one of the two is set.
	Handle string `json:"handle,omitempty"`
	Term   string `json:"term,omitempty"`
	// Limit is how many videos are asked for; 0 leaves it to the source.
	Limit int `json:"limit,omitempty"`
}

// Same tells whether two seeds look in the same place.
func (s Seed) Same(other Seed) bool {
	return s.Platform == other.Platform && strings.EqualFold(s.Text(), other.Text()) && (s.Handle == "") == (other.Handle == "")
}

// Text is the seed as coverage shows it.
func (s Seed) Text() string {
	if s.Handle != "" {
		return s.Handle
	}
	return s.Term
}

// Run is what a stage may know of the scroll that it works for.
type Run struct {
	ScrollID string `json:"scrollId"`
	// Number counts the workspace's runs from 1: its completed scrolls plus one.
	Number int   `json:"number"`
	Brief  Brief `json:"brief"`
	// Rules are the active items of the ruleset in force.
	Rules []Rule `json:"rules,omitempty"`
	// Prompt steers this scroll only.
	Prompt string `json:"prompt,omitempty"`
	// Pages are what the tenant's own website and app say of themselves, where the
	// planner could read them.
	Pages []Page `json:"pages,omitempty"`
	// Settings are what the run's template sets for stages, by stage, then by name.
	// They are for the host: a stage gets its own among its settings.
	Settings map[string]map[string]string `json:"-"`
	// Now is the time of the run in Unix milliseconds.
	Now int64 `json:"now"`
}

// Page holds the words of a page on the web.
type Page struct {
	URL string `json:"url"`
	// Title has at most 200 characters, Text at most 4,000.
	Title string `json:"title,omitempty"`
	Text  string `json:"text,omitempty"`
}

// Brief is the part of the workspace that stages see.
type Brief struct {
	Name        string   `json:"name,omitempty"`
	Description string   `json:"description,omitempty"`
	Website     string   `json:"website,omitempty"`
	AppStoreURL string   `json:"appStoreUrl,omitempty"`
	Competitors []string `json:"competitors,omitempty"`
}

// Rule is one item of a ruleset.
type Rule struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// Status says how a seed fared.
type Status string

// The statuses, as coverage shows them.
const (
	OK            Status = "ok"
	Partial       Status = "partial"
	Empty         Status = "empty"
	Blocked       Status = "blocked"
	Quota         Status = "quota"
	NotFound      Status = "not_found"
	Unsupported   Status = "unsupported"
	Changed       Status = "changed"
	Misconfigured Status = "misconfigured"
)

// Outcome is a source's account of one seed on one platform.
type Outcome struct {
	Seed     string `json:"seed"`
	Platform string `json:"platform"`
	Status   Status `json:"status"`
	Asked    int    `json:"asked"`
	Returned int    `json:"returned"`
	// RetryAt in Unix milliseconds, where known.
	RetryAt *int64 `json:"retryAt,omitempty"`
	// Detail is for the log.
	Detail string `json:"detail,omitempty"`
}

// Verdict is a screen's word on one record.
type Verdict struct {
	Ref
	// DroppedBy is the rule item (or `prompt`) that dropped it; empty keeps it.
	DroppedBy string `json:"droppedBy,omitempty"`
	// RuleID is the id of that item; empty for the prompt, and where unknown.
	RuleID string `json:"ruleId,omitempty"`
	// Rank orders what is kept, highest first.
	Rank float64 `json:"rank"`
	// Reason explains both for a person.
	Reason string `json:"reason,omitempty"`
}

// Finding is what an evidence stage found out about one record. Nil parts erase nothing.
type Finding struct {
	Ref
	Evidence Evidence `json:"evidence"`
	Keys     []Key    `json:"keys,omitempty"`
}

// Summary is a screen's account of the whole ruleset.
type Summary struct {
	// Unclear are the rule items that no check could be made of.
	Unclear []string `json:"unclear,omitempty"`
	// Notes are what the tenant should know of how the records were judged.
	Notes []string `json:"notes,omitempty"`
}

// Failure is why a scroll failed, as `failureCode` shows it.
type Failure string

// The failures of stages and sources.
const (
	NoSources          Failure = "no_sources"
	SourceUnavailable  Failure = "source_unavailable"
	SourceQuota        Failure = "source_quota_exceeded"
	SourceUnauthorized Failure = "source_unauthorized"
	StageCrashed       Failure = "stage_crashed"
	StageTimeout       Failure = "stage_timeout"
	StageProtocol      Failure = "stage_protocol_error"
)

// CallError is a stage that could not do its work.
type CallError struct {
	Stage   string
	Failure Failure
	// Retry tells whether another attempt can help.
	Retry bool
	// RetryAt in Unix milliseconds, where known.
	RetryAt *int64
	// Setup tells that a setting, a secret or a program of the stage is missing or
	// makes no sense. There is no failure of that name; coverage has a word for it.
	Setup bool
	Cause error
}

func (e *CallError) Error() string {
	text := "stage " + e.Stage + ": " + string(e.Failure)
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

func (e *CallError) Unwrap() error { return e.Cause }
