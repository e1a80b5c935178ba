package stage

// Status is the result of one seed on one platform.
type Status string

// The statuses, as coverage shows them.
const (
	// OK found as many videos as were asked for, or all that there are.
	OK Status = "ok"
	// Partial found some; an error, a limit or the end of the time kept it from the rest.
	Partial Status = "partial"
	// Empty asked without an error and found nothing.
	Empty Status = "empty"
	// Blocked was refused by the site.
	Blocked Status = "blocked"
	// Quota needs more units of an allowance than are left.
	Quota Status = "quota"
	// NotFound names a creator or video that the platform does not have.
	NotFound Status = "not_found"
	// Unsupported is a seed that this source cannot search for.
	Unsupported Status = "unsupported"
	// Changed got an answer that the source cannot read any more.
	Changed Status = "changed"
	// Misconfigured lacks a setting or secret, or has a wrong one.
	Misconfigured Status = "misconfigured"
)

// Statuses are all of them, as they are written.
func Statuses() []string {
	var all []string
	for _, status := range []Status{OK, Partial, Empty, Blocked, Quota, NotFound, Unsupported, Changed, Misconfigured} {
		all = append(all, string(status))
	}
	return all
}

// Outcome is a source's report on one seed on one platform. Every seed needs one.
type Outcome struct {
	// Seed is the handle or term, as [Seed.Text] returns it. After Refresh it may be the
	// external id of one video.
	Seed string `json:"seed"`
	// Platform in lower case.
	Platform string `json:"platform"`
	Status   Status `json:"status"`
	// Asked is the number of videos that the source tried to get, Returned the number
	// that it emitted.
	Asked    int `json:"asked"`
	Returned int `json:"returned"`
	// RetryAt is when another try makes sense, in Unix milliseconds; nil if unknown.
	RetryAt *int64 `json:"retryAt,omitempty"`
	// Detail explains the status to the operator, in the log. It holds no secret.
	Detail string `json:"detail,omitempty"`
	// Cost is what it cost, in millionths of a US dollar, for a stage with a [Price]; nil means
	// what the price makes of Returned.
	Cost *int64 `json:"cost,omitempty"`
}

// Verdict is the decision of a screen on one record.
type Verdict struct {
	Ref
	// DroppedBy is the text of the rule item that dropped the record, or `prompt`; empty
	// keeps the record.
	DroppedBy string `json:"droppedBy,omitempty"`
	// RuleID is the id of that item; empty for the prompt, or if unknown.
	RuleID string `json:"ruleId,omitempty"`
	// Rank orders the kept records, highest first.
	Rank float64 `json:"rank"`
	// Reason explains the decision to a person.
	Reason string `json:"reason,omitempty"`
}

// Finding is what an evidence stage found in one video. A nil part leaves what is known
// already.
type Finding struct {
	Ref
	Evidence Evidence `json:"evidence"`
	// Keys are added to those of the record.
	Keys []Key `json:"keys,omitempty"`
	// Frames are what the stage looked at, in the order of their moments, if Run.Frames says
	// that they are kept: at most MaxFrames, of MaxFrameBytes together. Others end the call.
	Frames []Frame `json:"frames,omitempty"`
}

// Summary is the report of a screen on a whole ruleset.
type Summary struct {
	// Unclear are the ids of rule items that the screen could not turn into a check.
	Unclear []string `json:"unclear,omitempty"`
	// Notes tell the account how the records were judged: at most 20 short sentences.
	Notes []string `json:"notes,omitempty"`
	// Readings are the rules that checks were made of, in their order: at most 1,000.
	Readings []Reading `json:"readings,omitempty"`
}

// Reading is how a screen reads one rule.
type Reading struct {
	Rule string `json:"rule"`
	// Text has the checks in words.
	Text string `json:"text"`
}

// Fact is one entry of a tenant's library that a brief may rest on. Its texts are
// creators' words: data, never an instruction.
type Fact struct {
	// ID is what a sentence cites: the id of a video, or the key of a trend. A video that
	// is an outlier and has a hook is two facts of one id.
	ID string `json:"id"`
	// Kind is outlier, hook or trend.
	Kind string `json:"kind"`
	// Platform to DurationSeconds are of a video. 0 seconds are not known.
	Platform        string  `json:"platform,omitempty"`
	Handle          string  `json:"handle,omitempty"`
	Caption         string  `json:"caption,omitempty"`
	DurationSeconds float64 `json:"durationSeconds,omitempty"`
	// Views of an outlier, 0 if unknown, BaselineViews that are usual, Score, which is the
	// one divided by the other, and Samples, the videos that the usual ones are computed from.
	Views         float64 `json:"views,omitempty"`
	BaselineViews float64 `json:"baselineViews,omitempty"`
	Score         float64 `json:"score,omitempty"`
	Samples       int     `json:"samples,omitempty"`
	// Spoken, OnScreenText and Visual are a hook's.
	Spoken       string `json:"spoken,omitempty"`
	OnScreenText string `json:"onScreenText,omitempty"`
	Visual       string `json:"visual,omitempty"`
	// Label of a trend for people, Videos that have it, Growth, the median of last views
	// divided by first views, and the ids of Examples.
	Label    string   `json:"label,omitempty"`
	Videos   int      `json:"videos,omitempty"`
	Growth   float64  `json:"growth,omitempty"`
	Examples []string `json:"examples,omitempty"`
}

// The parts of a brief.
const (
	// PartWorks is what does well, PartOpening how such videos begin, PartTrend what
	// grows, PartMake what to make.
	PartWorks   = "works"
	PartOpening = "opening"
	PartTrend   = "trend"
	PartMake    = "make"
)

// Sentence is one of a brief.
type Sentence struct {
	// Part is one of the constants.
	Part string `json:"part"`
	// Text has 1 to [MaxSentence] characters.
	Text string `json:"text"`
	// Cites are 1 to [MaxCites] ids of facts, or of the examples of a trend.
	Cites []string `json:"cites"`
}
