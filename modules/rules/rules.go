package rules

// MaxArchived is how many archived items are kept and listed for a tenant, the
// newest. One that is older comes back with a new id when its text does.
const MaxArchived = 1000

// Rules is one version of a tenant's whole ruleset.
type Rules struct {
	// WorkspaceID is the workspace that it belongs to.
	WorkspaceID int64
	// Version starts at 1 and rises by 1 with each text that differs.
	Version int
	Text    string
	// CreatedAt in Unix milliseconds.
	CreatedAt int64
}

// Item is one rule. Its id and CreatedAt live as long as its text does.
type Item struct {
	ID   int64
	Text string
	// ArchivedAt is when its text left the ruleset; nil while it is in force.
	ArchivedAt *int64
	// CreatedAt in Unix milliseconds.
	CreatedAt int64
}

// replace returns the items after a ruleset was replaced by one with these
// texts: those in force in text order, then the archived ones, newest first. An
// item is known again by its text.
func replace(items []Item, texts []string, now int64, newID func() int64) []Item {
	known := make(map[string]Item, len(items))
	for _, item := range items {
		known[item.Text] = item
	}
	next := make([]Item, 0, len(texts)+len(items))
	for _, text := range texts {
		item, ok := known[text]
		if !ok {
			item = Item{ID: newID(), Text: text, CreatedAt: now}
		}
		item.ArchivedAt = nil
		next = append(next, item)
		delete(known, text)
	}
	gone := len(next)
	for _, item := range items { // just left: before those that left earlier
		if _, left := known[item.Text]; left && item.ArchivedAt == nil {
			item.ArchivedAt = &now
			next = append(next, item)
		}
	}
	for _, item := range items {
		if _, left := known[item.Text]; left && item.ArchivedAt != nil {
			next = append(next, item)
		}
	}
	return next[:min(len(next), gone+MaxArchived)]
}
