package app

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/app/ops"
	"github.com/scrollery/scrollery/modules/console"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
	"github.com/scrollery/scrollery/modules/library/removal"
	"github.com/scrollery/scrollery/modules/operator"
	"github.com/scrollery/scrollery/modules/quota"
	"github.com/scrollery/scrollery/modules/scrolls"
	"github.com/scrollery/scrollery/modules/usage"
)

const (
	// overviewWithin bounds one reading of the overview, overviewRows each of its lists.
	overviewWithin = 5 * time.Second
	overviewRows   = 50
	// keptEvery is the least time between two readings of what libraries keep, which look into each
	// and have half of the time.
	keptEvery = time.Minute
)

// overview reads what the page of the operator shows. It has no text of creators or customers:
// accounts and scrolls have their ids, as in the log.
type overview struct {
	cfg     Config
	db      *store.DB
	host    *host.Host
	quotas  *quota.Service
	scrolls *scrolls.Service
	usage   *usage.Service
	removal *removal.Service
	metrics *ops.Metrics
	log     *slog.Logger

	mu      sync.Mutex
	kept    []keptPart
	keptErr error     // of the last reading; kept is from before then
	keptAt  time.Time // of the last reading
}

func newOverview(cfg Config, db *store.DB, host *host.Host, quotas *quota.Service, s *scrolls.Service, u *usage.Service, r *removal.Service, m *ops.Metrics, log *slog.Logger) *overview {
	return &overview{cfg: cfg, db: db, host: host, quotas: quotas, scrolls: s, usage: u, removal: r, metrics: m, log: log}
}

// mount serves the page on the operations port.
func (o *overview) mount(to *ops.Server, from *console.Console, again *reloader, accounts *operator.Service) error {
	key, err := o.cfg.secretKey()
	if err != nil {
		return fmt.Errorf("the operator's page: %w", err)
	}
	page, err := from.Operator(console.NewOperators(key, o.log), console.OperatorNeeds{
		Overview: func(r *http.Request) (any, error) { return o.read(r.Context()) },
		Reload:   func(r *http.Request) (any, error) { return again.reload(r.Context()) },
		Check:    func(r *http.Request, plugin string) (any, error) { return again.check(r.Context(), plugin) },
		Account: func(r *http.Request, order console.AccountOrder) (any, error) {
			return orders{accounts}.do(r.Context(), order)
		},
		Scroll: func(r *http.Request, order console.ScrollOrder) (any, error) {
			return orders{accounts}.scroll(r.Context(), order)
		},
	})
	if err != nil {
		return fmt.Errorf("the operator's page: %w", err)
	}
	to.Mount(console.OperatorPath, page)
	return nil
}

// Times are Unix milliseconds.
type (
	overviewAnswer struct {
		At          int64           `json:"at"`
		Version     string          `json:"version"`
		Roles       []string        `json:"roles"`
		Connections connectionsPart `json:"connections"`
		Queue       []queuePart     `json:"queue"`
		Running     []scrollPart    `json:"running"`
		Queued      []scrollPart    `json:"queued"`
		Failed      []scrollPart    `json:"failed"`
		Quotas      []quotaPart     `json:"quotas"`
		Plugins     []pluginPart    `json:"plugins"`
		Tenants     []tenantPart    `json:"tenants"`
		Hours       []hourPart      `json:"hours"`
		Ends        []endPart       `json:"ends"`
		Disks       []diskPart      `json:"disks"`
		Kept        []keptPart      `json:"kept"`
		Troubles    []troublePart   `json:"troubles"`
		Settings    []settingPart   `json:"settings"`
	}
	// hourPart is what this process did in an hour. Durations are rounded up by at most a half.
	hourPart struct {
		At       int64   `json:"at"`
		Requests int64   `json:"requests"`
		Failed   int64   `json:"failed"`
		MedianMs float64 `json:"medianMs"`
		SlowMs   float64 `json:"slowMs"`
	}
	endPart struct {
		Plugin string `json:"plugin"`
		Cause  string `json:"cause"`
		Calls  int64  `json:"calls"`
	}
	diskPart struct {
		Of   string `json:"of"`
		Free uint64 `json:"free"`
	}
	// keptPart is what all libraries have of a source. NextAt is when the policy deletes something
	// of it next, 0 for never; Overdue in how many libraries that should have been.
	keptPart struct {
		Source   string `json:"source"`
		Accounts int    `json:"accounts"`
		Readings int64  `json:"readings"`
		OldestAt int64  `json:"oldestAt"`
		NextAt   int64  `json:"nextAt"`
		Overdue  int    `json:"overdue"`
	}
	connectionsPart struct {
		InUse int `json:"inUse"`
		Idle  int `json:"idle"`
		Max   int `json:"max"`
	}
	queuePart struct {
		Kind     string `json:"kind"`
		Jobs     int    `json:"jobs"`
		OldestMs int64  `json:"oldestMs"`
	}
	scrollPart struct {
		ID          string `json:"id"`
		Account     string `json:"account"`
		Step        string `json:"step"`
		FailureCode string `json:"failureCode"`
		Attempt     int    `json:"attempt"`
		CreatedAt   int64  `json:"createdAt"`
		HeartbeatAt int64  `json:"heartbeatAt"`
	}
	quotaPart struct {
		Plugin   string `json:"plugin"`
		Name     string `json:"name"`
		Window   string `json:"window"`
		Used     int64  `json:"used"`
		Limit    int64  `json:"limit"`
		Tenants  int    `json:"tenants"`
		RenewsAt int64  `json:"renewsAt"`
	}
	pluginPart struct {
		ID      string `json:"id"`
		Kind    string `json:"kind"`
		Version string `json:"version"`
		State   string `json:"state"`
		Builtin bool   `json:"builtin"`
		Checks  bool   `json:"checks"`
	}
	// settingPart is a setting of a plugin. Value is empty for a secret.
	settingPart struct {
		Plugin   string   `json:"plugin"`
		Name     string   `json:"name"`
		Type     string   `json:"type"`
		Min      string   `json:"min"`
		Max      string   `json:"max"`
		Values   []string `json:"values"`
		Value    string   `json:"value"`
		Set      bool     `json:"set"`
		Secret   bool     `json:"secret"`
		Required bool     `json:"required"`
		Variable string   `json:"variable"`
		Help     string   `json:"help"`
	}
	tenantPart struct {
		Account string `json:"account"`
		Units   int64  `json:"units"`
		Running int    `json:"running"`
	}
)

func (o *overview) read(ctx context.Context) (*overviewAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, overviewWithin)
	defer cancel()
	now := time.Now()
	a := &overviewAnswer{At: now.UnixMilli(), Version: Version(), Roles: o.cfg.Roles}
	for _, pool := range o.db.Stats() {
		a.Connections.InUse, a.Connections.Idle, a.Connections.Max = a.Connections.InUse+pool.InUse, a.Connections.Idle+pool.Open-pool.InUse, a.Connections.Max+pool.Max
	}
	waiting, err := jobs.Backlogs(ctx, o.db)
	if err != nil {
		return nil, err
	}
	for _, one := range waiting {
		a.Queue = append(a.Queue, queuePart{one.Kind, one.Jobs, one.Oldest.Milliseconds()})
	}
	running := map[int64]int{}
	for status, list := range map[string]*[]scrollPart{scrolls.Running: &a.Running, scrolls.Queued: &a.Queued, scrolls.Failed: &a.Failed} {
		found, err := o.scrolls.Across(ctx, status, overviewRows)
		if err != nil {
			return nil, fmt.Errorf("scrolls: %w", err)
		}
		for _, one := range found {
			if status == scrolls.Running {
				running[one.AccountID]++
			}
			*list = append(*list, scrollPart{
				publicid.Format(publicid.Scroll, one.ID), publicid.Format(publicid.Account, one.AccountID), one.Step, one.FailureCode, one.Attempt, one.Created, one.HeartbeatAt,
			})
		}
	}
	quotas, err := quotaLists{o.quotas, o.host}.Quotas(ctx)
	if err != nil {
		return nil, fmt.Errorf("quotas: %w", err)
	}
	for _, q := range quotas {
		part := quotaPart{Plugin: q.Plugin, Name: q.Name, Window: q.Window, Used: q.Used, Limit: q.Limit, Tenants: q.Tenants}
		if q.Money {
			part.Name += " (millionths of a US dollar)"
		}
		if !q.RenewsAt.IsZero() {
			part.RenewsAt = q.RenewsAt.UnixMilli()
		}
		a.Quotas = append(a.Quotas, part)
	}
	for _, p := range o.host.Known() {
		a.Plugins = append(a.Plugins, pluginPart{p.ID, string(p.Kind), p.Version, string(p.State), p.Builtin, p.Checks})
	}
	for _, v := range o.host.Values() {
		a.Settings = append(a.Settings, settingPart{v.Plugin, v.Name, string(v.Type), v.Min, v.Max, v.Values, v.Text, v.Set, v.Secret, v.Required, v.Variable, v.Help})
	}
	busiest, err := o.usage.Busiest(ctx, now.UTC(), overviewRows)
	if err != nil {
		return nil, fmt.Errorf("tenants: %w", err)
	}
	for _, one := range busiest {
		a.Tenants = append(a.Tenants, tenantPart{publicid.Format(publicid.Account, one.AccountID), one.Units, running[one.AccountID]})
	}
	hours, ends := o.metrics.Recent()
	for _, h := range hours {
		a.Hours = append(a.Hours, hourPart{h.At.UnixMilli(), h.Requests, h.Failed, inMillis(h.Median), inMillis(h.Slow)})
	}
	for _, e := range ends {
		a.Ends = append(a.Ends, endPart(e))
	}
	for i, folder := range readyFolders(o.cfg) {
		if free, known := ops.Free(folder); known {
			a.Disks = append(a.Disks, diskPart{[]string{"data", "scratch"}[i], free})
		}
	}
	a.Kept, err = o.keeps(ctx, now)
	a.Troubles = troubles(a)
	if err != nil { // the rest is shown
		o.log.WarnContext(ctx, "the operator's page: what libraries keep", "error", err)
		a.Troubles = append(a.Troubles, troublePart{Kind: "kept_unread"})
	}
	return a, nil
}

func inMillis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// keeps returns what all libraries have by source, read at most every keptEvery, and what was known
// before with an error.
func (o *overview) keeps(ctx context.Context, now time.Time) ([]keptPart, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now.Sub(o.keptAt) >= keptEvery {
		ctx, cancel := context.WithTimeout(ctx, overviewWithin/2)
		defer cancel()
		var kept []keptPart
		if kept, o.keptErr = o.readKept(ctx, now); o.keptErr == nil {
			o.kept = kept
		}
		o.keptAt = now
	}
	return o.kept, o.keptErr
}

func (o *overview) readKept(ctx context.Context, now time.Time) (all []keptPart, err error) {
	held, err := o.removal.Held(ctx)
	if err != nil {
		return nil, err
	}
	due, err := o.removal.Due(ctx, now)
	if err != nil {
		return nil, fmt.Errorf("what is due: %w", err)
	}
	for _, h := range held {
		part := keptPart{Source: h.Source, Accounts: h.Accounts, Readings: h.Readings, OldestAt: h.OldestAt}
		for _, d := range due {
			if d.Source == h.Source && !d.Next.IsZero() {
				part.NextAt, part.Overdue = d.Next.UnixMilli(), d.Overdue
			}
		}
		all = append(all, part)
	}
	return all, nil
}

// OperatorLink returns the one-time address of the operator's page of the server that has this
// configuration and runs on this machine. It asks no server.
func OperatorLink(cfg Config) (string, error) {
	if !cfg.OpsPage {
		return "", fmt.Errorf("the operator's page is off: set %sOPS_PAGE=on for the server and for this command", Prefix)
	}
	if cfg.SecretKey == "" { // which the server makes, with rights of its own
		if _, err := os.Stat(filepath.Join(cfg.DataDir, secretKeyFile)); err != nil {
			return "", fmt.Errorf("the key of the server is not in %sDATA_DIR: run this with the settings of the server, after its first start: %w", Prefix, err)
		}
	}
	key, err := cfg.secretKey()
	if err != nil {
		return "", err
	}
	host, port, err := net.SplitHostPort(cfg.OpsAddr)
	if err != nil {
		return "", err
	}
	if port == "0" {
		return "", fmt.Errorf("%sOPS_ADDR has port 0, which the server picks anew at each start: set one", Prefix)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port) + console.OperatorPath + "#code=" + console.OperatorCode(key, time.Now()), nil
}
