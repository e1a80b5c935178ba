package app

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/plugins/stage"
)

// ListedPlugin is a plugin and what it wants, as JSON shows it. Values of settings and
// secrets are not in it.
type ListedPlugin struct {
	ID        string   `json:"id"`
	Kind      string   `json:"kind"`
	Version   string   `json:"version"`
	Summary   string   `json:"summary"`
	Builtin   bool     `json:"builtin"`
	State     string   `json:"state"`
	Reason    string   `json:"reason,omitempty"`
	Platforms []string `json:"platforms"`
	// DocsURL is the address of the page on what it asks.
	DocsURL string `json:"docsUrl,omitempty"`
	// Wants is empty for a plugin that did not describe itself.
	Wants Wants `json:"wants"`
}

// Wants is what a plugin asks of the operator.
type Wants struct {
	Settings   []WantedValue `json:"settings"`
	Secrets    []WantedValue `json:"secrets"`
	Hosts      []string      `json:"hosts"`
	Programs   []string      `json:"programs"`
	Quotas     []WantedQuota `json:"quotas"`
	NeedsMedia bool          `json:"needsMedia"`
	// AfterEvidence: a screen that runs after the evidence stages.
	AfterEvidence bool         `json:"afterEvidence,omitempty"`
	Limits        WantedLimits `json:"limits"`
}

// WantedValue is a setting or a secret. Set reports whether the operator gives it, or the
// plugin has a default.
type WantedValue struct {
	Name     string `json:"name"`
	Required bool   `json:"required"`
	Set      bool   `json:"set"`
	Path     bool   `json:"path,omitempty"`
	Endpoint bool   `json:"endpoint,omitempty"`
	Default  string `json:"default,omitempty"`
	Help     string `json:"help,omitempty"`
	// Type is that of a setting, empty for any text; the rest are its bounds and its values.
	Type   string   `json:"type,omitempty"`
	Min    string   `json:"min,omitempty"`
	Max    string   `json:"max,omitempty"`
	Values []string `json:"values,omitempty"`
}

// WantedQuota is an allowance of a site.
type WantedQuota struct {
	Name   string `json:"name"`
	Limit  int64  `json:"limit"`
	Window string `json:"window"`
	// Money: units are millionths of a US dollar. PerHandle and PerTerm are what a seed usually takes.
	Money     bool  `json:"money,omitempty"`
	PerHandle int64 `json:"perHandle,omitempty"`
	PerTerm   int64 `json:"perTerm,omitempty"`
}

// WantedLimits are 0 if the host's own apply.
type WantedLimits struct {
	MemoryBytes  int64 `json:"memoryBytes"`
	CallSeconds  int64 `json:"callSeconds"`
	StallSeconds int64 `json:"stallSeconds"`
	Records      int   `json:"records"`
	Calls        int   `json:"calls"`
}

// ListedPlugins lists the plugins as Plugins does, with what each wants.
func ListedPlugins(cfg Config, log *slog.Logger) ([]ListedPlugin, error) {
	host, err := host.New(cfg.Plugins, log)
	if err != nil {
		return nil, err
	}
	all := []ListedPlugin{}
	plugins := host.List()
	advise(context.Background(), plugins)
	rest(context.Background(), cfg, plugins)
	for _, p := range plugins {
		spec, set := host.Spec(p.ID)
		all = append(all, ListedPlugin{
			ID: p.ID, Kind: string(p.Kind), Version: p.Version, Summary: p.Summary, Builtin: p.Builtin, State: string(p.State), Reason: p.Reason,
			Platforms: orEmpty(p.Platforms), DocsURL: p.Docs, Wants: wants(spec, set),
		})
	}
	return all, host.Close()
}

func wants(spec stage.Spec, set []string) Wants {
	w := Wants{
		Settings: []WantedValue{}, Secrets: []WantedValue{}, Hosts: orEmpty(spec.Hosts), Programs: orEmpty(spec.Programs), Quotas: []WantedQuota{}, NeedsMedia: spec.NeedsMedia, AfterEvidence: spec.AfterEvidence,
		Limits: WantedLimits{spec.Limits.Memory, int64(spec.Limits.Call / time.Second), int64(spec.Limits.Stall / time.Second), spec.Limits.Records, spec.Limits.Calls},
	}
	for _, s := range spec.Settings {
		w.Settings = append(w.Settings, WantedValue{s.Name, s.Required, slices.Contains(set, s.Name), s.Path, s.Endpoint, s.Default, s.Help, string(s.Type), s.Min, s.Max, s.Values})
	}
	for _, name := range spec.Secrets {
		w.Secrets = append(w.Secrets, WantedValue{Name: name, Required: slices.Contains(spec.RequiredSecrets, name), Set: slices.Contains(set, name)})
	}
	for _, q := range spec.Quotas {
		w.Quotas = append(w.Quotas, WantedQuota{q.Name, q.Limit, string(q.Window), q.Money, q.Cost.Handle, q.Cost.Term})
	}
	return w
}

// orEmpty is [] in JSON if there is nothing.
func orEmpty(items []string) []string { return append([]string{}, items...) }
