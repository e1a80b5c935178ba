package app

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/plugins/brief"
	"github.com/scrollery/scrollery/plugins/captions"
	"github.com/scrollery/scrollery/plugins/feed"
	"github.com/scrollery/scrollery/plugins/instagram"
	"github.com/scrollery/scrollery/plugins/ocr"
	"github.com/scrollery/scrollery/plugins/plan"
	"github.com/scrollery/scrollery/plugins/recipe"
	rulestage "github.com/scrollery/scrollery/plugins/rules"
	"github.com/scrollery/scrollery/plugins/speech"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/tiktok"
	"github.com/scrollery/scrollery/plugins/vision"
	"github.com/scrollery/scrollery/plugins/youtube"
	"github.com/scrollery/scrollery/plugins/youtubefeed"
	"github.com/scrollery/scrollery/plugins/ytdlp"
)

// Stages are the built-in stage plugins. The variables, flags and keys of their
// settings follow from their specs.
func Stages() []stage.Spec {
	return []stage.Spec{
		plan.Spec(),
		feed.Spec(),
		youtube.Spec(),
		tiktok.Spec(),
		instagram.Spec(),
		youtubefeed.Spec(),
		ytdlp.Spec(),
		rulestage.Spec(),
		captions.Spec(),
		ocr.Spec(),
		vision.Spec(),
		speech.Spec(),
		brief.Spec(),
	}
}

// together are the stages that share the process of a scroll: they run no programs, and
// reach at most the operator's feed folder and chat endpoint.
func together() []string {
	return []string{plan.Spec().ID, feed.Spec().ID, rulestage.Spec().ID, captions.Spec().ID}
}

// stageValue is a setting or a secret of a stage with a variable of its own.
type stageValue struct {
	stage.Setting
	// variable is its name, without Prefix.
	variable string
	spec     stage.Spec
	secret   bool
}

// stageValues are the values of all built-in stages; a shared variable has one for each
// stage.
func stageValues() (all []stageValue) {
	specs := Stages()
	for _, id := range recipe.ShippedIDs() {
		specs = append(specs, recipe.Variables(id))
	}
	for _, spec := range specs {
		named := func(name string) string {
			return cmp.Or(spec.Env[name], strings.ToUpper(strings.ReplaceAll(spec.ID, "-", "_")+"_"+name))
		}
		for _, setting := range spec.Settings {
			if setting.Required || spec.Env[setting.Name] != "" {
				all = append(all, stageValue{setting, named(setting.Name), spec, false})
			}
		}
		for _, name := range spec.Secrets {
			all = append(all, stageValue{stage.Setting{Name: name}, named(name), spec, true})
		}
	}
	return all
}

// stageSettings are the variables of the built-in stages.
func stageSettings() (all []Setting) {
	off := map[string][]string{} // the stages that are off without the variable
	for _, value := range stageValues() {
		name := value.variable
		if value.Required && value.Default == "" {
			off[name] = append(off[name], value.spec.ID)
		}
		if at := slices.IndexFunc(all, func(s Setting) bool { return s.Name == name }); at >= 0 {
			all[at].Default = cmp.Or(all[at].Default, value.Default)
			continue
		}
		all = append(all, Setting{Name: name, Secret: value.secret, Default: value.Default, Usage: value.Help, set: func(c *Config, text string) error {
			c.SetStage(name, text)
			return nil
		}})
	}
	for i, setting := range all {
		if stages := off[setting.Name]; setting.Default == "" && len(stages) > 0 {
			all[i].Default = "none, which turns off " + strings.Join(stages, " and ")
		}
	}
	return all
}

// SetStage sets a variable of the built-in stages, without Prefix. Complete copies it
// to the stages that name it.
func (c *Config) SetStage(variable, value string) {
	c.StageValues = maps.Clone(c.StageValues)
	if c.StageValues == nil {
		c.StageValues = map[string]string{}
	}
	c.StageValues[variable] = value
}

// giveStages copies the variables to the stages. A stage whose own settings in the file
// name another endpoint gets no value of the shared one.
func (c *Config) giveStages() {
	given, own := c.Plugins.Settings, c.Plugins.Settings
	for _, value := range stageValues() {
		id, text := value.spec.ID, c.StageValues[value.variable]
		c.Plugins.Variables = withSetting(c.Plugins.Variables, id, value.Name, Prefix+value.variable)
		elsewhere := slices.ContainsFunc(value.spec.Settings, func(s stage.Setting) bool {
			_, set := own[id][s.Name]
			return set && s.Endpoint && value.spec.Env[s.Name] != ""
		})
		switch {
		case text == "" || elsewhere:
		case value.secret:
			c.Plugins.Secrets = withSetting(c.Plugins.Secrets, id, value.Name, text)
		default:
			given = withSetting(given, id, value.Name, text)
		}
	}
	c.Plugins.Settings = given
}

// withSetting returns a copy of settings with one more value.
func withSetting(settings map[string]map[string]string, plugin, name, value string) map[string]map[string]string {
	all := map[string]map[string]string{}
	maps.Copy(all, settings)
	one := map[string]string{}
	maps.Copy(one, all[plugin])
	one[name] = value
	all[plugin] = one
	return all
}

// checkStages reports invalid variables of stages.
func (c *Config) checkStages(fault func(name, format string, args ...any)) {
	told := map[string]bool{}
	for _, value := range stageValues() {
		text := c.StageValues[value.variable]
		if told[value.variable] {
			continue
		}
		told[value.variable] = true
		if value.RequiredWith != "" && text == "" && c.StageValues[value.spec.Env[value.RequiredWith]] != "" {
			fault(value.variable, "needed with %s%s", Prefix, value.spec.Env[value.RequiredWith])
		}
		if text == "" {
			continue
		}
		if err := value.Check(text); err != nil {
			hint := ""
			if value.Required && value.Default == "" {
				hint = "; leave it empty to keep " + value.spec.ID + " off"
			}
			fault(value.variable, "%v%s", err, hint)
		}
		if address, err := url.Parse(text); value.Endpoint && (err != nil || address.Host == "" || address.User != nil || address.Scheme != "https" && address.Scheme != "http") {
			fault(value.variable, "not an http or https address without credentials")
		}
	}
}
