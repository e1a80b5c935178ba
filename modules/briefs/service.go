package briefs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/fair"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Workspaces is the need of the tenant's brief.
type Workspaces interface {
	Brief(ctx context.Context) (brief stage.Brief, subject string, ok bool, err error)
}

// Rules is the need of the active ruleset.
type Rules interface {
	Active(ctx context.Context) (version int, items []stage.Rule, err error)
}

// Library shows the first page of `hooks`, `outliers` or `trends`, as REST does.
type Library interface {
	View(ctx context.Context, name string) (json.RawMessage, error)
}

// Credits are what a brief is paid with. Balance is what can be spent.
type Credits interface {
	Balance(ctx context.Context, accountID int64) (int64, error)
	Spend(ctx context.Context, tx *store.Tx, accountID, credits int64, reference, reason string) error
}

// Stages is the need of the stage that writes sentences.
type Stages interface {
	// Ready reports whether a stage of the kind brief can be asked.
	Ready(id string) bool
	// Brief returns its sentences that cite facts alone, and counts the others.
	Brief(ctx context.Context, id string, run stage.Run, facts []stage.Fact) (sentences []stage.Sentence, dropped int, err error)
}

// Needs are what the module needs of others.
type Needs struct {
	Workspaces Workspaces
	Rules      Rules
	Library    Library
	Credits    Credits
	Stages     Stages
}

const (
	// places is how many briefs one process drafts at once. A tenant has one at a time in
	// all processes.
	places = 4
	// wait is how long a call waits for a place.
	wait = 5 * time.Second
	// look is the time between two looks whether another process still drafts.
	look = 200 * time.Millisecond
	// counts is the name of the built-in composer.
	counts = "counts"
	// reasonFee is the reason of the fee's entry.
	reasonFee = "fee"
)

// Service drafts briefs. It is safe for concurrent use.
type Service struct {
	config Config
	db     *store.DB
	needs  Needs
	places *fair.Places
	log    *slog.Logger
}

// New returns the service.
func New(cfg Config, db *store.DB, needs Needs, log *slog.Logger) (*Service, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("briefs: %w", err)
	}
	return &Service{config: cfg, db: db, needs: needs, places: fair.NewEach(places, 1), log: log}, nil
}

// Draft is a brief.
type Draft struct {
	// Composer is `counts` or the id of a stage.
	Composer  string
	Sentences []stage.Sentence
	// Dropped counts the sentences of the stage that were left out.
	Dropped int
	// Facts are what the composer read; none: there is nothing to draft from.
	Facts []stage.Fact
	// Fee is what was paid.
	Fee   int64
	Notes []string
}

// Draft drafts a brief about the focus, which may be empty. The fee is taken when the
// brief is there: a call that fails, or is given up, costs nothing, and neither does one
// that finds nothing to state: an empty library, or hooks without words. A tenant drafts one at a time: it fails with RateLimited
// where no place is free in time, and with PaymentRequired before anything is drafted
// where the credits do not suffice.
func (s *Service) Draft(ctx context.Context, focus string) (*Draft, error) {
	account, all, ok := viewer.Tenant(ctx)
	if !ok || all {
		return nil, fmt.Errorf("draft a brief: no account in the context")
	}
	run, err := s.run(ctx, focus)
	if err != nil {
		return nil, err
	}
	leave, err := s.enter(ctx, account)
	if err != nil {
		return nil, err
	}
	defer leave()
	facts, notes, err := s.facts(ctx)
	if err != nil {
		return nil, fmt.Errorf("draft a brief: %w", err)
	}
	draft := &Draft{Composer: counts, Facts: facts, Notes: notes}
	if len(facts) == 0 {
		return draft, nil
	}
	if err := s.affords(ctx, account); err != nil {
		return nil, err
	}
	if err := s.compose(ctx, draft, run); err != nil {
		return nil, err
	}
	if len(draft.Sentences) == 0 {
		return draft, nil
	}
	if err := s.pay(ctx, account); err != nil {
		return nil, err
	}
	draft.Fee = s.config.Fee
	return draft, nil
}

// run is what the stage gets to know of the tenant.
func (s *Service) run(ctx context.Context, focus string) (stage.Run, error) {
	brief, _, ok, err := s.needs.Workspaces.Brief(ctx)
	if err != nil {
		return stage.Run{}, fmt.Errorf("draft a brief: load the workspace: %w", err)
	}
	if !ok {
		return stage.Run{}, apierr.New(apierr.WorkspaceRequired, "Set a workspace before you draft a brief.")
	}
	_, rules, err := s.needs.Rules.Active(ctx)
	if err != nil {
		return stage.Run{}, fmt.Errorf("draft a brief: load the rules: %w", err)
	}
	return stage.Run{Number: 1, Brief: brief, Rules: rules, Prompt: focus, Now: time.Now().UnixMilli()}, nil
}

// enter waits for a place in this process, then until no other one drafts for the account.
func (s *Service) enter(ctx context.Context, account int64) (leave func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	leave, err = s.places.Enter(waiting, account)
	if err == nil {
		place := leave
		var give func()
		if give, err = s.alone(waiting, account); err == nil {
			return func() { give(); place() }, nil
		}
		place()
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case waiting.Err() == nil:
		return nil, fmt.Errorf("draft a brief: %w", err)
	}
	return nil, &apierr.Error{Kind: apierr.RateLimited, RetryAfter: wait, Message: "Another brief is being drafted. An account has one at a time: try again when it has ended."}
}

// alone waits until no other process drafts for the account. It fails when ctx ends.
func (s *Service) alone(ctx context.Context, account int64) (give func(), err error) {
	for {
		give, err := s.db.Alone(ctx, "brief", account)
		if !errors.Is(err, store.ErrTaken) {
			return give, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(look):
		}
	}
}

// affords refuses a call whose account cannot pay. Another call may spend the credits
// before this one does; then it fails at the end.
func (s *Service) affords(ctx context.Context, account int64) error {
	if s.config.Fee == 0 {
		return nil
	}
	free, err := s.needs.Credits.Balance(ctx, account)
	if err != nil {
		return fmt.Errorf("draft a brief: load the credits: %w", err)
	}
	if free < s.config.Fee {
		return &apierr.Error{
			Kind: apierr.PaymentRequired, Required: s.config.Fee, Balance: free,
			Message: fmt.Sprintf("This takes %d credits and the balance is %d.", s.config.Fee, free),
		}
	}
	return nil
}

// pay takes the fee, in one transaction with the usage event.
func (s *Service) pay(ctx context.Context, account int64) error {
	if s.config.Fee == 0 {
		return nil
	}
	reference := "brief:" + strconv.FormatInt(s.db.NewID(), 10)
	err := s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return s.needs.Credits.Spend(ctx, tx, account, s.config.Fee, reference, reasonFee)
	})
	if err != nil {
		return fmt.Errorf("take the fee of a brief: %w", err)
	}
	return nil
}

// compose has the stage write the sentences, and falls back on the built-in composer.
func (s *Service) compose(ctx context.Context, draft *Draft, run stage.Run) error {
	if id := s.config.Stage; id != "" && s.needs.Stages.Ready(id) {
		limited, cancel := context.WithTimeout(ctx, s.config.Time)
		sentences, dropped, err := s.needs.Stages.Brief(limited, id, run, draft.Facts)
		cancel()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			draft.Dropped = dropped
			s.log.Warn("the stage of briefs failed; the built-in composer drafts", "stage", id, "error", err)
			draft.Notes = append(draft.Notes, "The model could not be used; these are counts and quotes.")
		case len(sentences) == 0:
			draft.Dropped = dropped
			draft.Notes = append(draft.Notes, "The model wrote no sentence with valid citations; these are counts and quotes.")
		default:
			draft.Composer, draft.Sentences, draft.Dropped = id, sentences, dropped
			return nil
		}
	}
	if run.Prompt != "" {
		draft.Notes = append(draft.Notes, "The built-in composer does not use `focus`.")
	}
	draft.Sentences = compose(draft.Facts)
	return nil
}
