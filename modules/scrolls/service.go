package scrolls

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Workspaces is the room's need of the brief. Both ask for the tenant of the context.
type Workspaces interface {
	// Brief returns the brief and its canonicalId, which may be empty.
	Brief(ctx context.Context) (brief stage.Brief, subject string, ok bool, err error)
	// Subject is the cheap half of Brief: it lies on the path of every start.
	Subject(ctx context.Context) (subject string, ok bool, err error)
}

// Rules is the room's need of the ruleset in force: version 0 and no items where there is none.
type Rules interface {
	Active(ctx context.Context) (version int, items []stage.Rule, err error)
}

// Plans is the room's need of what the tenant of the context has paid for.
type Plans interface {
	Limits(ctx context.Context) (Limits, error)
	// BudgetSpent tells whether nothing is left of the running day's or month's budget.
	BudgetSpent(ctx context.Context) (bool, error)
}

// Limits of a plan. All are 0 without a subscription.
type Limits struct {
	// Active tells whether the subscription is paid.
	Active bool
	// MaxFeedSize is how many new videos a scroll archives.
	MaxFeedSize int
	// ActiveScrolls is how many may be queued or running at once.
	ActiveScrolls int
}

// Charger is the room's need of the budget: units are spent with the transaction.
type Charger interface {
	Charge(ctx context.Context, tx *store.Tx, accountID int64, units int) error
}

// Library is the room's need of what the tenant of the context already has.
type Library interface {
	// Known holds an entry for each of the refs that the library has, true where it
	// has evidence too, so that nobody has to look for it again.
	Known(ctx context.Context, refs []stage.Ref) (map[stage.Ref]bool, error)
	// Tracked returns videos of a platform worth a fresh look, the most worthwhile
	// first. after is 0 at first, then the next of the call before; 0 again at the end.
	Tracked(ctx context.Context, platform string, after int64, limit int) (refs []stage.Ref, next int64, err error)
	// LastObserved tells of those videos that the library has when each was observed last.
	LastObserved(ctx context.Context, refs []stage.Ref) (map[stage.Ref]int64, error)
	// ObservedIn tells when some scrolls, at most 100, observed videos: scroll to time.
	ObservedIn(ctx context.Context, scrolls []int64, refs []stage.Ref) (map[stage.Ref]map[int64]int64, error)
}

// Archiver is the room's need of the library's shelves.
type Archiver interface {
	// Archive writes videos and their observations. A video that the scroll has
	// already observed gets no second observation.
	Archive(ctx context.Context, tx *store.Tx, batch Batch) (added, reobserved int, err error)
	// Renew brings documents of known videos up to date without an observation.
	Renew(ctx context.Context, tx *store.Tx, batch Batch) (changed int, err error)
	// Gone marks videos that their platform has no more; at in Unix milliseconds.
	Gone(ctx context.Context, tx *store.Tx, refs []stage.Ref, at int64) (marked int, err error)
	// Score computes outliers and trends as they are with this scroll, which is not
	// completed yet. Doing it twice changes nothing.
	Score(ctx context.Context, scrollID int64) error
}

// Batch is what one transaction archives.
type Batch struct {
	ScrollID int64
	// Subject is the canonicalId of the brief that it was gathered for.
	Subject string
	// Stage is Observe or Archive.
	Stage string
	// At stands for the time of records without one, in Unix milliseconds.
	At int64
	// Once leaves out an observation of the very time at which a video was observed last.
	Once    bool
	Records []stage.Record
}

// Sources is the room's need of source plugins. Errors of a stage are *stage.CallError.
type Sources interface {
	// Source tells what a source serves; no platforms stands for all. ok is false
	// for one that is unknown, not configured, or shut off.
	Source(id string) (platforms []string, refreshes, ok bool)
	Collect(ctx context.Context, id string, run stage.Run, seeds []stage.Seed, emit func([]stage.Record) error) ([]stage.Outcome, error)
	Refresh(ctx context.Context, id string, run stage.Run, refs []stage.Ref, emit func([]stage.Record) error) ([]stage.Outcome, error)
}

// Planners is the room's need of plan plugins, and of what to know of sources to
// plan for them.
type Planners interface {
	// Searches tells whether a source is usable and looks for what it is asked for,
	// elsewhere; one that reads a folder takes what lies there.
	Searches(source string) bool
	// Planner tells whether a plan stage is usable.
	Planner(id string) bool
	Plan(ctx context.Context, id string, run stage.Run, seeds []stage.Seed) ([]stage.Seed, error)
}

// Pages is the room's need of the tenant's own pages; nil reads none.
type Pages interface {
	Read(ctx context.Context, address string) (stage.Page, error)
}

// Filters is the room's need of screen and evidence plugins. next ends with io.EOF.
type Filters interface {
	Screen(ctx context.Context, id string, run stage.Run, next func() ([]stage.Record, error), emit func([]stage.Verdict) error) (stage.Summary, error)
	// Off says why a screen is not set up, or shut off; empty where it may be asked.
	Off(id string) string
	// Looks tells of an evidence stage whether it looks at media; ok is false for one
	// that is unknown, not configured, or shut off.
	Looks(id string) (media, ok bool)
	Evidence(ctx context.Context, id string, run stage.Run, next func() ([]stage.Record, error), emit func([]stage.Finding) error) error
}

// Media is the room's need of the videos themselves. They never leave the folder
// that they are fetched into.
type Media interface {
	// Fetchers names the sources that can fetch videos of a platform, those in first
	// before others.
	Fetchers(platform string, first []string) []string
	// Folder makes an empty one.
	Folder() (MediaFolder, error)
}

// MediaFolder holds the media of some videos until Remove.
type MediaFolder interface {
	// Fetch has a source fetch videos. Files carry their path; what was emitted before
	// an error stays good.
	Fetch(ctx context.Context, source string, run stage.Run, refs []stage.Ref, emit func(stage.File) error) ([]stage.Outcome, error)
	// Evidence is Filters' for records with Media.
	Evidence(ctx context.Context, id string, run stage.Run, next func() ([]stage.Record, error), emit func([]stage.Finding) error) error
	Remove()
}

// Needs is everything that the room asks of others.
type Needs struct {
	Workspaces Workspaces
	Rules      Rules
	Plans      Plans
	Charger    Charger
	Library    Library
	Archiver   Archiver
	Sources    Sources
	Filters    Filters
	Media      Media
	Planners   Planners
	Pages      Pages
}

// Service starts scrolls, follows them and runs them.
type Service struct {
	db      *store.DB
	cfg     Config
	needs   Needs
	history *History
	signals *signals
	get     *store.Statement
	parsed  parsed
	log     *slog.Logger
	now     func() time.Time
}

// New returns the room's service.
func New(db *store.DB, cfg Config, needs Needs, history *History, log *slog.Logger) (*Service, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("scrolls: %w", err)
	}
	return &Service{
		db: db, cfg: cfg, needs: needs, history: history, signals: history.signals,
		get: prepareGet(db), parsed: parsed{entries: map[int64]parsedEntry{}}, log: log, now: time.Now,
	}, nil
}

// Start is what a caller asks for. Nil is absent.
type Start struct {
	Prompt, Template, IdempotencyKey *string
	// Schedule repeats the scroll every so many days.
	Schedule *int
}

// Create starts a scroll, or finds the one that its idempotency key already started.
func (s *Service) Create(ctx context.Context, start Start) (scroll *Scroll, created bool, err error) {
	account, _, ok := viewer.Tenant(ctx)
	if !ok || account == 0 {
		return nil, false, errors.New("create scroll: no tenant in the context")
	}
	if _, known := s.cfg.template(start.Template); !known {
		return nil, false, apierr.Invalid("template", "There is no template of this name.")
	}
	limits, err := s.needs.Plans.Limits(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("create scroll: limits: %w", err)
	}
	subject, briefed, err := s.needs.Workspaces.Subject(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("create scroll: workspace: %w", err)
	}
	err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		scroll, created = nil, false
		if err = lockAccount(ctx, tx, account); err != nil {
			return err
		}
		if start.IdempotencyKey != nil {
			if scroll, err = s.findByKey(ctx, tx, account, *start.IdempotencyKey); scroll != nil || err != nil {
				return err
			}
		}
		if !briefed {
			return apierr.New(apierr.WorkspaceRequired, "Set a workspace before you start a scroll.")
		}
		active, err := countActive(ctx, tx, account)
		if err != nil {
			return err
		}
		if active >= limits.ActiveScrolls {
			return apierr.New(apierr.ScrollActiveLimit, "%d of %d scrolls are already active; wait until one has ended, or cancel it.", active, limits.ActiveScrolls)
		}
		created = true
		scroll, err = s.insert(ctx, tx, account, subject, start)
		if err != nil || start.Schedule == nil {
			return err
		}
		return s.replaceRecurrence(ctx, tx, account, start, scroll.CreatedAt)
	})
	if err != nil {
		return nil, false, fmt.Errorf("create scroll: %w", err)
	}
	return scroll, created, nil
}

// Get returns a scroll of the tenant by its public id, or nil where there is none.
func (s *Service) Get(ctx context.Context, id string) (*Scroll, error) {
	number, ok := publicid.Parse(publicid.Scroll, id)
	if !ok {
		return nil, nil
	}
	return s.load(ctx, number)
}

// List returns a page of the tenant's scrolls, newest first. next is empty at the end.
func (s *Service) List(ctx context.Context, size int, token string) (scrolls []*Scroll, next string, err error) {
	var before int64
	if token != "" {
		var ok bool
		if before, ok = publicid.Parse(pagePrefix, token); !ok {
			return nil, "", apierr.Invalid("pageToken", "This is not a token that a list returned.")
		}
	}
	scrolls, err = s.page(ctx, before, size+1)
	if err != nil {
		return nil, "", fmt.Errorf("list scrolls: %w", err)
	}
	if len(scrolls) > size {
		scrolls = scrolls[:size]
		next = publicid.Format(pagePrefix, scrolls[size-1].ID)
	}
	return scrolls, next, nil
}

const pagePrefix = "page"

// Cancel ends a scroll that has not ended yet, and returns it as it is then; nil
// where there is none. The system may cancel anybody's.
func (s *Service) Cancel(ctx context.Context, id string) (*Scroll, error) {
	number, ok := publicid.Parse(publicid.Scroll, id)
	if !ok {
		return nil, nil
	}
	account, found, err := s.owner(ctx, number)
	if err != nil || !found {
		return nil, err
	}
	ctx = viewer.As(ctx, account)
	err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return s.history.cancel(ctx, tx, account, number)
	})
	if err != nil {
		return nil, fmt.Errorf("cancel scroll %s: %w", id, err)
	}
	return s.load(ctx, number)
}

// StopSchedule ends the tenant's recurrence, and tells whether there was one.
func (s *Service) StopSchedule(ctx context.Context) (stopped bool, err error) {
	if stopped, err = s.deleteRecurrence(ctx); err != nil {
		return false, fmt.Errorf("stop schedule: %w", err)
	}
	return stopped, nil
}

// Watch sends the scroll as it is, then after every change, until it has ended.
func (s *Service) Watch(ctx context.Context, id string, send func(*Scroll) error) error {
	number, ok := publicid.Parse(publicid.Scroll, id)
	if !ok {
		return errNotFound()
	}
	changed, stop := s.signals.watch(number)
	defer stop()
	poll := time.NewTicker(s.cfg.PollEvery)
	defer poll.Stop()
	var last *Scroll
	for {
		scroll, err := s.load(ctx, number)
		switch {
		case err != nil:
			return err
		case scroll == nil:
			return errNotFound()
		case last == nil || !equal(last, scroll):
			if err := send(scroll); err != nil {
				return err
			}
		}
		if last = scroll; scroll.Ended() {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		case <-poll.C:
		}
	}
}

func errNotFound() error { return apierr.New(apierr.NotFound, "There is no scroll of this id.") }
