package app

import (
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"

	"github.com/scrollery/scrollery/app/ops"
	"github.com/scrollery/scrollery/docs"
	"github.com/scrollery/scrollery/modules/account"
	"github.com/scrollery/scrollery/modules/billing"
	"github.com/scrollery/scrollery/modules/console"
	"github.com/scrollery/scrollery/modules/imports"
	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/api/mcp"
	"github.com/scrollery/scrollery/modules/keys"
	"github.com/scrollery/scrollery/modules/oauth"
	"github.com/scrollery/scrollery/modules/shares"
	"github.com/scrollery/scrollery/modules/site"
)

// Routes are all the addresses that the server answers.
type Routes struct {
	mux      *api.Mux
	checkout http.Handler
	webhook  http.Handler
	recovery http.Handler
	deletion http.Handler
	shared   http.Handler
	site     *site.Site
	console  *console.Console
	agents   *mcp.Server
	oauth    *oauth.Service
	tracing  tracing
	baseURL  string
	log      *slog.Logger
}

// NewRoutes returns the routes of all modules.
func NewRoutes(cfg Config, mux *api.Mux, checkout checkoutPages, webhook *billing.Webhook, recovery *keys.RecoveryPage, deletion *account.Page, shared *shares.Page, site *site.Site, console *console.Console, agents *mcp.Server, authorizations *oauth.Service, metrics *ops.Metrics, tracing tracing, log *slog.Logger) *Routes {
	return &Routes{
		mux: mux, checkout: checkout, webhook: countedWebhook(webhook, metrics), recovery: recovery, deletion: deletion, shared: shared, site: site, console: console, agents: agents, oauth: authorizations, tracing: tracing, baseURL: cfg.BaseURL, log: log,
	}
}

// linksAMinute is how often one client address opens mailed links, and posts their forms:
// each reads rows of the account that it names.
const linksAMinute = 30

// checkoutsAMinute is how often one client address opens a page of a checkout: it reads a row.
const checkoutsAMinute = 60

// nosniff has browsers take an answer for what its Content-Type says.
var nosniff = []string{"nosniff"}

// Handler serves the API on every path that own does not report.
func (r *Routes) Handler() http.Handler {
	mux := http.NewServeMux()
	card := r.mux.Held("page.card", http.HandlerFunc(r.agents.ServeCard))
	for path, handler := range map[string]http.Handler{
		"/checkout/": r.mux.Page("page.checkout", checkoutsAMinute, r.checkout), billing.WebhookPath: r.mux.Held("page.webhook", r.webhook),
		keys.LinkPath: r.mux.Page("page.recover", linksAMinute, r.recovery), account.LinkPath: r.mux.Page("page.erase", linksAMinute, r.deletion),
		shares.Path:  r.mux.Page("page.share", linksAMinute, r.shared),
		mcp.CardPath: card, mcp.AgentCardPath: card,
	} {
		mux.Handle(path, logged(path, handler, r.log))
	}
	pages := logged(site.DocsPath, r.mux.Held("page.site", r.site), r.log)
	app := logged(console.Path, r.mux.Held("page.console", r.console), r.log)
	programs := logged(oauth.AuthorizePath, r.mux.Page("page.oauth", 0, r.oauth), r.log)
	operations := r.mux.Handler()
	if r.tracing != nil {
		operations = r.tracing(operations)
	}
	extension := imports.NewZeeschuimer(operations, func(h http.Handler) http.Handler { return r.mux.Page("page.capture", linksAMinute, h) }, r.baseURL+console.Path+"library")
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		w.Header()["X-Content-Type-Options"] = nosniff
		if own(request.URL.Path) {
			mux.ServeHTTP(w, request)
			return
		}
		if oauth.Owns(request.URL.Path) {
			programs.ServeHTTP(w, request)
			return
		}
		if site.Owns(request.URL.Path) {
			pages.ServeHTTP(w, request)
			return
		}
		if console.Owns(request.URL.Path) {
			app.ServeHTTP(w, request)
			return
		}
		if imports.OwnsZeeschuimer(request.URL.Path) {
			extension.ServeHTTP(w, request)
			return
		}
		operations.ServeHTTP(w, request) // not within ServeMux, which would redirect unclean paths
	})
}

// own reports whether the path is not part of the API.
func own(path string) bool {
	return path == billing.WebhookPath || path == mcp.CardPath || path == mcp.AgentCardPath || strings.HasPrefix(path, "/checkout/") || strings.HasPrefix(path, keys.LinkPath) || strings.HasPrefix(path, account.LinkPath) || strings.HasPrefix(path, shares.Path)
}

// newAgents serves the operations of mux to agents, too.
func newAgents(cfg Config, mux *api.Mux, files console.Assets) (*mcp.Server, error) {
	guide, err := fs.ReadFile(docs.Pages, "llms.txt")
	if err != nil {
		return nil, fmt.Errorf("read the guide for agents: %w", err)
	}
	part := cfg.Agents
	part.Version, part.BaseURL, part.Guide = Version(), cfg.BaseURL, func() string { return string(guide) }
	for _, one := range mcp.Apps() {
		if files == nil {
			break
		}
		if one.Page, err = console.AgentPage(files, one.Name); err != nil {
			return nil, fmt.Errorf("read the page of %s: %w", one.Tool, err)
		}
		part.Apps = append(part.Apps, one)
	}
	return mcp.Mount(mux, part)
}
