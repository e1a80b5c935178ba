package sources

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

// Names are the fields or parts that a source asks an interface for. An interface
// refuses a whole request over one name that it does not have, so that a field which was
// renamed there would cost every video. Names gives up the field instead: the ones that
// the source can do without are left out once they are refused, for as long as the Names
// are used.
type Names struct {
	needed, optional, refused []string
}

// NewNames are names without which an answer is of no use, and others.
func NewNames(needed, optional []string) *Names {
	return &Names{needed: needed, optional: slices.Clone(optional)}
}

// Refused is a request that the interface turned down, perhaps over a name.
type Refused struct {
	// Message is the interface's own, which may hold the name.
	Message string
	// Stop is what the refusal means if no name is to blame.
	Stop *site.Stop
}

func (e *Refused) Error() string { return e.Stop.Detail }

// Unwrap is the Stop.
func (e *Refused) Unwrap() error { return e.Stop }

// Ask asks with all names that have not been refused. Where ask returns a *Refused, the
// names in its message are left out; where it holds none, they are found by halves, which
// takes about two requests for each doubling of their number. ask keeps its answer only
// where it returns nil: the last such answer is the one with all names that are left. The
// error is that of ask.
func (n *Names) Ask(ask func(names []string) error) error {
	before := n.optional
	for {
		err := ask(n.with(n.optional))
		var refused *Refused
		if !errors.As(err, &refused) {
			n.note(before)
			return err
		}
		left := without(n.optional, refused.Message)
		if len(left) < len(n.optional) {
			n.optional = left
			continue
		}
		n.optional = before
		// The names may have nothing to do with it, and then not even the needed ones pass.
		if err := ask(n.with(nil)); err != nil {
			return err
		}
		half := len(n.optional) / 2
		good, err := n.halves(nil, [][]string{n.optional[:half], n.optional[half:]}, ask)
		if err != nil {
			return err
		}
		n.optional = good
		n.note(before)
		return nil
	}
}

// halves are the names of the groups that are accepted beside those that are known to be.
func (n *Names) halves(good []string, groups [][]string, ask func([]string) error) ([]string, error) {
	for _, group := range groups {
		if len(group) == 0 {
			continue
		}
		err := ask(n.with(slices.Concat(good, group)))
		var refused *Refused
		switch {
		case err == nil:
			good = slices.Concat(good, group)
		case !errors.As(err, &refused):
			return nil, err
		case len(group) > 1:
			if good, err = n.halves(good, [][]string{group[:len(group)/2], group[len(group)/2:]}, ask); err != nil {
				return nil, err
			}
		}
	}
	return good, nil
}

func (n *Names) with(optional []string) []string { return slices.Concat(n.needed, optional) }

// note remembers which of the earlier names are left out from now on.
func (n *Names) note(before []string) {
	for _, name := range before {
		if !slices.Contains(n.optional, name) {
			n.refused = append(n.refused, name)
		}
	}
}

// Short is an answer that lacks some names; all videos are in it.
type Short struct{ Names []string }

func (e *Short) Error() string {
	return "the platform refuses " + strings.Join(e.Names, ", ") + ": the videos are without"
}

// Unwrap is the Stop of a seed that was answered so.
func (e *Short) Unwrap() error { return &site.Stop{Status: stage.Partial, Detail: e.Error()} }

// Short is a *Short of the names that were refused; nil if none was.
func (n *Names) Short() error {
	if len(n.refused) == 0 {
		return nil
	}
	return &Short{n.refused}
}

// without are the names that a message does not hold as a word.
func without(names []string, message string) []string {
	words := strings.FieldsFunc(message, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(words, name) })
}
