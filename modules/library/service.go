package library

import (
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
	"github.com/scrollery/scrollery/modules/library/insight"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/modules/library/removal"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/modules/library/scoring"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// Workspace is the need of the research brief.
type Workspace interface{ videos.Workspace }

// Scrolls is the need of the research runs.
type Scrolls interface {
	lists.Scrolls
	scoring.Scrolls
	videos.Scrolls
}

// Imports is the need of the files that customers brought.
type Imports interface{ removal.Imports }

// Kept is the need of the log of removals.
type Kept interface{ removal.Kept }

// Dependants is the need of what customers keep of videos elsewhere.
type Dependants interface{ videos.Dependants }

// Library is a library with all of its parts. It is safe for concurrent use.
type Library struct {
	Videos  *videos.Service
	Lists   *lists.Service
	Scoring *scoring.Service
	Insight *insight.Service
	Removal *removal.Service
}

// New returns the module's parts. retention and thinning are what the policy deletes for its age.
func New(cfg Config, db *store.DB, workspace Workspace, scrolls Scrolls, imports Imports, dependants Dependants, kept Kept, retention []videos.Retention, thinning videos.Thinning) (*Library, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("library: %w", err)
	}
	if cfg.Growth == nil {
		cfg.Growth = score.DefaultTable()
	}
	cfg.Growth = cfg.Growth.With(cfg.Epochs)
	pages, err := lists.NewPages(cfg.PageCacheBytes)
	if err != nil {
		return nil, fmt.Errorf("library: %w", err)
	}
	isGeneric := score.Generic(cfg.Generic)
	l := &Library{Videos: videos.New(db, workspace, scrolls, dependants, cfg.Growth, scoring.Method(cfg.Growth), videos.KeysOf(db, cfg.SecretKey), retention)}
	l.Scoring = scoring.New(db, l.Videos, scrolls, cfg.Growth, isGeneric)
	l.Lists = lists.New(db, l.Videos, workspace, scrolls, l.Scoring.Trends, pages)
	l.Insight = insight.New(insight.Source{
		DB: db, Lists: l.Lists, Growth: cfg.Growth, Subject: l.Lists.Subject, Newest: l.Lists.Newest, Completed: scrolls.Completed, Outlier: videos.ShowOutlier,
		Runs: l.Scoring.Windows.Runs, Window: l.Scoring.Windows.Window, Past: l.Scoring.Windows.Past, Stored: l.Scoring.Trends.Stored, IsGeneric: isGeneric,
		Carriers: l.Scoring.Windows.Carriers, Niche: l.Scoring.Windows.Niche,
	})
	thinning.Unneeded = l.Scoring.Windows.Unneeded
	l.Removal = removal.New(db, l.Videos, imports, kept, retention, thinning)
	return l, nil
}

// Operations mounts the module on every protocol.
func (l *Library) Operations(m *api.Mux) {
	l.Lists.Operations(m)
	videos.Edits{Service: l.Videos}.Operations(m)
	l.Insight.Operations(m)
	l.Removal.Operations(m)
}

// Workers returns the work of the module.
func (l *Library) Workers() []jobs.Worker {
	return append(l.Scoring.Workers(), l.Removal.Workers()...)
}

// Periodics returns the module's housekeeping.
func (l *Library) Periodics() []jobs.Periodic {
	return slices.Concat(l.Scoring.Periodics(), l.Videos.Periodics(), l.Removal.Periodics())
}
