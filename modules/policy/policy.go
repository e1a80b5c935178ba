package policy

import (
	"bytes"
	_ "embed" // for policy.yaml
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/goccy/go-yaml"
)

//go:embed policy.yaml
var shipped []byte

// Table is what is kept, and for how long.
type Table struct {
	// Version rises with every change of the table; the first is 1.
	Version int      `yaml:"version"`
	Kept    []Kept   `yaml:"kept"`
	Sources []Source `yaml:"sources"`
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
	Source string `yaml:"source"`
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
	for _, s := range t.Sources {
		if s.Source == "" || s.Asks == "" || s.Refreshed == "" || s.Deleted == "" || s.Command == "" {
			fault("source %q: a member is empty", s.Source)
		}
	}
	return &t, errors.Join(faults...)
}

// Config is what the server does.
type Config struct {
	// Lives is how long it keeps each kind of data; 0 for as long as the account exists.
	Lives map[string]time.Duration
	// EraseAfter is how long after its confirmation an account is deleted.
	EraseAfter time.Duration
}

// check compares a table with what the server does.
func (c Config) check(t *Table) error {
	var faults []error
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
	table *Table
	cfg   Config
}

// New returns the service; an error if the table is not what the server does.
func New(cfg Config) (*Service, error) {
	table, err := Read(shipped)
	if err == nil {
		err = cfg.check(table)
	}
	return &Service{table, cfg}, err
}
