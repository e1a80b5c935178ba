package host

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/nearest"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Template names the stages and settings of a pipeline.
type Template struct {
	Name   string
	Stages map[stage.Kind][]string
	// Settings by stage, then by name.
	Settings map[string]map[string]string
}

// Usable reports stages of templates that are not installed or of another kind, and settings
// of templates and of the configuration whose plugin or name is not known, or whose value
// cannot be. The kind and the settings of an external plugin are unknown until it runs.
func (h *Host) Usable(templates []Template) error {
	var faults []error
	fault := func(t Template, format string, args ...any) {
		faults = append(faults, fmt.Errorf("template %s: %s", t.Name, fmt.Sprintf(format, args...)))
	}
	for _, t := range templates {
		for _, kind := range slices.Sorted(maps.Keys(t.Stages)) {
			for _, id := range t.Stages[kind] {
				if id == h.config.LateGroup && id != "" {
					continue // it stands for any number of sources
				}
				if !h.plugins.has(id) {
					fault(t, "there is no stage %q; see `scrollery plugins list`%s", id, nearest.Hint(id, h.plugins.ids()))
				} else if spec := h.plugins.builtin(id); spec != nil && spec.Kind != kind {
					fault(t, "stage %q is for %s, not for %s", id, spec.Kind, kind)
				}
			}
		}
		faults = append(faults, h.unusable("template "+t.Name+": settings of", t.Settings)...)
	}
	faults = append(faults, h.unusable("plugins.settings:", h.grants.set.Load().settings)...)
	for _, id := range slices.Sorted(maps.Keys(h.grants.set.Load().secrets)) {
		if !h.plugins.has(id) {
			faults = append(faults, fmt.Errorf("plugins.secrets: there is no plugin %q%s", id, nearest.Hint(id, h.plugins.ids())))
		}
	}
	return errors.Join(faults...)
}

// unusable are the faults of settings by plugin, then by name.
func (h *Host) unusable(where string, settings map[string]map[string]string) (faults []error) {
	for _, id := range slices.Sorted(maps.Keys(settings)) {
		spec := h.plugins.builtin(id)
		switch {
		case !h.plugins.has(id):
			faults = append(faults, fmt.Errorf("%s %q: there is no such plugin%s", where, id, nearest.Hint(id, h.plugins.ids())))
			continue
		case spec == nil:
			continue
		}
		if err := misnamed(*spec, settings[id]); err != nil {
			faults = append(faults, fmt.Errorf("%s %q: %w", where, id, err))
		}
		for _, setting := range spec.Settings {
			if err := setting.Check(settings[id][setting.Name]); err != nil {
				faults = append(faults, fmt.Errorf("%s %q: setting %q: %w", where, id, setting.Name, err))
			}
		}
	}
	return faults
}
