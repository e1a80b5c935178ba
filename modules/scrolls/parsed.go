package scrolls

import "sync"

// maxParsed bounds the progress that is kept in its parsed form.
const maxParsed = 256

// parsed keeps the progress of scrolls that somebody polls: between two polls it
// has seldom changed, and to parse it costs more than to read it. The text itself
// is compared, so nothing can go stale.
type parsed struct {
	mu      sync.Mutex
	entries map[int64]parsedEntry
}

type parsedEntry struct {
	text     string
	progress Progress
}

// parse returns the progress of a scroll, which the caller must not change.
func (p *parsed) parse(scroll int64, text []byte) (Progress, error) {
	if string(text) == noProgress {
		return Progress{}, nil
	}
	p.mu.Lock()
	entry, ok := p.entries[scroll]
	p.mu.Unlock()
	if ok && entry.text == string(text) {
		return entry.progress, nil
	}
	progress, err := parseProgress(text)
	if err != nil {
		return progress, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !ok && len(p.entries) >= maxParsed {
		for other := range p.entries { // any one
			delete(p.entries, other)
			break
		}
	}
	p.entries[scroll] = parsedEntry{string(text), progress}
	return progress, nil
}
