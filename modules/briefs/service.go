package briefs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/fair"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/kernel/visible"
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

// Collections is the need of the collections of videos.
type Collections interface {
	// First returns the public ids of the first videos of a collection; found is false for an
	// unknown one.
	First(ctx context.Context, id string, most int) (videos []string, found bool, err error)
}

// Videos is the need of single videos, as REST shows them.
type Videos interface {
	// Video shows a video with its outlier and its hook.
	Video(ctx context.Context, id string) ([]byte, error)
	// Videos shows those of the videos that are there with their hooks, in the order of ids.
	Videos(ctx context.Context, ids []string) ([]byte, error)
}

// Charges takes the fee of a brief, or fails with PaymentRequired. The returned context
// ends if the charge was closed by another process, which takes this one for lost.
type Charges interface {
	Open(ctx context.Context, account, fee int64) (alive context.Context, charge Charge, err error)
}

// Charge is the fee of a brief until it is answered.
type Charge interface {
	// Close keeps the fee of what was spent and returns any other. A call whose Close
	// fails has no answer: its fee is returned, if owed by a job.
	Close(ctx context.Context, spent bool) (owed bool, err error)
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
	Workspaces  Workspaces
	Rules       Rules
	Library     Library
	Collections Collections
	Videos      Videos
	Charges     Charges
	Stages      Stages
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

// Draft drafts a brief about the focus, which may be empty, from a collection, or from the lists
// of the library if it is empty. The fee is taken first, and
// returned if the call fails, or if there is nothing to state: an empty library, or hooks
// without words. A call that the caller gives up while the model writes costs the fee. A
// tenant drafts one at a time. A focus that no model reads is refused. It fails with RateLimited if no place is free in time, and
// with PaymentRequired before anything is drafted if the credits do not suffice.
func (s *Service) Draft(ctx context.Context, focus, collection string) (*Draft, error) {
	account, all, ok := viewer.Tenant(ctx)
	if !ok || all {
		return nil, fmt.Errorf("draft a brief: no account in the context")
	}
	if focus != "" && !s.ready() {
		return nil, apierr.Invalid("focus", "is for servers with a model: without one no sentence would be about it. Nothing was charged")
	}
	run, err := s.run(ctx, focus)
	if err != nil {
		return nil, err
	}
	held, leave, err := s.enter(ctx, account)
	if err != nil {
		return nil, err
	}
	defer leave()
	var facts []stage.Fact
	var notes []string
	if collection != "" {
		facts, notes, err = s.collected(ctx, collection)
	} else {
		facts, notes, err = s.facts(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("draft a brief: %w", err)
	}
	draft := &Draft{Composer: counts, Facts: facts, Notes: notes}
	if len(facts) == 0 || !s.ready() && len(compose(facts)) == 0 {
		return draft, nil
	}
	if s.config.Fee > 0 {
		return s.paid(ctx, held, account, draft, run)
	}
	if err := s.compose(held, draft, run); err != nil {
		return nil, err
	}
	return draft, nil
}

// paid drafts for the fee, as long as held lasts; ctx is the caller's, who pays for leaving.
func (s *Service) paid(ctx, held context.Context, account int64, draft *Draft, run stage.Run) (*Draft, error) {
	alive, charge, err := s.needs.Charges.Open(held, account, s.config.Fee)
	if err != nil {
		return nil, fmt.Errorf("take the fee of a brief: %w", err)
	}
	err = s.compose(alive, draft, run)
	stated := err == nil && len(draft.Sentences) > 0
	owed, failed := charge.Close(ctx, stated || errors.Is(err, errGivenUp) && ctx.Err() != nil)
	switch {
	case failed == nil && stated:
		draft.Fee = s.config.Fee
		return draft, nil
	case failed == nil && err == nil:
		return draft, nil
	case failed == nil:
		return nil, err
	case errors.Is(failed, apierr.ErrUnknown):
		return nil, failed // neither the brief nor an answer about the fee may be given
	}
	message := "The brief could not be drafted; its fee is returned."
	if owed {
		message = "The brief could not be drafted; its fee will be returned."
	}
	return nil, &apierr.Error{Kind: apierr.OperationError, Message: message, Cause: errors.Join(err, failed)}
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

// enter waits for a place in this process, then until no other one drafts for the account. held
// ends when another process may draft.
func (s *Service) enter(ctx context.Context, account int64) (held context.Context, leave func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	place, err := s.places.Enter(waiting, account)
	for err == nil {
		var give func()
		if held, give, err = s.db.TryLock(ctx, "brief", account); err == nil {
			return held, func() { give(); place() }, nil
		}
		if errors.Is(err, store.ErrTaken) {
			select {
			case <-waiting.Done():
			case <-time.After(look):
				err = nil
			}
		}
	}
	if place != nil {
		place()
	}
	switch {
	case ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	case waiting.Err() == nil:
		return nil, nil, fmt.Errorf("draft a brief: %w", err)
	}
	return nil, nil, &apierr.Error{Kind: apierr.RateLimited, RetryAfter: wait, Message: "Another brief is being drafted. An account has one at a time: try again when it has ended."}
}

// ready reports whether a stage writes the sentences.
func (s *Service) ready() bool { return s.config.Stage != "" && s.needs.Stages.Ready(s.config.Stage) }

// errGivenUp is the error of a draft whose caller left while the stage wrote.
var errGivenUp = errors.New("the brief was given up")

// cleaned are facts for a model: what creators wrote is cleaned of what people do not see.
func cleaned(facts []stage.Fact) []stage.Fact {
	facts = slices.Clone(facts)
	for i := range facts {
		f := &facts[i]
		for _, text := range []*string{&f.Handle, &f.Caption, &f.Spoken, &f.OnScreenText, &f.Visual, &f.Label} {
			*text, _ = visible.Clean(*text)
		}
	}
	return facts
}

// compose has the stage write the sentences, and falls back on the built-in composer.
func (s *Service) compose(ctx context.Context, draft *Draft, run stage.Run) error {
	if id := s.config.Stage; s.ready() {
		limited, cancel := context.WithTimeout(ctx, s.config.Time)
		sentences, dropped, err := s.needs.Stages.Brief(limited, id, run, cleaned(draft.Facts))
		cancel()
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("%w: %w", errGivenUp, context.Cause(ctx))
		case err != nil:
			draft.Dropped = dropped
			s.log.Warn("the stage of briefs failed; the built-in composer drafts", "stage", id, "error", err)
			draft.Notes = append(draft.Notes, "The model could not be used; these are counts and quotes.")
		case len(sentences) == 0:
			draft.Dropped = dropped
			draft.Notes = append(draft.Notes, "The model wrote no sentence with valid citations; these are counts and quotes.")
		default:
			for i := range sentences { // a model may have been talked into writing to others
				sentences[i].Text, _ = visible.Clean(sentences[i].Text)
			}
			draft.Composer, draft.Sentences, draft.Dropped = id, sentences, dropped
			return nil
		}
	}
	if run.Prompt != "" { // no one would write about it
		return &apierr.Error{Kind: apierr.OperationError, Message: "The model could not write about `focus`. Nothing was charged: try again later, or without `focus`."}
	}
	draft.Sentences = compose(draft.Facts)
	return nil
}
