package videos

import "github.com/scrollery/scrollery/modules/kernel/store"

// Deletions deletes videos and readings, and brings them back.
type Deletions struct{ videos *Service }

// NewDeletions deletes videos of a service.
func NewDeletions(v *Service) Deletions { return Deletions{v} }

// Targets finds what is to be deleted: videos of creators, of scrolls and of sources.
type Targets struct{ db *store.DB }

// Tombstones keep out of libraries what was deleted from one or erased from all.
type Tombstones struct {
	db    *store.DB
	hot   hot
	vault Vault
}

// Sweeps delete what has reached its age: videos, texts, readings that others stand for, and
// words that no video has any more.
type Sweeps struct {
	db        *store.DB
	deletions Deletions
}

// Sweeps are of the videos that d deletes.
func (d Deletions) Sweeps() Sweeps { return Sweeps{d.videos.db, d} }
