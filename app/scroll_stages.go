package app

import (
	"context"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/modules/scrolls"
	"github.com/scrollery/scrollery/plugins/stage"
)

// scrollStages is the plugin host as a scroll needs it.
type scrollStages struct{ *host.Host }

func (s scrollStages) Find(id string) scrolls.Stage {
	plugin, _ := s.Host.Find(id)
	return installed(plugin)
}

func (s scrollStages) List() (all []scrolls.Stage) {
	for _, plugin := range s.Host.List() {
		all = append(all, installed(plugin))
	}
	return all
}

func (s scrollStages) Folder() (scrolls.MediaFolder, error) { return s.MediaFolder() }

func (s scrollStages) Session(ctx context.Context) (stages scrolls.Stages, end func(), err error) {
	owned, err := s.Owned(ctx)
	if err != nil {
		return nil, nil, err
	}
	session := s.Host.Session()
	return sessionStages{s, session, owned}, session.Close, nil
}

// calls are those of one start of a scroll.
type calls = host.Session

// sessionStages are the stages of one start of a scroll.
type sessionStages struct {
	scrollStages
	*calls // go before those of the host, which share nothing
	// owned is what the tenant set for sources when the session began. Each call reads it anew.
	owned map[string]*host.Own
}

func (s sessionStages) Find(id string) scrolls.Stage {
	own := s.owned[id]
	plugin, _ := s.FindOwn(id, own)
	found := installed(plugin)
	if own != nil {
		found.Keeps = own.Ledger
	}
	return found
}

func (s sessionStages) List() []scrolls.Stage {
	all := s.scrollStages.List()
	for i := range all {
		if s.owned[all[i].ID] != nil {
			all[i] = s.Find(all[i].ID)
		}
	}
	return all
}

// briefStages is the plugin host as a brief needs it.
type briefStages struct{ *host.Host }

func (s briefStages) Ready(id string) bool {
	plugin, _ := s.Find(id)
	return plugin.State == host.Ready && plugin.Kind == stage.BriefKind
}

// installed describes a plugin. A refused or resting screen is not off: it fails the
// scroll, because the operator did not turn it off.
func installed(p host.Plugin) scrolls.Stage {
	found := scrolls.Stage{
		ID: p.ID, Kind: p.Kind, Usable: p.State == host.Ready, Resting: p.State == host.Resting,
		Platforms: p.Platforms, Searches: p.Kind == stage.SourceKind && p.Online, Refreshes: p.Refreshes,
		FetchesMedia: p.FetchesMedia, NeedsMedia: p.NeedsMedia, AfterEvidence: p.AfterEvidence, Version: p.Version, Requests: p.Requests, After: p.After, Fallback: p.Fallback,
	}
	found.MostSetting = "plugins.records"
	if found.MostRecords = p.MostRecords; p.OwnBound {
		found.MostSetting = "limits.records"
	}
	if !p.Until.IsZero() {
		until := p.Until.UnixMilli()
		found.RestsUntil = &until
	}
	if p.State == host.Disabled || p.State == host.Unset {
		found.Off = p.Reason
	}
	return found
}
