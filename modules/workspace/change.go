package workspace

import (
	"slices"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/weburl"
)

// Change is what a caller sends of a brief; nil leaves a field as it is.
type Change struct {
	Description, Website, AppStoreURL, Name *string
	// URL is the deprecated field of either sort of address.
	URL *string
	// Competitors replaces the whole list, also by an empty one.
	Competitors *[]string
}

// names reports whether the change has one of the fields that say what to research.
func (c Change) names() bool {
	return c.Description != nil || c.Website != nil || c.AppStoreURL != nil || c.URL != nil
}

// check judges the addresses and returns the change with URL sorted into the
// field that it stands for. The issues are all that is wrong with it.
func (c Change) check() (Change, []apierr.Issue) {
	var issues []apierr.Issue
	refuse := func(path, message string) { issues = append(issues, apierr.Issue{Path: path, Message: message}) }
	if c.Website != nil {
		if _, err := weburl.Parse(*c.Website); err != nil {
			refuse("website", err.Error())
		}
	}
	if c.AppStoreURL != nil {
		if _, err := weburl.ParseAppStore(*c.AppStoreURL); err != nil {
			refuse("appStoreUrl", err.Error())
		}
	}
	if c.URL != nil {
		if conflict, err := c.sortURL(); err != nil {
			refuse("url", err.Error())
		} else if conflict != "" {
			refuse("url", conflict)
		}
	}
	return c, issues
}

// sortURL moves URL into Website or AppStoreURL. What is there already must
// be the same address; conflict says where it is not.
func (c *Change) sortURL() (conflict string, err error) {
	a, err := weburl.Parse(*c.URL)
	if err != nil {
		return "", err
	}
	field, name := &c.Website, "website"
	if a.InAppStore() {
		if a, err = weburl.ParseAppStore(*c.URL); err != nil {
			return "", err
		}
		field, name = &c.AppStoreURL, "appStoreUrl"
	}
	switch {
	case *field == nil:
		*field = c.URL
	case normal(**field) != a.URL:
		return "names another address than " + name, nil
	}
	c.URL = nil
	return "", nil
}

// matches reports whether every field that the change sends says what the
// workspace says already: addresses in normal form, texts without the white
// space around them.
func (c Change) matches(w Workspace) bool {
	text := func(sent, current *string) bool {
		return sent == nil || current != nil && strings.TrimSpace(*sent) == strings.TrimSpace(*current)
	}
	url := func(sent, current *string) bool {
		return sent == nil || current != nil && normal(*sent) == normal(*current)
	}
	return text(c.Description, w.Description) && text(c.Name, w.Name) &&
		url(c.Website, w.Website) && url(c.AppStoreURL, w.AppStoreURL) &&
		(c.Competitors == nil || slices.EqualFunc(*c.Competitors, w.Competitors, func(a, b string) bool {
			return strings.TrimSpace(a) == strings.TrimSpace(b)
		}))
}

// normal returns the address in normal form, and what is none as it is.
func normal(text string) string {
	if a, err := weburl.Parse(text); err == nil {
		return a.URL
	}
	return text
}
