package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/scrollery/scrollery/app/host/egress"
	"github.com/scrollery/scrollery/modules/kernel/nearest"
	"github.com/scrollery/scrollery/plugins/stage"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// describe asks an external plugin what it is. It runs without settings, secrets
// and network.
func (h *Host) describe(ctx context.Context, e *entry) (stage.Spec, extras, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, h.config.Start, errDeadline)
	defer cancel()
	p, err := h.Processes.start(ctx, e, stage.Spec{}, given{})
	if err != nil {
		_, cause := classify(failedProcess(err), err)
		return stage.Spec{}, extras{}, fmt.Errorf("describe: %w", cause)
	}
	defer p.stop()
	answer, err := p.stage.Describe(ctx, &stagev1.DescribeRequest{})
	if err != nil {
		return stage.Spec{}, extras{}, fmt.Errorf("describe: %w", p.output.cleaned(err))
	}
	spec, also := decodeSpec(answer.GetDescription())
	if err := Plausible(spec, e.id); err != nil {
		return stage.Spec{}, extras{}, fmt.Errorf("describe: %w", p.output.cleaned(err))
	}
	return spec, also, nil
}

func failedProcess(err error) *process {
	var shake *handshakeError
	if errors.As(err, &shake) {
		return shake.process
	}
	return nil
}

// Plausible checks a description from a process by the rules of [stage.Spec.Validate],
// and that the plugin has the given id.
func Plausible(spec stage.Spec, id string) error {
	if spec.ID != id {
		return fmt.Errorf("it calls itself %.40q", spec.ID)
	}
	if len(spec.Platforms) > 50 || len(spec.Settings) > 100 || len(spec.Secrets) > 100 || len(spec.Hosts) > 100 ||
		len(spec.Quotas) > 20 || len(spec.Programs) > 20 || len(spec.RequiredSecrets) > 100 || len(spec.Tokens) > 100 {
		return errors.New("it asks for too much")
	}
	probe := spec
	switch spec.Kind {
	case stage.SourceKind:
		probe.Collect = func(context.Context, *stage.Call, []stage.Seed, func(stage.Record) error) ([]stage.Outcome, error) {
			return nil, nil
		}
	case stage.PlanKind:
		probe.Plan = func(context.Context, *stage.Call, []stage.Seed, func(stage.Seed) error) error { return nil }
	case stage.ScreenKind:
		probe.Screen = func(context.Context, *stage.Call, func() (stage.Record, error), func(stage.Verdict) error) (stage.Summary, error) {
			return stage.Summary{}, nil
		}
	case stage.BriefKind:
		probe.Brief = func(context.Context, *stage.Call, []stage.Fact, func(stage.Sentence) error) error { return nil }
	case stage.EvidenceKind:
		probe.Evidence = func(context.Context, *stage.Call, func() (stage.Record, error), func(stage.Finding) error) error {
			return nil
		}
	}
	return probe.Validate()
}

// extras are the verbs that a stage may have: the first two for sources.
type extras struct{ refreshes, fetches, checks bool }

func decodeSpec(m *stagev1.Description) (stage.Spec, extras) {
	limits := m.GetLimits()
	spec := stage.Spec{
		ID: Printable(m.GetId()), Version: Printable(m.GetVersion()), Summary: Printable(m.GetSummary()), Kind: stage.Kind(Printable(m.GetKind())),
		Platforms: printables(m.GetPlatforms()), Secrets: printables(m.GetSecrets()), Hosts: printables(m.GetHosts()),
		NeedsMedia: m.GetNeedsMedia(), AfterEvidence: m.GetAfterEvidence(), Programs: printables(m.GetPrograms()), RequiredSecrets: printables(m.GetRequiredSecrets()), Tokens: printables(m.GetTokens()),
		Limits: stage.Limits{
			Memory: limits.GetMemoryBytes(), Records: int(limits.GetRecords()), Calls: int(min(max(limits.GetCalls(), 0), maxSlots)),
			Call: millis(limits.GetCallMillis()), Stall: millis(limits.GetStallMillis()),
		},
	}
	for _, s := range m.GetSettings() {
		spec.Settings = append(spec.Settings, stage.Setting{
			Name: Printable(s.GetName()), Default: s.GetDefault(), Required: s.GetRequired(), Path: s.GetPath(),
			Endpoint: s.GetEndpoint(), Help: Printable(s.GetHelp()), Type: stage.SettingType(Printable(s.GetType())),
			Min: Printable(s.GetMin()), Max: Printable(s.GetMax()), Values: printables(s.GetValues()), Own: s.GetOwn(),
		})
	}
	for _, q := range m.GetQuotas() {
		spec.Quotas = append(spec.Quotas, stage.Allowance{
			Name: Printable(q.GetName()), Limit: q.GetLimit(), Window: stage.Window(Printable(q.GetWindow())), Setting: Printable(q.GetSetting()),
			Cost: costOf(q.GetCost()),
		})
	}
	spec.Requests, spec.Docs = costOf(m.GetRequests()), Printable(m.GetDocsUrl())
	spec.Price = stage.Price{Call: m.GetPrice().GetCall(), Record: m.GetPrice().GetRecord(), Budget: m.GetPrice().GetBudget()}
	source := spec.Kind == stage.SourceKind
	return spec, extras{refreshes: source && m.GetRefreshes(), fetches: source && m.GetFetchesMedia(), checks: m.GetChecks()}
}

func costOf(m *stagev1.Cost) stage.Cost { return stage.Cost{Handle: m.GetHandle(), Term: m.GetTerm()} }

func millis(n int64) time.Duration {
	return time.Duration(min(n, int64(24*time.Hour/time.Millisecond))) * time.Millisecond
}

// given is what one call hands over.
type given struct {
	scroll            string
	settings, secrets map[string]string
	reads             []string // besides what settings name
	// paths are the settings that the operator set to a file or folder, which the
	// stage may read; a spec's defaults open nothing.
	paths []string
	// endpoints are the `host:port` that the operator's own settings lead to; own
	// are those of a spec's defaults, which are the plugin's word and no more.
	endpoints, own []string
}

// grants are the settings and secrets of calls: those of the operator, and those of accounts.
type grants struct {
	config *Config
	// set has what the operator set; Reload replaces it.
	set atomic.Pointer[operatorValues]
}

// operatorValues are settings and secrets by plugin, then by name, as in Config.
type operatorValues struct{ settings, secrets map[string]map[string]string }

func newGrants(config *Config) *grants {
	gs := &grants{config: config}
	gs.set.Store(&operatorValues{config.Settings, config.Secrets})
	return gs
}

// give picks the settings and secrets that the spec names. A manifest's settings
// win over the config's, the template's over both, and without its grant a plugin
// gets no secret. Secrets are all the account's own, or all the operator's. It returns
// what is set even if something else is missing.
func (gs *grants) give(e *entry, spec stage.Spec, run stage.Run, own *Own) (given, error) {
	var missing error
	secrets := gs.secrets(e)
	if own != nil {
		secrets, missing = own.Secrets, own.Fault
	}
	g := given{scroll: run.ScrollID, settings: map[string]string{}, secrets: map[string]string{}}
	values := gs.settings(e, run)
	for _, from := range values {
		missing = cmp.Or(missing, misnamed(spec, from))
	}
	for _, setting := range spec.Settings {
		value, operator := setting.Default, false
		for _, from := range own.values(setting, values, run.Settings[e.id]) {
			if v, ok := from[setting.Name]; ok {
				value, operator = v, true
			}
		}
		if err := setting.Check(value); err != nil {
			missing = cmp.Or(missing, stage.Misconfiguredf("setting %q: %v", setting.Name, err))
		}
		if value != "" {
			g.settings[setting.Name] = value
			if value == setting.Off {
				missing = cmp.Or(missing, gs.turnedOff(e, setting))
			}
			missing = cmp.Or(missing, g.lead(setting, value, operator))
		} else if setting.Required {
			missing = cmp.Or(missing, gs.unset(e, "setting", setting.Name, own != nil && setting.Own))
		}
	}
	for _, name := range spec.Secrets {
		value := secrets[name]
		if value != "" && (e.builtin || slices.Contains(e.manifest.Secrets, name)) {
			g.secrets[name] = value
		}
	}
	for _, name := range spec.RequiredSecrets {
		switch {
		case g.secrets[name] != "":
		case slices.Contains(e.withheld(spec, secrets), name):
			missing = cmp.Or[error](missing, stage.Misconfiguredf("%s", notGranted(name)))
		default:
			missing = cmp.Or(missing, gs.unset(e, "secret", name, own != nil))
		}
	}
	for _, program := range spec.Programs {
		if !installed(program) {
			missing = cmp.Or(missing, stage.Misconfiguredf("program %q is not installed in any of %s", program, programPath))
		}
	}
	return g, missing
}

// withheld are the secrets of a plugin that are set and its manifest does not grant.
func (e *entry) withheld(spec stage.Spec, secrets map[string]string) (names []string) {
	for _, name := range spec.Secrets {
		if !e.builtin && secrets[name] != "" && !slices.Contains(e.manifest.Secrets, name) {
			names = append(names, name)
		}
	}
	return names
}

func notGranted(secret string) string {
	return fmt.Sprintf("secret %q is set, but the manifest does not grant it: add it to its secrets", secret)
}

// misnamed is the error of settings that the spec does not name; nil before it is known.
func misnamed(spec stage.Spec, settings map[string]string) error {
	var names []string
	for _, setting := range spec.Settings {
		names = append(names, setting.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if spec.ID != "" && !slices.Contains(names, name) {
			return stage.Misconfiguredf("there is no setting %.40q%s", name, nearest.Hint(name, names))
		}
	}
	return nil
}

// turnedOff is the error of a stage that the operator turned off.
func (gs *grants) turnedOff(e *entry, setting stage.Setting) error {
	if variable := gs.config.Variables[e.id][setting.Name]; variable != "" {
		return stage.Misconfiguredf("turned off by %s=%s", variable, setting.Off)
	}
	return stage.Misconfiguredf("turned off by its setting %q", setting.Name)
}

// unset is the error of a setting or secret without a value, with the variable that sets it
// unless an account does.
func (gs *grants) unset(e *entry, what, name string, own bool) error {
	if variable := gs.config.Variables[e.id][name]; e.builtin && variable != "" && !own {
		return stage.Misconfiguredf("%s %q is missing: set %s", what, name, variable)
	}
	if e.late != nil && e.late.Unset != "" && !own {
		return stage.Misconfiguredf("%s %q is missing: %s", what, name, e.late.Unset)
	}
	return stage.Misconfiguredf("%s %q is missing", what, name)
}

// lead notes where a setting that is a path or an endpoint leads.
func (g *given) lead(setting stage.Setting, value string, operator bool) error {
	if setting.Path && operator {
		g.paths = append(g.paths, setting.Name)
	}
	if !setting.Endpoint {
		return nil
	}
	target, err := egress.Endpoint(value)
	switch {
	case err != nil:
		return stage.Misconfiguredf("setting %q: %v", setting.Name, err)
	case operator:
		g.endpoints = append(g.endpoints, target)
	default:
		g.own = append(g.own, target)
	}
	return nil
}
