package policy

import (
	"bytes"
	"context"
	_ "embed" // for policy.yaml
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/goccy/go-yaml"
)

//go:embed policy.yaml
var shipped []byte

// Table is what is kept, and for how long.
type Table struct {
	// Version rises with every change of the table; the first is 1.
	Version  int       `yaml:"version"`
	Kept     []Kept    `yaml:"kept"`
	Readings *Readings `yaml:"readings"`
	Sources  []Source  `yaml:"sources"`
}

// Readings is how observations of videos grow fewer with their age.
type Readings struct {
	// All is for how many days all are kept, and Daily for how many one a day; after that it is
	// one a week. 0 is no end.
	All   int `yaml:"all"`
	Daily int `yaml:"daily"`
	// Except are sources whose observations all stay; `import` for what accounts import.
	Except []string `yaml:"except"`
}

// Kept is one kind of data.
type Kept struct {
	// Data is the name that callers see.
	Data string `yaml:"data"`
	// Days or Hours is how long it is kept; both are 0 for as long as the account exists.
	Days  int `yaml:"days"`
	Hours int `yaml:"hours"`
	// Setting is the operator's setting that changes it; empty for none.
	Setting string `yaml:"setting"`
	// Description says what belongs to it and, if it is not its making, what it is kept after.
	Description string `yaml:"description"`
}

// For is how long it is kept; 0 for as long as the account exists.
func (k Kept) For() time.Duration { return time.Duration(24*k.Days+k.Hours) * time.Hour }

// Source is what a platform asks of those who keep its data, and what the server does.
type Source struct {
	// Source is the id of a source; its videos are those of Platform.
	Source   string `yaml:"source"`
	Platform string `yaml:"platform"`
	// Days is how long what the source read is kept after it has read the video last, and
	// RefreshFrom the day from which scrolls read it again before others. 0 is no end.
	Days        int `yaml:"days"`
	RefreshFrom int `yaml:"refresh_from"`
	// Deletes is what goes then: All, which is the default, or Texts.
	Deletes string `yaml:"deletes"`
	// Accepted is the setting by which the operator says "yes" to an agreement with the
	// platform, and With what goes then instead of Deletes.
	Accepted string `yaml:"accepted"`
	With     string `yaml:"with"`
	// Asks is the demand, Refreshed what a refresh renews, Deleted what the server deletes
	// by itself, and Command what deletes the rest.
	Asks      string `yaml:"asks"`
	Refreshed string `yaml:"refreshed"`
	Deleted   string `yaml:"deleted"`
	Command   string `yaml:"command"`
}

// Read reads a table. It returns all faults together.
func Read(text []byte) (*Table, error) {
	var t Table
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(&t); err != nil {
		return nil, fmt.Errorf("read the policy: %w", err)
	}
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("policy: "+format, args...)) }
	if t.Version < 1 {
		fault("version %d: want 1 or more", t.Version)
	}
	seen := map[string]bool{}
	for _, k := range t.Kept {
		switch {
		case k.Data == "" || k.Description == "":
			fault("a row of kept has no data or no description: %+v", k)
		case seen[k.Data]:
			fault("%s has two rows", k.Data)
		case k.Days < 0 || k.Hours < 0:
			fault("%s: days and hours must not be negative", k.Data)
		}
		seen[k.Data] = true
	}
	if r := t.Readings; r != nil && (r.All < 0 || r.Daily < 0 || r.Daily > 0 && r.Daily < r.All) {
		fault("readings: want days of 0 or more, and daily not before all")
	}
	for _, s := range t.Sources {
		if s.Source == "" || s.Asks == "" || s.Refreshed == "" || s.Deleted == "" || s.Command == "" {
			fault("source %q: a member is empty", s.Source)
		}
		if s.Days < 0 || s.RefreshFrom < 0 || s.RefreshFrom > s.Days || s.Days > 0 && s.Platform == "" {
			fault("source %q: want days of 0 or more with a platform, and refresh_from not after them", s.Source)
		}
		if !isDeleted(s.Deletes) || !isDeleted(s.With) || (s.With == "") != (s.Accepted == "") {
			fault("source %q: deletes and with are %s, %s or %s, and with goes with accepted", s.Source, All, Texts, Nothing)
		}
		if seen["source "+s.Source] {
			fault("source %q has two rows", s.Source)
		}
		seen["source "+s.Source] = true
	}
	return &t, errors.Join(faults...)
}

// What goes after the days of a source.
const (
	// All is its readings, and the video unless another source or an import has read it too.
	All = "all"
	// Texts are captions, titles, hashtags and hooks of videos that nothing else has read.
	Texts   = "texts"
	Nothing = "nothing"
)

func isDeleted(what string) bool {
	return what == "" || what == All || what == Texts || what == Nothing
}

// Config is what the server does, and the operator's part of it.
type Config struct {
	// File has the operator's own table, whose kept and readings may be left out; empty for
	// the shipped one.
	File string `yaml:"file"`
	// Accepted has the settings by which the operator has said "yes" to agreements.
	Accepted map[string]bool `yaml:"-"`
	// Lives is how long it keeps each kind of data; 0 for as long as the account exists.
	Lives map[string]time.Duration `yaml:"-"`
	// EraseAfter is how long after its confirmation an account is deleted.
	EraseAfter time.Duration `yaml:"-"`
}

// check compares a table with what the server does.
func (c Config) check(t *Table) error {
	var faults []error
	if t.Readings == nil {
		faults = append(faults, errors.New("policy: no word on readings"))
	}
	left := maps.Clone(c.Lives)
	for _, k := range t.Kept {
		does, known := left[k.Data]
		switch delete(left, k.Data); {
		case !known:
			faults = append(faults, fmt.Errorf("policy: nothing keeps %s", k.Data))
		case does != k.For() && k.Setting == "":
			faults = append(faults, fmt.Errorf("policy: %s is kept for %v, not for %v", k.Data, does, k.For()))
		}
	}
	for _, data := range slices.Sorted(maps.Keys(left)) {
		faults = append(faults, fmt.Errorf("policy: %s is kept and has no row", data))
	}
	return errors.Join(faults...)
}

// Service shows the table. It is safe for concurrent use.
type Service struct {
	table    *Table
	cfg      Config
	holdings Holdings
}

// Holdings is the need of the library.
type Holdings interface {
	// Held returns what the tenant's library has from each source.
	Held(ctx context.Context) ([]Held, error)
}

// Held is what a library has from a source: so many observations, the oldest of a time in Unix
// milliseconds.
type Held struct {
	Source                 string
	Observations, OldestAt int64
}

// New returns the service; an error if the table is not what the server does.
func New(cfg Config, holdings Holdings) (*Service, error) {
	table, err := Read(shipped)
	if err == nil && cfg.File != "" {
		table, err = table.replaced(cfg.File)
	}
	if err == nil {
		err = cfg.check(table)
	}
	return &Service{table, cfg, holdings}, err
}

// replaced is the table of a file, with kept and readings of this one if it has none.
func (t *Table) replaced(file string) (*Table, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the policy: %w", err)
	}
	own, err := Read(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(own.Kept) == 0 {
		own.Kept = t.Kept
	}
	if own.Readings == nil {
		own.Readings = t.Readings
	}
	return own, nil
}

// Readings is how observations grow fewer.
func (s *Service) Readings() Readings { return *s.table.Readings }

// Agreements are the settings by which the operator accepts what rows of sources name.
func (s *Service) Agreements() (names []string) {
	for _, source := range s.table.Sources {
		if source.Accepted != "" {
			names = append(names, source.Accepted)
		}
	}
	return names
}

// Ends are the rows of sources of which something is deleted for its age, with what it is.
func (s *Service) Ends() (ends []Source) {
	for _, source := range s.table.Sources {
		if source.Accepted != "" && s.cfg.Accepted[source.Accepted] {
			source.Deletes = source.With
		}
		if source.Days > 0 && source.Deletes != Nothing {
			ends = append(ends, source)
		}
	}
	return ends
}
