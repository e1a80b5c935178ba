package rules

import (
	"context"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/rules/split"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Workspace knows the workspace that a ruleset belongs to.
type Workspace interface {
	// ID returns the id of the tenant's workspace; ok is false if none is set.
	ID(ctx context.Context) (id int64, ok bool, err error)
}

// Service keeps the rulesets.
type Service struct {
	db        *store.DB
	hot       hot
	workspace Workspace
	now       func() time.Time
}

// New returns the module's service.
func New(db *store.DB, workspace Workspace) *Service {
	return &Service{db: db, hot: newHot(db), workspace: workspace, now: time.Now}
}

// Get returns the ruleset in force, nil before the first, and its items: those
// in force in text order, then at most MaxArchived archived ones, newest first.
func (s *Service) Get(ctx context.Context) (*Rules, []Item, error) {
	rules, items, err := s.read(ctx, true)
	if err != nil || rules == nil {
		return nil, nil, err
	}
	id, _, err := s.workspace.ID(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("workspace of rules %d: %w", rules.Version, err)
	}
	rules.WorkspaceID = id
	return rules, items, nil
}

// read returns a ruleset with the items that belong to it, which two reads
// alone would not promise beside a writer.
func (s *Service) read(ctx context.Context, archived bool) (*Rules, []Item, error) {
	for {
		rules, _, err := s.hot.load(ctx, nil)
		if err != nil || rules == nil {
			return nil, nil, err
		}
		items, err := s.hot.items(ctx, nil, archived)
		if err != nil {
			return nil, nil, err
		}
		version, err := s.hot.version(ctx)
		if err != nil {
			return nil, nil, err
		}
		if version == rules.Version {
			return rules, items, nil
		}
	}
}

// maxItems bounds the rules of one ruleset: screens compare every video with each.
const maxItems = 500

// itemsOf returns the rules of a text that a caller sent.
func itemsOf(text string) ([]string, error) {
	if err := bounded(text); err != nil {
		return nil, err
	}
	items := split.Rules(text)
	if len(items) > maxItems {
		return nil, apierr.Invalid("text", "must be at most %d rules; it splits into %d", maxItems, len(items))
	}
	return items, nil
}

// Candidate returns the rules that a text would bring into force, as stages see them. A
// rule of the ruleset in force keeps its id; a new one has a number instead.
func Candidate(text string, inForce []stage.Rule) ([]stage.Rule, error) {
	texts, err := itemsOf(text)
	if err != nil {
		return nil, err
	}
	out := make([]stage.Rule, len(texts))
	for i, text := range texts {
		out[i] = stage.Rule{ID: fmt.Sprintf("new_%d", i+1), Text: text}
		for _, rule := range inForce {
			if rule.Text == text {
				out[i].ID = rule.ID
			}
		}
	}
	return out, nil
}

// Put replaces the ruleset; created is false if the text is the one in force.
// Rulesets that race get a version each, one after the other.
func (s *Service) Put(ctx context.Context, text string) (rules Rules, created bool, err error) {
	workspace, ok, err := s.workspace.ID(ctx)
	if err != nil {
		return rules, false, fmt.Errorf("put rules: %w", err)
	}
	if !ok {
		return rules, false, apierr.New(apierr.WorkspaceRequired, "Set the workspace first: POST /v1/workspace.")
	}
	account, _, _ := viewer.Tenant(ctx)
	texts, err := itemsOf(text)
	if err != nil {
		return rules, false, err
	}
	err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.Lock(ctx, "rules", account); err != nil {
			return err
		}
		rules, created, err = s.putIn(ctx, tx, text, texts)
		return err
	})
	if err != nil {
		return rules, false, fmt.Errorf("put rules: %w", err)
	}
	rules.WorkspaceID = workspace
	return rules, created, nil
}

// putIn is Put in its transaction, without the workspace.
func (s *Service) putIn(ctx context.Context, tx *store.Tx, text string, texts []string) (rules Rules, created bool, err error) {
	current, archived, err := s.hot.load(ctx, tx)
	if err != nil {
		return rules, false, err
	}
	if current != nil && current.Text == text {
		return *current, false, nil
	}
	rules = Rules{Version: 1, Text: text, CreatedAt: s.now().UnixMilli()}
	if current != nil {
		rules.Version = current.Version + 1
		rules.CreatedAt = max(rules.CreatedAt, current.CreatedAt)
	}
	active, err := s.hot.items(ctx, tx, false)
	if err != nil {
		return rules, false, err
	}
	back, err := s.hot.back(ctx, tx, others(texts, active))
	if err != nil {
		return rules, false, err
	}
	diff := replace(active, back, texts, rules.Version, rules.CreatedAt, s.db.NewID)
	if archived, err = s.hot.trim(ctx, tx, archived, &diff); err != nil {
		return rules, false, err
	}
	if err := s.hot.insert(ctx, tx, s.db.NewID(), rules, archived); err != nil {
		return rules, false, err
	}
	if current != nil {
		if err := s.hot.retire(ctx, tx, current); err != nil {
			return rules, false, err
		}
	}
	err = feed.Append(ctx, tx, feed.Change{Kind: feed.RulesChanged, Old: feed.Number(rules.Version - 1), New: feed.Number(rules.Version)})
	if err != nil {
		return rules, false, err
	}
	return rules, true, s.hot.save(ctx, tx, diff)
}

// Version returns the version of the ruleset in force; 0 before the first.
func (s *Service) Version(ctx context.Context) (int, error) {
	return s.hot.version(ctx)
}

// Active returns the ruleset in force as stages see it; version 0 before the first.
func (s *Service) Active(ctx context.Context) (version int, items []stage.Rule, err error) {
	rules, rows, err := s.read(ctx, false)
	if err != nil || rules == nil {
		return 0, nil, err
	}
	items = make([]stage.Rule, len(rows))
	for i, row := range rows {
		items[i] = stage.Rule{ID: publicid.Format(publicid.Rule, row.ID), Text: row.Text}
	}
	return rules.Version, items, nil
}
