package sources

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/nearest"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Plugins is the need of the server's sources.
type Plugins interface {
	// Sources describes all sources, by id, as the tenant of the context can ask them.
	Sources(ctx context.Context) ([]Source, error)
	// Describe is what does not depend on a tenant of one of them; ok is false for an unknown id.
	Describe(id string) (source Source, ok bool)
}

// Source is a source of the server.
type Source struct {
	ID, Summary string
	Platforms   []string
	// State is one of the states below, Reason what is missing to be ready.
	State, Reason string
	// Secrets and Settings are those that an account can set. A source without secrets takes
	// nothing from accounts.
	Secrets  []Secret
	Settings []stage.Setting
	Quotas   []Quota
	// Requests are those that a seed usually takes.
	Requests stage.Cost
}

// The states of a source.
const (
	// Ready can be asked.
	Ready = "ready"
	// Incomplete has keys of the account, which are not all that it needs.
	Incomplete = "incomplete"
	// Unset can be asked once the account or the operator sets keys.
	Unset = "unset"
	// Off can be set up by the operator alone.
	Off = "off"
	// Resting failed too often, and is left alone for a while.
	Resting = "resting"
)

// Secret is a secret of a source.
type Secret struct {
	Name     string
	Required bool
}

// Quota is what a site grants within a window.
type Quota struct {
	Name, Window string
	// Limit are units, Left those that the tenant would be granted now.
	Limit, Left int64
	// Cost are units that a seed usually takes.
	Cost stage.Cost
}

// Needs are what the module needs of others.
type Needs struct{ Plugins Plugins }

// Service serves the operations of the module.
type Service struct {
	accounts *Accounts
	needs    Needs
	now      func() time.Time
}

// New returns the module's service.
func New(accounts *Accounts, needs Needs) *Service { return &Service{accounts, needs, time.Now} }

// Shown is a source with what the account set for it; Own is nil if that is nothing.
type Shown struct {
	Source
	Own *Own
}

// List returns all sources, by id.
func (s *Service) List(ctx context.Context) ([]Shown, error) {
	owned, err := s.accounts.List(ctx)
	if err != nil {
		return nil, err
	}
	all, err := s.needs.Plugins.Sources(ctx)
	if err != nil {
		return nil, fmt.Errorf("list sources: %w", err)
	}
	shown := make([]Shown, len(all))
	for i, source := range all {
		shown[i].Source = source
		if at := slices.IndexFunc(owned, func(o Own) bool { return o.Source == source.ID }); at >= 0 {
			shown[i].Own = &owned[at]
		}
	}
	return shown, nil
}

// Set stores what the account sets for a source. The error lists what is wrong or missing; the
// change has no faults of its own, see faults.
func (s *Service) Set(ctx context.Context, c Change) (*Shown, error) {
	source, _ := s.needs.Plugins.Describe(c.Source)
	err := s.accounts.set(ctx, c, s.now().UnixMilli(), func(secrets, settings map[string]string) error {
		return refuse(missing(source, secrets, settings))
	})
	if err != nil {
		return nil, fmt.Errorf("set source %s: %w", c.Source, err)
	}
	all, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(one Shown) bool { return one.ID == c.Source })
	if at < 0 {
		return nil, errors.New("the source is gone")
	}
	return &all[at], nil
}

// Remove deletes what the account set for a source; it may be one that the server has no more.
func (s *Service) Remove(ctx context.Context, source string) (found bool, err error) {
	return s.accounts.rows.remove(ctx, source)
}

// refuse is nil without issues.
func refuse(issues []apierr.Issue) error {
	if len(issues) == 0 {
		return nil
	}
	return apierr.InvalidIssues(issues...)
}

// missing is what a source needs besides what is set.
func missing(source Source, secrets, settings map[string]string) (issues []apierr.Issue) {
	for _, secret := range source.Secrets {
		if secret.Required && secrets[secret.Name] == "" {
			issues = append(issues, apierr.Issue{Path: "secrets." + secret.Name, Message: "is needed"})
		}
	}
	for _, setting := range source.Settings {
		if setting.Required && settings[setting.Name] == "" && setting.Default == "" {
			issues = append(issues, apierr.Issue{Path: "settings." + setting.Name, Message: "is needed: " + setting.Help})
		}
	}
	return issues
}

// maxSecret is the longest secret, and maxValue the longest value of a setting, in characters.
const maxSecret, maxValue = 500, 200

// faults are what is wrong with a change of its own. No message repeats a secret.
func (s *Service) faults(c Change) (issues []apierr.Issue) {
	add := func(path, format string, args ...any) {
		issues = append(issues, apierr.Issue{Path: path, Message: fmt.Sprintf(format, args...)})
	}
	source, ok := s.needs.Plugins.Describe(c.Source)
	switch {
	case !ok:
		add("source", "is not the id of a source")
		return issues
	case len(source.Secrets) == 0:
		add("source", "takes no keys of accounts")
		return issues
	}
	var names []string
	for _, secret := range source.Secrets {
		names = append(names, secret.Name)
	}
	for _, name := range sorted(c.Secrets) {
		path := "secrets." + name
		switch value := c.Secrets[name]; {
		case !slices.Contains(names, name):
			add(path, "is no secret of the source%s", nearest.Hint(name, names))
		case utf8.RuneCountInString(value) > maxSecret || !isSecret(value):
			add(path, "must have 6 to %d characters, and no spaces", maxSecret)
		}
	}
	names = nil
	for _, setting := range source.Settings {
		names = append(names, setting.Name)
	}
	for _, name := range sorted(c.Settings) {
		path, value := "settings."+name, c.Settings[name]
		at := slices.Index(names, name)
		switch {
		case at < 0:
			add(path, "is no setting that an account can set%s", nearest.Hint(name, names))
		case utf8.RuneCountInString(value) > maxValue || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }):
			add(path, "must be at most %d characters on one line", maxValue)
		default:
			if err := source.Settings[at].Check(value); err != nil {
				add(path, "%v", err)
			}
		}
	}
	return issues
}
