package app

import (
	"github.com/scrollery/scrollery/app/pluginhost"
	"github.com/scrollery/scrollery/modules/scrolls"
	"github.com/scrollery/scrollery/plugins/stage"
)

// scrollStages is the plugin host as a scroll needs it.
type scrollStages struct{ *pluginhost.Host }

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

// installed describes a plugin. A refused or resting screen is not off: it fails the
// scroll, because the operator did not turn it off.
func installed(p pluginhost.Plugin) scrolls.Stage {
	found := scrolls.Stage{
		ID: p.ID, Kind: p.Kind, Usable: p.State == pluginhost.Ready, Resting: p.State == pluginhost.Resting,
		Platforms: p.Platforms, Searches: p.Kind == stage.SourceKind && p.Online, Refreshes: p.Refreshes,
		FetchesMedia: p.FetchesMedia, NeedsMedia: p.NeedsMedia,
	}
	if p.State == pluginhost.Disabled || p.State == pluginhost.Unset {
		found.Off = p.Reason
	}
	return found
}
