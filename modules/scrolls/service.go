package scrolls

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/fair"
	"github.com/scrollery/scrollery/modules/kernel/paging"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Workspaces is the need of the brief of the tenant of the context.
type Workspaces interface {
	// Brief returns the brief and its canonicalId, which may be empty.
	Brief(ctx context.Context) (brief stage.Brief, subject string, ok bool, err error)
	// Subject is the cheap half of Brief: each start asks for it.
	Subject(ctx context.Context) (subject string, ok bool, err error)
}

// Rules is the need of the active ruleset: version 0 and no items if there is none.
type Rules interface {
	Active(ctx context.Context) (version int, items []stage.Rule, err error)
}

// Plans is the need of what the tenant of the context has paid for.
type Plans interface {
	Limits(ctx context.Context) (Limits, error)
	// BudgetLeft returns what is left of the budgets of the day and of the month.
	BudgetLeft(ctx context.Context) (Budget, error)
}

// Budget is what is left of the budgets, in units.
type Budget struct {
	Daily, Monthly int64
	// Wait is how long the tenant has to wait until it can spend again; 0 while both
	// budgets have units.
	Wait time.Duration
}

// Limits of a plan. All are 0 without a subscription.
type Limits struct {
	// Active means that the subscription is paid.
	Active bool
	// Blocked means that the operator lets nothing of the account run.
	Blocked bool
	// MaxFeedSize is how many new videos a scroll archives.
	MaxFeedSize int
	// ActiveScrolls is how many may be queued or running at once; a million or more: any number.
	ActiveScrolls int
	// Unmetered means that new videos cost no units.
	Unmetered bool
	// Room is how many more videos the library may have.
	Room int
	// FramedVideos is how many videos of the library keep frames; 0 for none.
	FramedVideos int
}

// Charger is the need of the budget: units are spent with the transaction.
type Charger interface {
	Charge(ctx context.Context, tx *store.Tx, accountID int64, units int) error
}

// Library is the need of the videos that the tenant of the context already has.
type Library interface {
	// Known has an entry for each of the refs that the library has: true if the
	// video has evidence too.
	Known(ctx context.Context, refs []stage.Ref) (map[stage.Ref]bool, error)
	// Tracked returns videos of a platform that should be refreshed, the most important
	// first. after is 0 at first, then the next of the previous call; 0 again at the end.
	Tracked(ctx context.Context, platform string, after int64, limit int) (refs []stage.Ref, next int64, err error)
	// Due returns videos of a platform that the policy deletes soon after a time unless they are
	// read again, the oldest first.
	Due(ctx context.Context, platform string, now time.Time, limit int) ([]stage.Ref, error)
	// Young returns videos of a platform that were posted after a time, in Unix
	// milliseconds, and should be refreshed, the newest first.
	Young(ctx context.Context, platform string, after int64, limit int) ([]stage.Ref, error)
	// LastObserved returns when the known ones of the videos of some records were last
	// observed, and of each record whether Renew would change nothing by it.
	LastObserved(ctx context.Context, records []*stage.Record) (last map[stage.Ref]int64, repeats []bool, err error)
	// ObservedIn returns when some scrolls observed videos, scroll to time; nil for all scrolls.
	ObservedIn(ctx context.Context, scrolls []int64, refs []stage.Ref) (map[stage.Ref]map[int64]int64, error)
}

// Archiver is the need of a library that stores what a scroll found.
type Archiver interface {
	// Archive writes videos and their observations. It returns the videos that are new,
	// and how many known ones it observed. A video that the scroll has already observed
	// gets no second observation.
	Archive(ctx context.Context, tx *store.Tx, batch Batch) (added []stage.Ref, reobserved int, err error)
	// Welcome returns those of some records that no deletion and no erasure keeps out. Archive
	// leaves out the others too.
	Welcome(ctx context.Context, records []*stage.Record) ([]*stage.Record, error)
	// Renew brings documents of known videos up to date without an observation.
	Renew(ctx context.Context, tx *store.Tx, batch Batch) (changed int, err error)
	// Gone marks videos that their platform no longer has; at in Unix milliseconds.
	Gone(ctx context.Context, tx *store.Tx, refs []stage.Ref, at int64) (marked int, err error)
	// Erased returns those of some handles on a platform that the operator erased from all
	// libraries. None is erased between this call and the end of the transaction.
	Erased(ctx context.Context, tx *store.Tx, platform string, handles []string) (map[string]bool, error)
	// KeepFrames deletes the frames of all videos but so many, in transactions of its own.
	KeepFrames(ctx context.Context, videos int) error
	// Score computes outliers and trends as they are with this scroll, which is not
	// completed yet. Doing it twice changes nothing.
	Score(ctx context.Context, scrollID int64) error
}

// Batch is what one transaction archives.
type Batch struct {
	ScrollID int64
	// Subject is the canonicalId of the brief that it was collected for.
	Subject string
	// Stage is the source that delivered the records, but for those of Stages.
	Stage  string
	Stages map[stage.Ref]string
	// At is the time of records that have none, in Unix milliseconds.
	At int64
	// Once leaves out an observation at the time of the video's last one.
	Once bool
	// Bulk says that nothing else waits for this process: it may work on two processors.
	Bulk    bool
	Records []stage.Record
	// Said is what sources said of videos to whose records stages have added something.
	Said map[stage.Ref]stage.Record
	// Frames are what evidence stages looked at. FramedVideos is how many videos of the library
	// keep theirs.
	Frames       map[stage.Ref][]stage.Frame
	FramedVideos int
}

// Stages is the need of plugin stages. Errors of their calls are *stage.CallError;
// what was emitted before an error stays valid. next ends with io.EOF.
type Stages interface {
	// Find describes one stage, outside a session as the operator can use it. An unknown id is
	// not usable.
	Find(id string) Stage
	// List describes all stages.
	List() []Stage
	// Group are the ids that a name in a template stands for: those of a group's stages now,
	// which may be none, or the name itself.
	Group(name string) []string
	Plan(ctx context.Context, id string, run stage.Run, seeds []stage.Seed) ([]stage.Seed, error)
	Collect(ctx context.Context, id string, run stage.Run, seeds []stage.Seed, emit func([]stage.Record) error) ([]stage.Outcome, error)
	Refresh(ctx context.Context, id string, run stage.Run, refs []stage.Ref, emit func([]stage.Record) error) ([]stage.Outcome, error)
	Screen(ctx context.Context, id string, run stage.Run, next func() ([]stage.Record, error), emit func([]stage.Verdict) error) (stage.Summary, error)
	Examiner
	// Folder makes an empty folder for media.
	Folder() (MediaFolder, error)
	// Session is for one start of a scroll, whose stages may share what no other scroll
	// reaches. It describes sources as the tenant of the context can use them, who may have
	// keys of their own. The caller ends it.
	Session(ctx context.Context) (stages Stages, end func(), err error)
}

// Stage describes an installed stage.
type Stage struct {
	ID   string
	Kind stage.Kind
	// Usable means that it can be called now; Resting that it crashed too often and
	// cannot, for a while.
	Usable, Resting bool
	// RestsUntil is when one that rests can be called again, Unix milliseconds; nil for others.
	RestsUntil *int64
	// Off is why it is switched off or not set up; empty for any other reason.
	Off string
	// Platforms that it serves; empty stands for all.
	Platforms []string
	// After are the ids of sources that a source waits for, since they know more of the same
	// videos. A Fallback is asked only for the seeds that they brought nothing for.
	After    []string
	Fallback bool
	// MostRecords is the most that a call of it may emit, and MostSetting what bounds it; 0 if
	// that is not known.
	MostRecords int
	MostSetting string
	// Searches: a source that searches for seeds; any other delivers what a folder holds.
	Searches bool
	// Refreshes: a source that reads known videos again.
	Refreshes bool
	// Requests are the requests to its site that a seed usually takes.
	Requests stage.Cost
	// Keeps names the states of a source, where that is not its id: those of calls with keys of
	// the account are apart.
	Keeps string
	// FetchesMedia: a source that fetches videos. NeedsMedia: an evidence stage that
	// reads them.
	FetchesMedia, NeedsMedia bool
	// AfterEvidence: a screen that judges what evidence stages have looked at.
	AfterEvidence bool
	Version       string
}

// Examiner calls evidence stages.
type Examiner interface {
	Evidence(ctx context.Context, id string, run stage.Run, next func() ([]stage.Record, error), emit func([]stage.Finding) error) error
}

// called reports whether a scroll calls the stage. It calls one that rests: the result says until
// when.
func (s Stage) called() bool { return s.Usable || s.Resting }

// MediaFolder holds the media of some videos until Remove. They are never copied out
// of it. Its Evidence takes records that name their Media.
type MediaFolder interface {
	Examiner
	// Fetch has a source fetch videos. Files have their path.
	Fetch(ctx context.Context, source string, run stage.Run, refs []stage.Ref, emit func(stage.File) error) ([]stage.Outcome, error)
	Remove()
}

// Pages is the need of the tenant's own web pages; nil reads none.
type Pages interface {
	Read(ctx context.Context, address string) (stage.Page, error)
}

// Quotas is the need of what sites still grant the tenant of the context; nil knows of
// no quotas.
type Quotas interface {
	// Left returns the quotas of a source, for a tenant that needs what so many seeds
	// usually take. It spends nothing.
	Left(ctx context.Context, source string, handles, terms int) ([]QuotaLeft, error)
}

// QuotaLeft is what is left of one quota.
type QuotaLeft struct {
	Name string
	// Needed, Limit and Left are units; Left is what this tenant would be granted now.
	Needed, Limit, Left int64
	// RetryAt is when Needed is granted, Unix milliseconds; nil if that is now, or
	// where Needed is more than Limit.
	RetryAt *int64
	// Money: the units are millionths of a US dollar.
	Money bool
}

// Needs is everything that this module needs of others.
type Needs struct {
	Workspaces Workspaces
	Rules      Rules
	Plans      Plans
	Charger    Charger
	Library    Library
	Archiver   Archiver
	Stages     Stages
	Pages      Pages
	Quotas     Quotas
	Imports    Imports
}

// Imports is the need of the readings of queued imports.
type Imports interface {
	// Readings returns the readings of the import of a scroll, from the first one; nil if
	// the scroll is a command's.
	Readings(ctx context.Context, scrollID int64) (*Source, error)
}

// Service starts scrolls, follows them and runs them.
type Service struct {
	db      *store.DB
	cfg     Config
	needs   Needs
	history *History
	signals *signals
	// places are for scrolls that work, opened for those that have begun.
	places, opened *fair.Places

	hot hot
	log *slog.Logger
	now func() time.Time

	looking sync.Mutex // guards missed
	// missed are the heartbeats of the scrolls that the last look of Rescue found lost.
	missed map[int64]int64
}

// New returns the module's service.
func New(db *store.DB, cfg Config, needs Needs, history *History, log *slog.Logger) (*Service, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("scrolls: %w", err)
	}
	if cfg.Observer == nil {
		cfg.Observer = noObserver{}
	}
	history.observer = cfg.Observer
	return &Service{
		db: db, cfg: cfg, needs: needs, history: history, signals: history.signals, places: fair.New(cfg.Concurrency),
		opened: fair.NewEach(opened*cfg.Concurrency, max(1, opened*cfg.Concurrency/4)),
		hot:    newHot(db), log: log, now: time.Now,
	}, nil
}

// Get returns a scroll of the tenant by its public id, or nil if there is none.
func (s *Service) Get(ctx context.Context, id string) (*Scroll, error) {
	number, ok := publicid.Parse(publicid.Scroll, id)
	if !ok {
		return nil, nil
	}
	return s.load(ctx, number)
}

// List returns a page of the tenant's scrolls, newest first. next is empty at the end.
func (s *Service) List(ctx context.Context, size int, token string) (scrolls []*Scroll, next string, err error) {
	from, err := paging.Start(token)
	if err != nil {
		return nil, "", err
	}
	scrolls, err = s.page(ctx, from, size+1)
	if err != nil {
		return nil, "", fmt.Errorf("list scrolls: %w", err)
	}
	scrolls, next = paging.Cut(scrolls, size, func(s *Scroll) int64 { return s.ID })
	return scrolls, next, nil
}

// Cancel cancels a scroll that has not ended, and returns it as it is then; nil if
// there is none. The system may cancel scrolls of all tenants.
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
		return s.history.cancel(ctx, tx, number)
	})
	if err != nil {
		return nil, fmt.Errorf("cancel scroll %s: %w", id, err)
	}
	return s.load(ctx, number)
}

// StopSchedule deletes the tenant's recurrence, and reports whether there was one.
func (s *Service) StopSchedule(ctx context.Context) (stopped bool, err error) {
	if stopped, err = (schedules{s}).deleteRecurrence(ctx); err != nil {
		return false, fmt.Errorf("stop schedule: %w", err)
	}
	return stopped, nil
}

// Watch sends the scroll as it is now, then after every change, until it has ended.
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
