package score

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Epochs are the days on which platforms changed what their numbers count. A video is compared
// only with those that were posted on the same side of each step of its kind: the others
// have more or fewer views for no merit of theirs. They are configuration, as the growth
// table is: an explanation names their version, and libraries are scored again when it changes.
type Epochs struct {
	// Version names the list, `2026-11` for example. Required.
	Version string `yaml:"version" json:"version"`
	// Steps in any order.
	Steps []Step `yaml:"steps" json:"steps"`

	// starts are the times of the steps by kind, rising; see prepared.
	starts map[Kind][]int64
}

// Step is one change.
type Step struct {
	// Kind of the videos: youtube_short, youtube_long, or a platform.
	Kind Kind `yaml:"kind" json:"kind"`
	// From is the day, in UTC, from which videos are counted the new way: 2006-01-02.
	From string `yaml:"from" json:"from"`
	// Says what changed, Source is the page that says so, and Read the day it was read.
	Says   string `yaml:"says" json:"says"`
	Source string `yaml:"source" json:"source"`
	Read   string `yaml:"read" json:"read"`
}

//go:embed epochs.json
var epochsFile []byte

// ShippedEpochs returns the list of the file epochs.json.
func ShippedEpochs() *Epochs {
	e := &Epochs{}
	if err := errors.Join(json.Unmarshal(epochsFile, e), e.Validate()); err != nil {
		panic("epochs.json: " + err.Error()) // a test reads it
	}
	return e.prepared()
}

// Validate returns every fault of the list, joined.
func (e *Epochs) Validate() error {
	var faults []error
	if e.Version == "" {
		faults = append(faults, errors.New("epochs: no version"))
	}
	for i, step := range e.Steps {
		if step.Kind == "" || step.Says == "" || step.Source == "" {
			faults = append(faults, fmt.Errorf("epochs: steps[%d]: kind, says and source are required", i))
		}
		if _, err := time.Parse(time.DateOnly, step.From); err != nil {
			faults = append(faults, fmt.Errorf("epochs: steps[%d]: from %q is no day such as 2026-08-24", i, step.From))
		}
		if slices.ContainsFunc(e.Steps[:i], func(other Step) bool { return other.Kind == step.Kind && other.From == step.From }) {
			faults = append(faults, fmt.Errorf("epochs: steps[%d]: %s has a step of %s already", i, step.Kind, step.From))
		}
	}
	return errors.Join(faults...)
}

// prepared is a copy of a valid list that can be asked.
func (e *Epochs) prepared() *Epochs {
	ready := *e
	ready.starts = map[Kind][]int64{}
	for _, step := range e.Steps {
		if from, err := time.Parse(time.DateOnly, step.From); err == nil {
			ready.starts[step.Kind] = append(ready.starts[step.Kind], from.UnixMilli())
		}
	}
	for _, starts := range ready.starts {
		slices.Sort(starts)
	}
	return &ready
}

// side is how many steps of the kind a video was posted after; all of them where its posting time
// is not known.
func (e *Epochs) side(kind Kind, postedAt int64) int {
	starts := e.starts[kind]
	side := len(starts)
	for side > 0 && postedAt != Undated && postedAt < starts[side-1] {
		side--
	}
	return side
}

// next is the time of the first step of the kind after a side; ok is false on the last one.
func (e *Epochs) next(kind Kind, side int) (at int64, ok bool) {
	if starts := e.starts[kind]; side < len(starts) {
		return starts[side], true
	}
	return 0, false
}

// With returns the table with another list of epochs; nil is the shipped one.
func (t *Table) With(e *Epochs) *Table {
	with := *t
	with.epochs = ShippedEpochs()
	if e != nil {
		with.epochs = e.prepared()
	}
	return &with
}

// steps are the epochs of the table.
func (t *Table) steps() *Epochs {
	if t.epochs == nil {
		return &Epochs{}
	}
	return t.epochs
}
