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
	// Position orders the items in force, from 0, and apart from them the archived ones.
	Position int
}

// change is the difference that a new text makes to the items.
type change struct {
	// Removed are the ids of the rows that are deleted, some of which Saved replaces.
	Removed []int64
	Saved   []Item
}

// replace returns the difference that the version with these texts makes. active are the
// items in force, in their order, and back archived items that have one of the texts. An
// item is known again by its text. Items that leave get positions before those of all
// that left earlier, so no archived row changes.
func replace(active, back []Item, texts []string, version int, now int64, newID func() int64) (out change) {
	known := make(map[string]Item, len(active)+len(back))
	for _, items := range [][]Item{back, active} {
		for _, item := range items {
			known[item.Text] = item
		}
	}
	kept := make(map[int64]bool, len(texts))
	for position, text := range texts {
		item, ok := known[text]
		if !ok {
			item = Item{ID: newID(), Text: text, CreatedAt: now}
		}
		delete(known, text)
		kept[item.ID] = true
		if ok && item.ArchivedAt == nil && item.Position == position {
			continue
		}
		if ok {
			out.Removed = append(out.Removed, item.ID)
		}
		item.ArchivedAt, item.Position = nil, position
		out.Saved = append(out.Saved, item)
	}
	for place, item := range active {
		if kept[item.ID] {
			continue
		}
		out.Removed = append(out.Removed, item.ID)
		if known[item.Text].ID == item.ID { // else a second item of the same text
			item.ArchivedAt, item.Position = &now, place-version*maxItems
			out.Saved = append(out.Saved, item)
		}
	}
	return out
}
