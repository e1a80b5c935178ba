package sitetest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/plugins/stage"
)

// Subject is a source in front of a double, as the suite of faults needs it.
type Subject struct {
	// Collect asks for one handle, of which the double has Videos. fault, if not nil,
	// answers each request in the double's place and says whether it did.
	Collect func(t *testing.T, fault func(http.ResponseWriter, *http.Request) bool) ([]stage.Record, stage.Outcome)
	Videos  int
	// Refuse is Collect in front of a double that has lost a name which the source asks
	// for, and says so or not. Nil for an interface that is asked for no names.
	Refuse func(t *testing.T, silent bool) (name string, records []stage.Record, o stage.Outcome)
	// Bucket is the answer when the interface's own allowance is used up, TokenEnded when
	// the secret is no longer taken. Nil if there is none of both.
	Bucket, TokenEnded http.HandlerFunc
	// Renamed is an answer whose list has another name; Empty has nothing in its list.
	Renamed, Empty http.HandlerFunc
}

// Suite puts a source through the faults that every interface has, and asks of each the
// same: videos that came are kept, a fault is never a quiet success, and a fault that
// passes has a time to try again.
func Suite(t *testing.T, s Subject) {
	t.Helper()
	type fault struct {
		name    string
		answer  http.HandlerFunc
		want    []stage.Status
		retryAt bool
	}
	html := Text(http.StatusOK, "<!DOCTYPE html><html><title>Just a moment…</title></html>")
	faults := []fault{
		{"allowance used up", s.Bucket, []stage.Status{stage.Quota}, true},
		{"token ended", s.TokenEnded, []stage.Status{stage.Misconfigured}, false},
		{"member renamed", s.Renamed, []stage.Status{stage.Changed}, false},
		{"empty page", s.Empty, []stage.Status{stage.Empty}, false},
		{"HTML", html, []stage.Status{stage.Blocked, stage.Changed}, false},
		{"page too large", Huge, []stage.Status{stage.Blocked}, true},
		{"silence", Hang, []stage.Status{stage.Blocked}, true},
	}
	for _, f := range faults {
		if f.answer == nil {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			records, o := s.Collect(t, Times(Always, f.answer))
			if len(records) != 0 || o.Returned != 0 {
				t.Errorf("%d records, %d returned; want none", len(records), o.Returned)
			}
			fits := false
			for _, status := range f.want {
				fits = fits || o.Status == status
			}
			if !fits {
				t.Errorf("status %s (%s), want one of %v", o.Status, o.Detail, f.want)
			}
			if f.retryAt && o.RetryAt == nil {
				t.Error("no time to try again, want one")
			}
		})
	}
	t.Run("no fault", func(t *testing.T) {
		t.Parallel()
		records, o := s.Collect(t, nil)
		if o.Status != stage.OK || len(records) != s.Videos {
			t.Errorf("%d records, status %s (%s); want %d, ok", len(records), o.Status, o.Detail, s.Videos)
		}
	})
	if s.Refuse == nil {
		return
	}
	for says, silent := range map[string]bool{"name refused": false, "name refused without a word": true} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			name, records, o := s.Refuse(t, silent)
			if len(records) != s.Videos || o.Status != stage.Partial || !strings.Contains(o.Detail, name) {
				t.Errorf("%d records, status %s (%s); want %d, partial, and %s in the detail", len(records), o.Status, o.Detail, s.Videos, name)
			}
		})
	}
}
