package workspace

import (
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/weburl"
)

// Workspace is a tenant's research brief. Texts are as they were sent; nil is not set.
type Workspace struct {
	ID                                int64
	Description, Website, AppStoreURL *string
	// Competitors are seeds: handles, addresses or names. Never nil.
	Competitors []string
	Name        *string
	// Subject is what the research is about; the zero Subject where the brief
	// has a description alone.
	Subject Subject
	// RulesVersion is 0 before the first ruleset.
	RulesVersion int
	// CreatedAt and UpdatedAt in Unix milliseconds.
	CreatedAt, UpdatedAt int64
}

// Subject is what a brief's addresses stand for.
type Subject struct {
	// Type is `app_store`, `website` or empty.
	Type weburl.Kind
	// URL is the address in normal form.
	URL string
	// CanonicalID is the same for every address of one app or one site.
	CanonicalID string
}

// subjectOf prefers the app: a site may belong to many.
func subjectOf(website, appStoreURL *string) Subject {
	for _, text := range []*string{appStoreURL, website} {
		if text == nil {
			continue
		}
		if a, err := weburl.Parse(*text); err == nil {
			return Subject{Type: a.Kind, URL: a.URL, CanonicalID: a.CanonicalID()}
		}
	}
	return Subject{}
}

// apply returns the workspace with the fields that the change sends.
func (w Workspace) apply(c Change) Workspace {
	for _, field := range []struct{ to, from **string }{
		{&w.Description, &c.Description},
		{&w.Website, &c.Website},
		{&w.AppStoreURL, &c.AppStoreURL},
		{&w.Name, &c.Name},
	} {
		if *field.from != nil {
			*field.to = *field.from
		}
	}
	if c.Competitors != nil {
		w.Competitors = *c.Competitors
	}
	w.Subject = subjectOf(w.Website, w.AppStoreURL)
	return w
}

// same reports whether two workspaces differ in nothing that a caller sends.
func (w Workspace) same(other Workspace) bool {
	return equal(w.Description, other.Description) && equal(w.Website, other.Website) &&
		equal(w.AppStoreURL, other.AppStoreURL) && equal(w.Name, other.Name) &&
		slices.Equal(w.Competitors, other.Competitors)
}

func equal(a, b *string) bool {
	return a == b || a != nil && b != nil && *a == *b
}
