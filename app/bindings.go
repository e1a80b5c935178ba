package app

import (
	"log/slog"
	"path/filepath"
	"sync"

	"go.uber.org/fx"

	"github.com/scrollery/scrollery/app/pluginhost"
	"github.com/scrollery/scrollery/app/pluginhost/programs/agenthost"
	"github.com/scrollery/scrollery/app/pluginhost/programs/sandboxhost"
	"github.com/scrollery/scrollery/modules/account"
	"github.com/scrollery/scrollery/modules/billing"
	"github.com/scrollery/scrollery/modules/billing/credits"
	"github.com/scrollery/scrollery/modules/briefs"
	"github.com/scrollery/scrollery/modules/changes"
	"github.com/scrollery/scrollery/modules/changes/webhooks"
	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/keys"
	"github.com/scrollery/scrollery/modules/library"
	"github.com/scrollery/scrollery/modules/oauth"
	"github.com/scrollery/scrollery/modules/quota"
	"github.com/scrollery/scrollery/modules/rules"
	"github.com/scrollery/scrollery/modules/rules/preview"
	"github.com/scrollery/scrollery/modules/sandbox"
	"github.com/scrollery/scrollery/modules/scrolls"
	"github.com/scrollery/scrollery/modules/usage"
	"github.com/scrollery/scrollery/modules/workspace"
)

// bindings implements the needs of modules with other modules, one line each.
var bindings = fx.Options(
	fx.Provide(
		mailer,
		func(c billing.Config) usage.Plans { return c },
		func(s *billing.Subscriptions) keys.Subscriptions { return s },
		func(s *keys.Service) billing.Keys { return s },
		func(s *credits.Service) billing.Credits { return ledger{s} },
		paymentProvider,
		func(s *library.Service) workspace.Library { return s },
		func(h *scrolls.History) workspace.Scrolls { return h },
		func(s *rules.Service) workspace.Rules { return s },
		func(r *workspace.Reader) rules.Workspace { return r },
		func(s *scrolls.Service) preview.Screens { return s },
		func(s *library.Service) preview.Library { return s },
		func(r *workspace.Reader) library.Workspace { return r },
		func(h *scrolls.History) library.Scrolls { return h },
		scrollNeeds,
		sandboxNeeds,
		briefNeeds,
		webhookNeeds,
		func(s *quota.Service) pluginhost.Quotas { return siteQuotas{s} },
		accountNeeds,
		func(m *api.Mux, k *keys.Service) oauth.Needs {
			return oauth.Needs{Mails: signIns{k}, Sessions: agentSessions{k}, Protocols: protocols{m}}
		},
		func(a *admission) api.Admitter { return a },
	),
)

// accountNeeds are the needs of the module account.
func accountNeeds(m keys.Mailer, k *keys.Service, b *billing.Service, s *sandbox.Service, c *changes.Service, l *library.Service) account.Needs {
	return account.Needs{Mailer: m, Accounts: k, Billing: b, Files: s, Changes: exportedChanges{c}, Trends: l}
}

// scrollNeeds are the needs of the module scrolls.
func scrollNeeds(cfg Config, q *quota.Service, w *workspace.Reader, r *rules.Service, l *library.Service, s *billing.Subscriptions, u *usage.Service, h *pluginhost.Host) scrolls.Needs {
	return scrolls.Needs{
		Workspaces: w, Rules: r, Plans: plans{s, u}, Charger: u,
		Library: l, Archiver: archiver{l}, Stages: scrollStages{h}, Pages: pages(cfg), Quotas: sourceQuotas{q, h},
	}
}

// briefNeeds are the needs of the module briefs.
func briefNeeds(w *workspace.Reader, r *rules.Service, l *library.Service, c *credits.Service, h *pluginhost.Host) briefs.Needs {
	return briefs.Needs{Workspaces: w, Rules: r, Library: l, Credits: ledger{c}, Stages: briefStages{h}}
}

// webhookNeeds are the needs of the module webhooks. Its secrets are sealed with the key of
// the configuration, or of a file in the data folder, which is made when it is first needed.
func webhookNeeds(cfg Config, k *keys.Service, m keys.Mailer) webhooks.Needs {
	return webhooks.Needs{Owners: k, Mailer: m, Sealer: sync.OnceValues(func() (*secret.Sealer, error) {
		key, err := cfg.secretKey()
		if err != nil {
			return nil, err
		}
		return secret.NewSealer(key)
	})}
}

// secretKey is the key of sealed secrets: of the configuration, or of the file.
func (c *Config) secretKey() (string, error) {
	if c.SecretKey != "" {
		return c.SecretKey, nil
	}
	return secret.KeyFile(filepath.Join(c.DataDir, secretKeyFile))
}

// secretKeyFile has the key of sealed secrets where the configuration has none.
const secretKeyFile = "secret.key"

// sandboxNeeds are the needs of the module sandbox.
func sandboxNeeds(cfg Config, c *credits.Service, l *library.Service, h *pluginhost.Host, log *slog.Logger) sandbox.Needs {
	programs := sandboxhost.New(h, cfg.Sandbox, log)
	return sandbox.Needs{
		Credits: c, Holds: c, Library: l, Programs: programs, Scratch: programs.Scratch, Planner: agenthost.New(h, cfg.Planner),
	}
}
