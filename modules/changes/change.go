package changes

import (
	"database/sql"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
)

const (
	idPrefix     = "chg"
	cursorPrefix = "cur"
	// fromNow is the cursor that stands for the newest change.
	fromNow = "now"
)

// Change is an entry with its number and time.
type Change struct {
	feed.Change
	Seq int64
	// At is Unix milliseconds.
	At int64
}

// ID is the public id, unique within the account.
func (c *Change) ID() string { return publicid.Format(idPrefix, c.Seq) }

// Seq returns the number of a change by its public id.
func Seq(id string) (seq int64, ok bool) { return publicid.Parse(idPrefix, id) }

// Shown is a change as callers see it: in an answer, and in the message of a webhook.
type Shown struct {
	ID          string   `json:"id"`
	Type        string   `json:"type"`
	At          int64    `json:"at"`
	VideoID     string   `json:"videoId,omitempty"`
	ScrollID    string   `json:"scrollId,omitempty"`
	KeyID       string   `json:"keyId,omitempty"`
	WorkspaceID string   `json:"workspaceId,omitempty"`
	KeyHash     string   `json:"keyHash,omitempty"`
	Stage       string   `json:"stage,omitempty"`
	FailureCode string   `json:"failureCode,omitempty"`
	Status      string   `json:"status,omitempty"`
	Old         *float64 `json:"old,omitempty"`
	New         *float64 `json:"new,omitempty"`
}

// Show returns the change as callers see it.
func (c *Change) Show() Shown {
	v := Shown{
		ID: c.ID(), Type: string(c.Kind), At: c.At, VideoID: public(publicid.Video, c.Video), ScrollID: public(publicid.Scroll, c.Scroll),
		Old: float(c.Old), New: float(c.New),
	}
	switch c.Kind {
	case feed.TrendEntered, feed.TrendLeft:
		v.KeyHash = c.Word
	case feed.ScrollStage:
		v.Stage = c.Word
	case feed.ScrollFailed:
		v.FailureCode = c.Word
	case feed.Subscription:
		v.Status = c.Word
	case feed.KeyCreated, feed.KeyRevoked:
		v.KeyID = public(publicid.Key, c.Subject)
	case feed.WorkspaceChange:
		v.WorkspaceID = public(publicid.Workspace, c.Subject)
	}
	return v
}

func public(prefix string, id int64) string {
	if id == 0 {
		return ""
	}
	return publicid.Format(prefix, id)
}

func float(n sql.NullFloat64) *float64 {
	if !n.Valid {
		return nil
	}
	return &n.Float64
}

// Cursor is the public form of "after this number".
func Cursor(seq int64) string { return publicid.Format(cursorPrefix, seq+1) }

// From is where a reading begins.
type From struct {
	// Oldest stands for the oldest change that is kept, Now for the newest one.
	Oldest, Now bool
	// After is the number of the last change that the reader has.
	After int64
	// Since, if it is above 0, stands for the last change before this time, in Unix
	// milliseconds.
	Since int64
}

// Parse reads a cursor of a caller; path is its name in an error.
func Parse(path, cursor string) (From, error) {
	switch cursor {
	case "":
		return From{Oldest: true}, nil
	case fromNow:
		return From{Now: true}, nil
	}
	seq, ok := publicid.Parse(cursorPrefix, cursor)
	if !ok {
		return From{}, apierr.Invalid(path, "is not a value that this feed returned")
	}
	return From{After: seq - 1}, nil
}

// Types are the kinds that a reader wants; empty stands for all.
type Types []feed.Kind

// ParseTypes reads a list of kinds, separated by commas.
func ParseTypes(path, list string) (types Types, err error) {
	if list == "" {
		return nil, nil
	}
	for _, name := range strings.Split(list, ",") {
		kind := feed.Kind(name)
		if !slices.Contains(feed.Kinds(), kind) {
			return nil, apierr.Invalid(path, "has an unknown kind of change; the kinds are in the documentation")
		}
		if !slices.Contains(types, kind) {
			types = append(types, kind)
		}
	}
	return types, nil
}

// Want reports whether a reader wants the kind.
func (t Types) Want(kind feed.Kind) bool { return len(t) == 0 || slices.Contains(t, kind) }

// Page is a part of the feed.
type Page struct {
	Changes []Change
	// Next is the number after which the next reading goes on.
	Next int64
	// More reports whether there are later changes.
	More bool
}

func expired() error {
	return apierr.New(apierr.CursorExpired, "The changes after this cursor are not kept any more: read the lists again, and go on with the cursor `now` of before.")
}
