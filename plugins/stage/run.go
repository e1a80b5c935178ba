package stage

import "strings"

// Seed is where a source starts to search: a handle or a term on one platform.
type Seed struct {
	// Kind is `own`, `competitor` or `niche`.
	Kind string `json:"kind"`
	// Platform is empty for a seed that any source may try.
	Platform string `json:"platform,omitempty"`
	// Exactly one of Handle and Term (a search term or hashtag) is set.
	Handle string `json:"handle,omitempty"`
	Term   string `json:"term,omitempty"`
	// Limit is the number of videos that are wanted; 0 leaves it to the source.
	Limit int `json:"limit,omitempty"`
}

// Same reports whether two seeds search the same place, however the letters are cased.
func (s Seed) Same(other Seed) bool {
	return s.Platform == other.Platform && strings.EqualFold(s.Text(), other.Text()) && (s.Handle == "") == (other.Handle == "")
}

// Text is the handle or term, as coverage shows the seed.
func (s Seed) Text() string {
	if s.Handle != "" {
		return s.Handle
	}
	return s.Term
}

// Run is what a stage may know of the scroll that it works for.
type Run struct {
	// ScrollID is the public id of the scroll.
	ScrollID string `json:"scrollId"`
	// Number counts the workspace's runs from 1: its completed scrolls plus one.
	Number int `json:"number"`
	// Brief is what the workspace says of its product.
	Brief Brief `json:"brief"`
	// Rules are the active items of the ruleset in force.
	Rules []Rule `json:"rules,omitempty"`
	// Prompt is the free text that was sent with this scroll; empty if none was.
	Prompt string `json:"prompt,omitempty"`
	// Pages are the texts of the workspace's own website and app page, as far as they
	// could be read.
	Pages []Page `json:"pages,omitempty"`
	// Settings are what the run's template sets for stages, by stage, then by name.
	// They are for the host: a stage gets its own among its settings.
	Settings map[string]map[string]string `json:"-"`
	// Now is the time of the run in Unix milliseconds.
	Now int64 `json:"now"`
	// Frames says that the frames of findings are kept; if not, make none.
	Frames bool `json:"frames,omitempty"`
	// Language is that of people who read what a screen makes of the rules, as `de`; empty for
	// English. A screen that does not write it uses English.
	Language string `json:"language,omitempty"`
	// States answer Call.State and Call.KeepState; a test may set its own. Nil has and keeps none.
	States SeedStates `json:"-"`
}

// Page is the text of a page on the web.
type Page struct {
	// URL is where the page was read.
	URL string `json:"url"`
	// Title has at most 200 characters, Text at most 4,000.
	Title string `json:"title,omitempty"`
	Text  string `json:"text,omitempty"`
}

// Brief is the part of the workspace that stages see. The account wrote it; any part may
// be empty.
type Brief struct {
	// Name and Description are the product's.
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	// Website and AppStoreURL are http or https addresses.
	Website     string `json:"website,omitempty"`
	AppStoreURL string `json:"appStoreUrl,omitempty"`
	// Competitors are names or handles.
	Competitors []string `json:"competitors,omitempty"`
}

// Rule is one item of a ruleset.
type Rule struct {
	// ID is the public id of the item.
	ID string `json:"id"`
	// Text is the rule in the words of the account.
	Text string `json:"text"`
}
