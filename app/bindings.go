package app

import (
	"log/slog"
	"path/filepath"

	"go.uber.org/fx"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/app/host/programs/agenthost"
	"github.com/scrollery/scrollery/app/host/programs/readerhost"
	"github.com/scrollery/scrollery/app/host/programs/sandboxhost"
	"github.com/scrollery/scrollery/modules/account"
	"github.com/scrollery/scrollery/modules/admission"
	"github.com/scrollery/scrollery/modules/billing"
	"github.com/scrollery/scrollery/modules/billing/credits"
	"github.com/scrollery/scrollery/modules/briefs"
	"github.com/scrollery/scrollery/modules/changes"
	"github.com/scrollery/scrollery/modules/changes/webhooks"
	"github.com/scrollery/scrollery/modules/collections"
	"github.com/scrollery/scrollery/modules/imports"
	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/keys"
	"github.com/scrollery/scrollery/modules/library"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/modules/library/removal"
	"github.com/scrollery/scrollery/modules/library/scoring"
	"github.com/scrollery/scrollery/modules/library/videos"
	"github.com/scrollery/scrollery/modules/oauth"
	"github.com/scrollery/scrollery/modules/policy"
	"github.com/scrollery/scrollery/modules/quota"
	"github.com/scrollery/scrollery/modules/rules"
	"github.com/scrollery/scrollery/modules/rules/preview"
	"github.com/scrollery/scrollery/modules/sandbox"
	"github.com/scrollery/scrollery/modules/scrolls"
	"github.com/scrollery/scrollery/modules/shares"
	"github.com/scrollery/scrollery/modules/sources"
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
		func(v *videos.Service) workspace.Library { return v },
		func(h *scrolls.History) workspace.Scrolls { return h },
		func(s *rules.Service) workspace.Rules { return s },
		func(r *workspace.Reader) rules.Workspace { return r },
		func(s *scrolls.Service) preview.Screens { return s },
		func(v *videos.Service) preview.Library { return v.Catalog },
		func(r *workspace.Reader) library.Workspace { return r },
		func(h *scrolls.History) library.Scrolls { return h },
		func(r *imports.Readings) library.Imports { return r },
		func(m *collections.Members, p *shares.Parts) library.Dependants { return dependants{m, p} },
		func(l *library.Library, c *collections.Service) shares.Library {
			return sharedParts{l.Videos.Catalog, l.Insight, c}
		},
		func(k *keys.Service) shares.Accounts { return k },
		func(l *library.Library) collections.Library { return collected{l.Videos.Catalog, l.Insight} },
		func(h removal.Holdings) policy.Holdings { return holdings{h} },
		retention,
		thinning,
		scrollNeeds,
		sandboxNeeds,
		briefNeeds,
		webhookNeeds,
		func(s *quota.Service) host.Quotas { return siteQuotas{s} },
		func(m *sources.Memory) host.Memory { return m },
		func(c Config, a *sources.Accounts) host.Accounts {
			if !c.OwnKeys {
				return nil
			}
			return accountSources{a}
		},
		func(c Config) sources.Sealer { return c.sealer() },
		func(c Config, h *host.Host, q *quota.Service) sources.Needs {
			return sources.Needs{Plugins: sourcePlugins{h, sourceQuotas{q, h}, c.BaseURL, c.OwnKeys}}
		},
		accountNeeds,
		importNeeds,
		func(v *videos.Service, l *lists.Service) changes.Library { return changedNames{v, l} },
		func(m *api.Mux, k *keys.Service) oauth.Needs {
			return oauth.Needs{Mails: signIns{k}, Sessions: agentSessions{k}, Protocols: protocols{m}}
		},
		func() admission.Keys { return keyStates{} },
		func(c billing.Config) admission.Plans { return c },
		func(s *usage.Service) admission.Usage { return spending{s} },
	),
)

// accountNeeds are the needs of the module account.
func accountNeeds(m keys.Mailer, k *keys.Service, b *billing.Service, s *sandbox.Service, c *changes.Service, l *scoring.Service, r *credits.Service, u *usage.Service, d account.Removals) account.Needs {
	return account.Needs{
		Mailer: m, Accounts: k, Billing: b, Files: s, Changes: exportedChanges{c}, Trends: l.Trends,
		Keys: callingKeys{k}, Credits: balances{r}, Usage: spending{u}, Removals: d,
	}
}

// scrollNeeds are the needs of the module scrolls.
func scrollNeeds(cfg Config, q *quota.Service, w *workspace.Reader, r *rules.Service, v *videos.Service, l *scoring.Service, s *billing.Subscriptions, u *usage.Service, k *keys.Service, h *host.Host, i *imports.Readings) scrolls.Needs {
	return scrolls.Needs{
		Workspaces: w, Rules: r, Plans: plans{s, u, v, k}, Charger: u, Imports: importReadings{i},
		Library: v.Catalog, Archiver: archiver{v, l}, Stages: scrollStages{h}, Pages: pages(cfg), Quotas: sourceQuotas{q, h},
	}
}

// importNeeds are the needs of the module imports.
func importNeeds(w *workspace.Reader, l *videos.Service, s *billing.Subscriptions, u *usage.Service, k *keys.Service, c *scrolls.Service, h *host.Host, log *slog.Logger) imports.Needs {
	return imports.Needs{
		Reader: readerhost.New(h.Processes, log), Scrolls: importRuns{c}, Plans: importPlans{plans{s, u, l, k}, w}, Charger: u, Library: importLibrary{l.Catalog, videos.NewDeletions(l)},
	}
}

// briefNeeds are the needs of the module briefs.
func briefNeeds(w *workspace.Reader, r *rules.Service, l *library.Library, k *collections.Service, c *credits.Service, h *host.Host) briefs.Needs {
	return briefs.Needs{Workspaces: w, Rules: r, Library: l.Lists, Collections: k, Videos: l.Insight, Charges: briefCharges{c}, Stages: briefStages{h}}
}

// webhookNeeds are the needs of the module webhooks. Its secrets are sealed with the key of
// the configuration, or of a file in the data folder, which is made when it is first needed.
func webhookNeeds(cfg Config, k *keys.Service, m keys.Mailer) webhooks.Needs {
	return webhooks.Needs{Owners: k, Mailer: m, Sealer: cfg.sealer()}
}

// sealer seals with the key of the configuration or of the file, which it reads when it is
// first needed, and again after it was replaced.
func (c *Config) sealer() func() (*secret.Sealer, error) {
	return c.keyRing().Sealer
}

// keyRing are the server's keys: of the configuration, or of the file.
func (c *Config) keyRing() *secret.Keys {
	return secret.NewKeys(c.SecretKey, filepath.Join(c.DataDir, secretKeyFile))
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
func sandboxNeeds(cfg Config, c *credits.Service, l *lists.Service, h *host.Host, log *slog.Logger) sandbox.Needs {
	programs := sandboxhost.New(h.Processes, cfg.Sandbox, log)
	return sandbox.Needs{
		Charges: agentCharges{c}, Library: l, Programs: programs, Scratch: programs.Scratch, Planner: agenthost.New(h.Processes, cfg.Planner),
	}
}
