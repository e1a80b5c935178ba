package library

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/insight"
	"github.com/scrollery/scrollery/modules/library/score"
)

// Workspace is the need of the research brief.
type Workspace interface {
	// Subject returns the canonicalId of the viewer's brief, empty where the brief
	// names none; exists is false without a brief.
	Subject(ctx context.Context) (canonicalID string, exists bool, err error)
}

// Scrolls is the need of the research runs.
type Scrolls interface {
	// Completed counts the completed scrolls of a subject.
	Completed(ctx context.Context, subject string) (total int, err error)
	// CompletedOf returns those of the scrolls that are completed, in any order.
	CompletedOf(ctx context.Context, scrollIDs []int64) ([]int64, error)
	// SubjectOf returns the subject that a scroll works for.
	SubjectOf(ctx context.Context, scrollID int64) (string, error)
}

// Service keeps the library. It is safe for concurrent use.
type Service struct {
	db        *store.DB
	hot       hot
	workspace Workspace
	scrolls   Scrolls
	cfg       Config
	// method names what libraries are scored by: all rules, and the growth table.
	method    string
	isGeneric func(key string) bool
	pages     *pages
	// insight takes the numbers apart, and keeps the scores of each scroll.
	insight *insight.Service
}

// New returns the module's service.
func New(cfg Config, db *store.DB, workspace Workspace, scrolls Scrolls) (*Service, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("library: %w", err)
	}
	if cfg.Growth == nil {
		cfg.Growth = score.DefaultTable()
	}
	s := &Service{
		db: db, hot: newHot(db), workspace: workspace, scrolls: scrolls, cfg: cfg,
		method: "1 " + cfg.Growth.Method(), isGeneric: score.Generic(cfg.Generic),
	}
	var err error
	if s.pages, err = newPages(cfg.PageCacheBytes); err != nil {
		return nil, fmt.Errorf("library: %w", err)
	}
	s.insight = insight.New(s.source())
	return s, nil
}

// source is the library as the package insight needs it.
func (s *Service) source() insight.Source {
	return insight.Source{
		DB: s.db, Growth: s.cfg.Growth, Subject: s.subject, Completed: s.scrolls.Completed, Outlier: showOutlier,
		Runs: func(ctx context.Context, subject string) (ids []int64, err error) {
			runs, _, err := s.runs(ctx, s.outside(), subject, 0)
			for _, r := range runs {
				ids = append(ids, r.scroll)
			}
			return ids, err
		},
		Window: func(ctx context.Context, subject string) (*score.Window, error) {
			return s.window(ctx, s.outside(), subject)
		},
		Past: s.past, Stored: s.stored, IsGeneric: s.isGeneric,
		Carriers: func(ctx context.Context, ids []int64) ([]score.Carrier, error) {
			return s.carriersOf(ctx, s.outside(), ids)
		},
		Niche: func(ctx context.Context, target score.Reading) *score.Niche {
			peers := &nicheReader{s: s, read: s.outside(), kind: target.Kind, latest: target.LatestPeer()}
			return s.cfg.Growth.Niche(func(undated bool, last *score.Reading) ([]score.Reading, error) {
				return peers.load(ctx, undated, last)
			})
		},
	}
}

// Outcomes of changes to a video.
const (
	Updated           = "updated"
	NotFound          = "not_found"
	WorkspaceRequired = "workspace_required"
)

// ArchiveVideo archives or restores a video, or only its hook. Doing it again changes nothing.
func (s *Service) ArchiveVideo(ctx context.Context, videoID string, hookOnly, archived bool) (outcome string, err error) {
	return s.change(ctx, videoID, func(ctx context.Context, tx *store.Tx, id int64) (bool, error) {
		return s.archiveVideo(ctx, tx, id, hookOnly, archived)
	})
}

// Annotate replaces the caller's annotations of a video; null clears them. It
// returns the video's JSON once updated. The API has checked their bounds.
func (s *Service) Annotate(ctx context.Context, videoID string, metadata json.RawMessage) (outcome string, video []byte, err error) {
	outcome, err = s.change(ctx, videoID, func(ctx context.Context, tx *store.Tx, id int64) (found bool, err error) {
		video, err = s.annotate(ctx, tx, id, metadata)
		return video != nil, err
	})
	return outcome, video, err
}

// change runs do on a video in one transaction; do reports whether there is such a video.
func (s *Service) change(ctx context.Context, videoID string,
	do func(ctx context.Context, tx *store.Tx, id int64) (bool, error),
) (outcome string, err error) {
	if _, exists, err := s.workspace.Subject(ctx); err != nil || !exists {
		return WorkspaceRequired, err
	}
	id, ok := publicid.Parse(publicid.Video, videoID)
	if !ok {
		return NotFound, nil
	}
	err = s.hold(ctx, func(ctx context.Context, tx *store.Tx) error {
		found, err := do(ctx, tx, id)
		if err != nil {
			return err
		}
		if outcome = Updated; !found {
			outcome = NotFound
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("change video %d: %w", id, err)
	}
	return outcome, nil
}
