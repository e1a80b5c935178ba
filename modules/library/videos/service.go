// Package videos keeps the videos of a library: it merges what sources deliver, renders each
// video as JSON when it changes, and stores rows, documents and observations.
//
// Annotations and archive flags belong to the caller: no scroll changes them. What a creator
// wrote is stored byte for byte.
package videos

import (
	"context"
	"encoding/json"

	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Workspace is the need of the research brief.
type Workspace interface {
	// Subject returns the canonicalId of the viewer's brief, empty if the brief
	// names none; exists is false without a brief.
	Subject(ctx context.Context) (canonicalID string, exists bool, err error)
}

// Scrolls is the need of the research runs.
type Scrolls interface {
	// SubjectOf returns the subject that a scroll works for; found is false if the scroll is gone,
	// as those of an account that is being deleted.
	SubjectOf(ctx context.Context, scrollID int64) (subject string, found bool, err error)
	// DeleteVideos deletes what scrolls keep of videos, in the transaction.
	DeleteVideos(ctx context.Context, tx *store.Tx, refs []stage.Ref) error
	// EraseHandle takes a creator out of what scrolls say of their seeds.
	EraseHandle(ctx context.Context, platform string, is func(handle string) bool) error
}

// Dependants is the need of what customers keep of videos elsewhere, such as collections.
type Dependants interface {
	// Copy returns what an undo of the videos' deletion needs of it, by video, in the transaction.
	Copy(ctx context.Context, tx *store.Tx, ids []int64) (map[int64]json.RawMessage, error)
	// Forget deletes what the tenant keeps of videos, in the transaction that deletes them.
	Forget(ctx context.Context, tx *store.Tx, ids []int64) error
	// Restore puts back what Copy returned, in the transaction that brings the videos back. What
	// has no place any more stays out.
	Restore(ctx context.Context, tx *store.Tx, copies map[int64]json.RawMessage) error
}

// Service keeps videos. It is safe for concurrent use.
type Service struct {
	// Vault has the server's keys, Targets are what can be deleted, and Tombstones keep what was
	// deleted out.
	Vault      Vault
	Targets    Targets
	Tombstones Tombstones
	// Catalog answers what the library has.
	Catalog Catalog

	db         *store.DB
	hot        hot
	creators   *creators
	workspace  Workspace
	scrolls    Scrolls
	dependants Dependants
	growth     *score.Table
	method     string
}

// New returns the service. method names the rules by which new libraries are scored, of
// which growth is a part, keys are the server's, and retention is what the policy deletes.
func New(db *store.DB, workspace Workspace, scrolls Scrolls, dependants Dependants, growth *score.Table, method string, keys *secret.Keys, retention []Retention) *Service {
	hot, vault := newHot(db), newVault(keys)
	return &Service{
		db: db, hot: hot, creators: &creators{db, hot}, workspace: workspace, scrolls: scrolls, dependants: dependants, growth: growth, method: method,
		Catalog: Catalog{db, retention}, Vault: vault, Targets: Targets{db}, Tombstones: Tombstones{db, hot, vault},
	}
}

// creators finds out who made videos, and keeps their rows.
type creators struct {
	db  *store.DB
	hot hot
}

// Edits changes videos for their tenant.
type Edits struct{ *Service }
