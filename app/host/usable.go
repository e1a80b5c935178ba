package host

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/scrollery/scrollery/plugins/stage"
)

// Template names the stages and settings of a pipeline.
type Template struct {
	Name   string
	Stages map[stage.Kind][]string
	// Settings by stage, then by name.
	Settings map[string]map[string]string
}

// Usable reports stages of templates that are not installed or of another kind, and
// settings that a stage does not have. The kind and the settings of an external
// plugin are unknown until it runs.
func (h *Host) Usable(templates []Template) error {
	var faults []error
	fault := func(t Template, format string, args ...any) {
		faults = append(faults, fmt.Errorf("template %s: %s", t.Name, fmt.Sprintf(format, args...)))
	}
	for _, t := range templates {
		for _, kind := range slices.Sorted(maps.Keys(t.Stages)) {
			for _, id := range t.Stages[kind] {
				if !h.Has(id) {
					fault(t, "there is no stage %q; see `scrollery plugins list`", id)
				} else if spec := h.Builtin(id); spec != nil && spec.Kind != kind {
					fault(t, "stage %q is for %s, not for %s", id, spec.Kind, kind)
				}
			}
		}
		for _, id := range slices.Sorted(maps.Keys(t.Settings)) {
			if !h.Has(id) {
				fault(t, "settings of %q: there is no such stage", id)
				continue
			}
			spec := h.Builtin(id)
			for _, name := range slices.Sorted(maps.Keys(t.Settings[id])) {
				if spec != nil && !slices.ContainsFunc(spec.Settings, func(s stage.Setting) bool { return s.Name == name }) {
					fault(t, "stage %q has no setting %q", id, name)
				}
			}
		}
	}
	return errors.Join(faults...)
}
