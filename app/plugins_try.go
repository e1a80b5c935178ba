package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Tried is what one request of a source brought.
type Tried struct {
	Source  string `json:"source"`
	Version string `json:"version"`
	// Check is what the source's check of the connection says; empty for a source without one.
	Check string `json:"check,omitempty"`
	// Seed that was asked for; Platform is empty if the source chose.
	Seed     string   `json:"seed"`
	Platform string   `json:"platform,omitempty"`
	Hosts    []string `json:"hosts"`
	// Status, Asked and Detail are of the first outcome; Outcomes are all of them. What the platform
	// refused or renamed is in Detail. Returned counts what came: a source that reads a folder gives
	// all that is there.
	Status   stage.Status    `json:"status"`
	Asked    int             `json:"asked"`
	Returned int             `json:"returned"`
	Detail   string          `json:"detail,omitempty"`
	Outcomes []stage.Outcome `json:"outcomes"`
	Seconds  float64         `json:"seconds"`
	// Fields are how many videos have each field, such as metrics.views.
	Fields map[string]int `json:"fields"`
	// Cost in US dollars, as the recipe counts it; nil for a source without a price.
	Cost *float64 `json:"cost,omitempty"`
	// Failure is why the call broke off; empty if it did not.
	Failure string `json:"failure,omitempty"`
}

// tryFields are those of every record, so that one which never came shows as 0.
func tryFields() []string {
	return []string{"sourceUrl", "postedAt", "creatorId", "metrics.views", "metrics.likes", "metrics.comments", "metrics.shares", "metrics.saves", "metrics.followers", "metadata.caption"}
}

// Checked is what a plugin says of its settings and connection.
type Checked struct {
	Plugin  string `json:"plugin"`
	Version string `json:"version"`
	// Check is the plugin's own line.
	Check   string  `json:"check"`
	Seconds float64 `json:"seconds"`
}

// CheckConnection has a plugin of any kind check the operator's settings, secrets and connection by
// one cheap request. What it takes of a quota is in the ledger, if there is one. The error says what
// does not work.
func CheckConnection(ctx context.Context, cfg Config, id string, log *slog.Logger) (checked Checked, err error) {
	quotas, done := commandQuotas(cfg, log)
	defer func() { err = errors.Join(err, done()) }()
	return checkConnection(ctx, cfg, quotas, id, log)
}

func checkConnection(ctx context.Context, cfg Config, quotas *operatorQuotas, id string, log *slog.Logger) (checked Checked, err error) {
	cfg.Plugins.Quotas, cfg.Plugins.Tokens = quotas, newStageTokens(cfg)
	h, err := host.New(cfg.Plugins, log)
	if err != nil {
		return Checked{}, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	plugin, err := readyPlugin(h, id)
	switch {
	case err != nil:
		return Checked{}, err
	case !plugin.Checks && plugin.Kind == stage.SourceKind:
		return Checked{}, fmt.Errorf("%s cannot check its connection: ask it for something by --seed, a handle such as @name or a term", id)
	case !plugin.Checks:
		return Checked{}, fmt.Errorf("%s cannot check its connection", id)
	}
	began := time.Now()
	line, err := h.Check(ctx, id)
	return Checked{id, plugin.Version, line, time.Since(began).Seconds()}, err
}

// TryPlugin has a source check its connection, if it can, and then asks it for one seed, with the
// operator's settings and secrets, and returns what came. What the requests take of a quota is in the
// ledger, if there is one. The error says why nothing could be asked; a check that fails is in Failure,
// and the seed is not asked for.
func TryPlugin(ctx context.Context, cfg Config, id string, seed stage.Seed, log *slog.Logger) (tried Tried, err error) {
	h, quotas, done, err := commandHost(cfg, log)
	if err != nil {
		return Tried{}, err
	}
	defer func() { err = errors.Join(err, done()) }()
	plugin, ok := h.Find(id)
	switch {
	case !ok:
		return Tried{}, fmt.Errorf("there is no source %q; see `scrollery plugins list`", id)
	case plugin.Kind != stage.SourceKind:
		return Tried{}, fmt.Errorf("%s is no source, but a stage of the kind %s", id, plugin.Kind)
	case plugin.State != host.Ready:
		return Tried{}, fmt.Errorf("source %s is %s: %s", id, plugin.State, plugin.Reason)
	case seed.Platform != "" && len(plugin.Platforms) > 0 && !slices.Contains(plugin.Platforms, seed.Platform):
		return Tried{}, fmt.Errorf("source %s serves %s, not %s", id, strings.Join(plugin.Platforms, ", "), seed.Platform)
	}
	var line string
	if plugin.Checks {
		if line, err = h.Check(ctx, id); err != nil {
			tried = triedOf(h, plugin, seed)
			tried.Failure = host.Printable(err.Error())
			return tried, nil
		}
	}
	tried, _ = try(ctx, h, plugin, seed)
	tried.Check = line
	spec, _ := h.Spec(id)
	if slices.ContainsFunc(spec.Quotas, func(a stage.Allowance) bool { return a.Money }) {
		cost := float64(quotas.spent) / stage.Dollar
		tried.Cost = &cost
	}
	return tried, nil
}

// try makes one request of a source that is ready. The error is why the call broke off, which
// Failure has in words.
func try(ctx context.Context, h *host.Host, plugin host.Plugin, seed stage.Seed) (tried Tried, err error) {
	tried = triedOf(h, plugin, seed)
	began := time.Now()
	tried.Outcomes, err = h.Collect(ctx, plugin.ID, stage.Run{Number: 1, Now: began.UnixMilli()}, []stage.Seed{seed}, func(records []stage.Record) error {
		tried.Returned += len(records)
		for _, record := range records {
			tried.count(record)
		}
		return nil
	})
	tried.Seconds = time.Since(began).Seconds()
	if err != nil {
		tried.Failure = host.Printable(err.Error())
	}
	if len(tried.Outcomes) > 0 {
		first := tried.Outcomes[0]
		tried.Status, tried.Asked, tried.Detail = first.Status, first.Asked, host.Printable(first.Detail)
	}
	return tried, err
}

// triedOf is a request that has brought nothing yet.
func triedOf(h *host.Host, plugin host.Plugin, seed stage.Seed) Tried {
	spec, _ := h.Spec(plugin.ID)
	tried := Tried{
		Source: plugin.ID, Version: plugin.Version, Seed: seed.Text(), Platform: seed.Platform,
		Hosts: orEmpty(spec.Hosts), Outcomes: []stage.Outcome{}, Fields: map[string]int{},
	}
	if seed.Handle != "" {
		tried.Seed = "@" + seed.Handle
	}
	for _, name := range tryFields() {
		tried.Fields[name] = 0
	}
	return tried
}

// count adds the fields of a record.
func (t *Tried) count(record stage.Record) {
	has := map[string]bool{
		"sourceUrl": record.SourceURL != "", "postedAt": record.PostedAt != nil, "creatorId": record.CreatorID != "",
		"metrics.views": record.Metrics.Views != nil, "metrics.likes": record.Metrics.Likes != nil, "metrics.comments": record.Metrics.Comments != nil,
		"metrics.shares": record.Metrics.Shares != nil, "metrics.saves": record.Metrics.Saves != nil, "metrics.followers": record.Metrics.Followers != nil,
		"evidence": record.Evidence != nil, "cues": len(record.Cues) > 0, "stickers": len(record.Stickers) > 0,
	}
	var about map[string]json.RawMessage
	if json.Unmarshal(record.Metadata, &about) == nil {
		for name := range about {
			has["metadata."+name] = true
		}
	}
	for name, found := range has {
		if found {
			t.Fields[name]++
		}
	}
}

// OK reports whether videos came.
func (t Tried) OK() bool { return t.Failure == "" && t.Returned > 0 }

// Print writes the report for people.
func (t Tried) Print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "source\t%s %s\nseed\t%s %s\nhosts\t%s\ntook\t%.1f s\n", t.Source, t.Version, host.Printable(t.Seed), t.Platform, strings.Join(t.Hosts, " "), t.Seconds)
	if t.Check != "" {
		fmt.Fprintf(w, "check\t%s\n", t.Check)
	}
	if t.Cost != nil {
		fmt.Fprintf(w, "cost\t%s USD\n", stage.FormatMoney(int64(math.Round(*t.Cost*stage.Dollar))))
	}
	for _, o := range t.Outcomes {
		fmt.Fprintf(w, "outcome\t%s: %s, %d of %d %s\n", o.Platform, o.Status, o.Returned, o.Asked, host.Printable(o.Detail))
	}
	if t.Failure != "" {
		fmt.Fprintf(w, "failure\t%s\n", t.Failure)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Fields)) {
		fmt.Fprintf(w, "%s\tin %d\n", host.Printable(name), t.Fields[name])
	}
	return w.Flush()
}
