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
	"github.com/scrollery/scrollery/modules/kernel/fair"
	"github.com/scrollery/scrollery/modules/kernel/nearest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Plugins is the need of the server's sources.
type Plugins interface {
	// Sources describes all sources, by id, as the tenant of the context can ask them.
	Sources(ctx context.Context) ([]Source, error)
	// Try asks one of them for a seed, as a scroll of the tenant would, and keeps nothing of what
	// comes. An empty seed has the source check its keys and connection instead. A source that is
	// not ready is not asked.
	Try(ctx context.Context, id string, seed stage.Seed) (Tried, error)
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
	// Checks: it can be tried without a seed.
	Checks bool
	// Docs is the address of the page on it; empty for none.
	Docs string
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
	// Money: units are millionths of a US dollar.
	Money bool
}

// Tried is what one request of a source came to.
type Tried struct {
	// State and Reason are those of Source; the rest is empty unless it is Ready.
	State, Reason string
	// Own: with keys of the account.
	Own bool
	// Hosts are those that the source may ask.
	Hosts []string
	// Checked is what a check says that works, in the source's words, without secrets.
	Checked string
	// Status is that of the outcome, empty if Failure says why there is none. Detail is in the
	// source's words, without secrets.
	Status, Failure, Detail string
	// Asked and Returned count videos, Fields those that have each field.
	Asked, Returned int
	Fields          map[string]int
	Took            time.Duration
}

// Needs are what the module needs of others.
type Needs struct{ Plugins Plugins }

// Config is the part of the configuration.
type Config struct {
	// NoOwnKeys refuses keys of accounts. Those that are stored stay sealed: they are listed and can
	// be removed, but no call gets them.
	NoOwnKeys bool
}

// Service serves the operations of the module.
type Service struct {
	config   Config
	accounts *Accounts
	needs    Needs
	now      func() time.Time
	// places are for requests that are tried, running for those of each account.
	places  *fair.Places
	running fair.Counts[int64]
	// within bounds one of them.
	within time.Duration
}

const (
	// tries is how many requests a process tries at once; an account tries one.
	tries = 4
	// tryWithin bounds a request that is tried, and tryLimit the videos that it asks for.
	tryWithin, tryLimit = time.Minute, 5
)

// New returns the module's service.
func New(cfg Config, accounts *Accounts, needs Needs) *Service {
	return &Service{config: cfg, accounts: accounts, needs: needs, now: time.Now, places: fair.New(tries), within: tryWithin}
}

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

// Try makes one real request of a source, for a few videos, or one that checks its keys and
// connection for an empty seed. It spends what the request costs.
func (s *Service) Try(ctx context.Context, source string, seed stage.Seed) (Tried, error) {
	account, _, _ := viewer.Tenant(ctx)
	if !s.running.Enter(account, 1) {
		return Tried{}, &apierr.Error{Kind: apierr.RateLimited, Message: "A request of a source is being tried. Wait for it.", RetryAfter: 5 * time.Second}
	}
	defer s.running.Leave(account)
	ctx, cancel := context.WithTimeout(ctx, s.within)
	defer cancel()
	leave, err := s.places.Enter(ctx, account)
	if err != nil {
		return Tried{}, &apierr.Error{Kind: apierr.TemporaryServiceError, Message: "The server tries requests of others. Try again later.", RetryAfter: 10 * time.Second}
	}
	defer leave()
	if seed.Text() != "" {
		seed.Kind, seed.Limit = "niche", tryLimit
	}
	tried, err := s.needs.Plugins.Try(ctx, source, seed)
	if err != nil {
		return Tried{}, fmt.Errorf("try source %s: %w", source, err)
	}
	return tried, nil
}

// tryFaults are what is wrong with a request of a source.
func (s *Service) tryFaults(source, seed, platform string) (issues []apierr.Issue) {
	known, ok := s.needs.Plugins.Describe(source)
	switch {
	case !ok:
		issues = append(issues, apierr.Issue{Path: "source", Message: "is not the id of a source"})
	case seed == "" && !known.Checks:
		issues = append(issues, apierr.Issue{Path: "seed", Message: "is needed: the source has no check of its own"})
	case platform != "" && len(known.Platforms) > 0 && !slices.Contains(known.Platforms, platform):
		issues = append(issues, apierr.Issue{Path: "platform", Message: "is none of " + strings.Join(known.Platforms, ", ")})
	}
	return issues
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
	case s.config.NoOwnKeys:
		add("source", "takes no keys: the operator of this server turned off accounts' own keys. Ask the operator to set up a source that is missing; removeSource deletes what you stored before")
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
