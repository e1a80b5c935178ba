// Package coverage says what each seed of a scroll brought on each platform, and
// where it brought nothing, why. It is pure: it asks no source and stores nothing.
//
// [Fold] makes the entries of a scroll when all sources are done:
//
//  1. Report: each source reports on the seeds it was asked for. A failed source
//     gets an outcome for each seed that it did not report on.
//  2. Prefer: what a source that searches reports hides an empty report of one that
//     reads a folder, and trouble that it reports hides why another one failed.
//  3. Merge: of several outcomes of a seed on a platform, the most telling one wins.
//  4. Count: each record that was delivered is counted for the planned seed that led
//     to it, see [Lead].
//  5. Compare: a seed that brought videos in an earlier scroll and now brings none
//     has changed, unless a source failed in this one.
//  6. Complete: a planned seed that no source reported on gets an entry that says why.
//  7. Postpone: a seed that is not found has a time before which it is not asked again.
package coverage

import (
	"cmp"
	"slices"

	"github.com/scrollery/scrollery/plugins/stage"
)

// Entry is what one seed brought on one platform, as it is stored.
type Entry struct {
	Seed       string `json:"seed"`
	Platform   string `json:"platform"`
	Outcome    string `json:"outcome"`
	Asked      int    `json:"asked,omitempty"`
	Returned   int    `json:"returned,omitempty"`
	New        int    `json:"new,omitempty"`
	Reobserved int    `json:"reobserved,omitempty"`
	Dropped    int    `json:"dropped,omitempty"`
	// Trimmed is how many of the returned records lost a part when they were collected:
	// metadata over its bound, or a reading from the future.
	Trimmed int `json:"trimmed,omitempty"`
	// RetryAt in Unix milliseconds.
	RetryAt *int64 `json:"retryAt,omitempty"`
	// Planned: the scroll has this seed; otherwise it is of a folder. The API does not
	// show it.
	Planned bool `json:"planned,omitempty"`
}

// Key names an entry.
type Key struct{ Seed, Platform string }

func (e Entry) key() Key { return Key{e.Seed, e.Platform} }

// Tally counts videos by entry.
type Tally map[Key]int

// AddTo adds the counts to one field of the entries. A missing entry is appended. The
// entries are changed in place.
func (t Tally) AddTo(entries []Entry, field func(*Entry) *int) []Entry {
	at := table{entries: entries}
	for key, n := range t {
		*field(at.entry(key)) += n
	}
	return at.entries
}

// Add returns the entries of two parts of one scroll, with their counts added up.
func Add(entries, more []Entry) []Entry {
	at := table{entries: slices.Clone(entries)}
	for _, e := range more {
		if at.find(e.key()) == nil {
			at.entries = append(at.entries, e)
			continue
		}
		same := at.entry(e.key())
		same.Returned += e.Returned
		same.Trimmed += e.Trimmed
	}
	return at.sorted()
}

// Latest merges the coverage of earlier scrolls, the newest first. Of each seed and
// platform it returns the newest entry that brought something, or else any.
func Latest(scrolls ...[]Entry) []Entry {
	var at table
	for _, entries := range scrolls {
		for _, e := range entries {
			if old := at.find(e.key()); old == nil {
				at.entries = append(at.entries, e)
			} else if old.Returned == 0 {
				*old = e
			}
		}
	}
	return at.entries
}

// Shorten returns at most limit entries: first the planned ones, then those whose
// outcome is not ok, then those that returned the most. A limit of 0 returns all.
func Shorten(entries []Entry, limit int) []Entry {
	if limit <= 0 || len(entries) <= limit {
		return entries
	}
	short := slices.Clone(entries)
	rank := func(e Entry) int {
		switch {
		case e.Planned:
			return 0
		case e.Outcome != string(stage.OK):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(short, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.Returned, a.Returned))
	})
	return short[:limit]
}

// table is a list of entries with an index.
type table struct {
	entries []Entry
	index   map[Key]int
}

// find returns the entry of a key, or nil. The pointer is valid until the next
// entry is appended.
func (t *table) find(key Key) *Entry {
	if t.index == nil {
		t.index = map[Key]int{}
	}
	for i := len(t.index); i < len(t.entries); i++ {
		t.index[t.entries[i].key()] = i
	}
	if i, ok := t.index[key]; ok {
		return &t.entries[i]
	}
	return nil
}

// entry is find, but appends a missing entry.
func (t *table) entry(key Key) *Entry {
	if e := t.find(key); e != nil {
		return e
	}
	t.entries = append(t.entries, Entry{Seed: key.Seed, Platform: key.Platform, Outcome: string(stage.OK)})
	return t.find(key)
}

func (t *table) sorted() []Entry {
	slices.SortFunc(t.entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.Seed, b.Seed))
	})
	t.index = nil
	return t.entries
}
