package rules

import (
	"slices"
	"strings"
	"time"

	"github.com/scrollery/scrollery/plugins/internal/facts"
	"github.com/scrollery/scrollery/plugins/internal/words"
)

// Field is what a condition looks at.
type Field string

// The fields. Text is the caption, title, hashtags and what is said and printed.
const (
	Text     Field = "text"
	Hashtag  Field = "hashtag"
	Platform Field = "platform"
	Language Field = "language"
	Creator  Field = "creator"
	Kind     Field = "kind"
	Sound    Field = "sound"
	// Question is a hook that asks one.
	Question Field = "question"

	Views      Field = "views"
	Likes      Field = "likes"
	Comments   Field = "comments"
	Shares     Field = "shares"
	Saves      Field = "saves"
	Followers  Field = "followers"
	Words      Field = "words"
	Characters Field = "characters"
	Engagement Field = "engagement"
	LikeRate   Field = "like rate"
	Duration   Field = "duration"
	Age        Field = "age"
	Posted     Field = "posted"
)

// Condition is one thing that can be looked up in a record.
type Condition struct {
	Field Field
	// Values are of fields with words: one of them is enough, or All are needed.
	// A value of Text that starts with # is a hashtag.
	Values []string
	All    bool
	// Op is <, <=, > or >= for fields with a number.
	Op     string
	Number float64
	// Unit is of Age: hours, days, weeks, months, years.
	Unit string
	// At is of Posted.
	At time.Time
	// In narrows Text, Words and Characters to a part of what a video says; empty is all.
	In facts.Part
	// Not turns the condition round.
	Not bool

	// scale is how many seconds the unit of a Duration has; 0 for other fields, and -1 where
	// the unit is an m that may mean millions.
	scale float64
	// forms are how texts say the values.
	forms map[string][]words.Phrase
}

func (c Condition) numeric() bool { return len(c.Values) == 0 && c.Field != Question }

// marks are what people write before a value.
var marks = map[Field]string{Hashtag: "#", Creator: "@"}

// Effect is what a check does.
type Effect string

// The effects.
const (
	// Require drops what fails the condition.
	Require Effect = "require"
	// Drop drops what meets all conditions.
	Drop Effect = "drop if"
	// Prefer ranks higher what meets all conditions.
	Prefer Effect = "prefer"
)

// Check is a rule, or a part of one, that can be looked up in a record. What is
// not known of a record (no views, no date, an unclear language) never
// drops it.
type Check struct {
	// Item is the rule's text, as verdicts name it, and ID its id.
	Item, ID   string
	Effect     Effect
	Conditions []Condition
	// Any says that a requirement is met by one of its conditions.
	Any bool
	// Unless keeps a record that meets one of them.
	Unless []Condition
}

// exact reports checks of what is simply known of a record. What its words say, and
// in which language, is found by comparing words: that only comes close to a rule.
func (c Check) exact() bool {
	return !slices.ContainsFunc(slices.Concat(c.Conditions, c.Unless), func(c Condition) bool {
		tags := !slices.ContainsFunc(c.Values, func(value string) bool { return !strings.HasPrefix(value, "#") })
		return c.Field == Text && !tags || c.Field == Language || c.Field == Question
	})
}
