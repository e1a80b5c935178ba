// Package feed appends to the change feeds of accounts.
//
// A change is appended in the transaction that makes it. The feed of an account is
// numbered from 1 without gaps, under the lock of its row, which is the last lock of the
// transaction: the order of the numbers is the order of the commits, so a reader that
// goes by numbers misses none. A change has ids and numbers, and never a text that a
// creator wrote. The module changes shows the feed and deletes old changes.
package feed

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// Kind names what changed.
type Kind string

// The kinds, as callers see them.
const (
	VideoAdded      Kind = "video.added"
	VideoReobserved Kind = "video.reobserved"
	VideoGone       Kind = "video.gone"
	VideoArchived   Kind = "video.archived"
	VideoRestored   Kind = "video.restored"
	VideoAnnotated  Kind = "video.annotated"
	VideoDeleted    Kind = "video.deleted"
	HookChanged     Kind = "hook.changed"
	OutlierEntered  Kind = "outlier.entered"
	OutlierLeft     Kind = "outlier.left"
	TrendEntered    Kind = "trend.entered"
	TrendLeft       Kind = "trend.left"
	ScrollStarted   Kind = "scroll.started"
	ScrollStage     Kind = "scroll.stage"
	ScrollCompleted Kind = "scroll.completed"
	ScrollFailed    Kind = "scroll.failed"
	ScrollCancelled Kind = "scroll.cancelled"
	RulesChanged    Kind = "rules.changed"
	WorkspaceChange Kind = "workspace.changed"
	KeyCreated      Kind = "key.created"
	KeyRevoked      Kind = "key.revoked"
	Subscription    Kind = "subscription.changed"
)

// Kinds returns every kind, in the order in which they are documented.
func Kinds() []Kind {
	return []Kind{
		VideoAdded, VideoReobserved, VideoGone, VideoArchived, VideoRestored, VideoAnnotated, VideoDeleted, HookChanged,
		OutlierEntered, OutlierLeft, TrendEntered, TrendLeft,
		ScrollStarted, ScrollStage, ScrollCompleted, ScrollFailed, ScrollCancelled,
		RulesChanged, WorkspaceChange, KeyCreated, KeyRevoked, Subscription,
	}
}

// Change is one entry of a feed. Ids and numbers that its kind does not have are absent.
type Change struct {
	Kind Kind
	// Video and Scroll are the rows that it is about; 0 for none.
	Video, Scroll int64
	// Subject is the key or workspace that it is about; 0 for none.
	Subject int64
	// Word is one of the service's own words: a step, a failure code, the state of a
	// subscription, the hash of a trend's key. Never a creator's text.
	Word string
	// Old and New are a number before and after the change.
	Old, New sql.NullFloat64
}

// Number is a known Old or New.
func Number[N int | int64 | float64](n N) sql.NullFloat64 {
	return sql.NullFloat64{Float64: float64(n), Valid: true}
}

// Keep is how long changes are kept at least, before the module changes deletes them.
const Keep = 30 * 24 * time.Hour

var errNoTenant = errors.New("append changes: no account in the context")

// Append adds changes to the feed of the viewer's account. They are numbered and written
// at the end of the transaction, together with all others of the account.
func Append(ctx context.Context, tx *store.Tx, changes ...Change) error {
	account, all, ok := viewer.Tenant(ctx)
	if !ok || all {
		return errNoTenant
	}
	AppendTo(tx, account, changes...)
	return nil
}

// AppendTo is Append for the account that is named.
func AppendTo(tx *store.Tx, account int64, changes ...Change) {
	if len(changes) == 0 {
		return
	}
	all := tx.Defer(pendingKey{}, func() store.DeferredWrite { return &pending{byAccount: map[int64][]Change{}} }).(*pending)
	all.byAccount[account] = append(all.byAccount[account], changes...)
}

type pendingKey struct{}

// pending are the changes of one transaction.
type pending struct{ byAccount map[int64][]Change }

// rowsAtOnce keeps a statement within the number of placeholders that SQLite takes.
const rowsAtOnce = 1000

// Write implements store.DeferredWrite.
func (p *pending) Write(ctx context.Context, tx *store.Tx) error {
	accounts := make([]int64, 0, len(p.byAccount))
	for account := range p.byAccount {
		accounts = append(accounts, account)
	}
	slices.SortFunc(accounts, cmp.Compare[int64]) // feeds are locked in one order
	for _, account := range accounts {
		if err := write(viewer.As(ctx, account), tx, p.byAccount[account]); err != nil {
			return fmt.Errorf("append %d changes: %w", len(p.byAccount[account]), err)
		}
		tx.Notify(account)
	}
	return nil
}

func write(ctx context.Context, tx *store.Tx, changes []Change) error {
	now := time.Now()
	raise := tx.Hot(`INSERT INTO feeds (id, {owner}, seq, floor, trim_at) VALUES ($1, {account}, $2, 0, $3)
ON CONFLICT ({owner}) DO UPDATE SET seq = feeds.seq + excluded.seq RETURNING seq`)
	last, _, err := store.OneIn[int64](ctx, tx, raise, tx.NewID(), int64(len(changes)), now.Add(Keep).UnixMilli())
	if err != nil {
		return err
	}
	insert := tx.Hot(`INSERT INTO changes ({owner}, seq, at, kind, video_id, scroll_id, subject_id, word, was, became) VALUES {rows:1}`)
	seq := last - int64(len(changes))
	for part := range slices.Chunk(changes, rowsAtOnce) {
		rows := make([][]any, len(part))
		for i := range part {
			c := &part[i]
			seq++
			rows[i] = []any{seq, now.UnixMilli(), string(c.Kind), id(c.Video), id(c.Scroll), id(c.Subject), word(c.Word), number(c.Old), number(c.New)}
		}
		if _, err := insert.ExecIn(ctx, tx, rows); err != nil {
			return err
		}
	}
	return nil
}

func id(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

func word(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func number(n sql.NullFloat64) any {
	if !n.Valid {
		return nil
	}
	return n.Float64
}
