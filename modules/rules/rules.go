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
	// Added are new rows, Moved rows that are in force or archived at another place now.
	Added, Moved []Item
	// Removed are rows that are deleted: second items of one text.
	Removed []int64
	// Archived is how many archived rows there are more than before, below 0 for fewer.
	Archived int
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
		delete(known, text)
		if !ok {
			item = Item{ID: newID(), Text: text, CreatedAt: now, Position: position}
			kept[item.ID] = true
			out.Added = append(out.Added, item)
			continue
		}
		kept[item.ID] = true
		if item.ArchivedAt != nil {
			out.Archived--
		} else if item.Position == position {
			continue
		}
		item.ArchivedAt, item.Position = nil, position
		out.Moved = append(out.Moved, item)
	}
	for place, item := range active {
		switch {
		case kept[item.ID]:
		case known[item.Text].ID == item.ID:
			item.ArchivedAt, item.Position = &now, place-version*maxItems
			out.Moved = append(out.Moved, item)
			out.Archived++
		default: // a second item of the same text
			out.Removed = append(out.Removed, item.ID)
		}
	}
	return out
}

// others returns the texts that none of the items has.
func others(texts []string, items []Item) []string {
	has := make(map[string]bool, len(items))
	for _, item := range items {
		has[item.Text] = true
	}
	var out []string
	for _, text := range texts {
		if !has[text] {
			out = append(out, text)
		}
	}
	return out
}
