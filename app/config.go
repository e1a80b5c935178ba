package app

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/scrollery/scrollery/app/connections"
	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/modules/billing"
	"github.com/scrollery/scrollery/modules/briefs"
	"github.com/scrollery/scrollery/modules/changes/webhooks"
	"github.com/scrollery/scrollery/modules/imports"
	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/api/mcp"
	"github.com/scrollery/scrollery/modules/kernel/mail"
	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/webpage"
	"github.com/scrollery/scrollery/modules/keys"
	"github.com/scrollery/scrollery/modules/library"
	"github.com/scrollery/scrollery/modules/policy"
	"github.com/scrollery/scrollery/modules/sandbox"
	"github.com/scrollery/scrollery/modules/scrolls"
	"github.com/scrollery/scrollery/modules/shares"
	"github.com/scrollery/scrollery/modules/usage"
	"github.com/scrollery/scrollery/plugins/programs/agent"
	"github.com/scrollery/scrollery/plugins/recipe"
)

// Config is everything that an operator can set, a part for each module.
// Defaults returns one that serves on the embedded database.
type Config struct {
	// Addr is where the server listens; port 0 picks a free one.
	Addr string `yaml:"addr"`
	// OpsAddr is where a process of any role answers probes and serves metrics; port 0
	// picks a free one. It is not for the public.
	OpsAddr string `yaml:"ops_addr"`
	// OpsPage serves the page of the operator there; off by default.
	OpsPage bool `yaml:"ops_page"`
	// BaseURL is the public address, without a trailing slash. Empty means http:// and
	// Addr, with the port that was picked if Addr has port 0.
	BaseURL string `yaml:"base_url"`
	// DataDir has the embedded database, the outbox and the files of accounts.
	// Scratch folders of stages are not in it: processes of several machines may share
	// this folder, and scratch folders must be local.
	DataDir string `yaml:"data_dir"`
	// DatabaseURL is empty for SQLite in DataDir, or a postgres:// address.
	DatabaseURL string `yaml:"database_url"`
	// DatabaseDirectURL is the server's own address where DatabaseURL is a pooler of
	// transactions; empty if it is the server.
	DatabaseDirectURL string `yaml:"database_direct_url"`
	// DatabasePool is the most connections in the pool of this process; 0, the default,
	// for a twentieth of what the server admits, from 3 to 16.
	DatabasePool int `yaml:"database_pool"`
	// StatementTimeout and LockTimeout bound a statement, and its wait for a lock, on
	// PostgreSQL; 0 for no bound. Default: 1m and 15s.
	StatementTimeout time.Duration `yaml:"statement_timeout"`
	LockTimeout      time.Duration `yaml:"lock_timeout"`
	// Roles is the work of this process: `api`, `worker`, or both.
	Roles []string `yaml:"roles"`
	// PluginDir has external plugins and their manifests; empty for none.
	PluginDir string `yaml:"plugin_dir"`
	// RecipesDir has recipes of providers and files with their secrets. It is read again every
	// few seconds; empty for none.
	RecipesDir string `yaml:"recipes_dir"`
	// RateLimit turns request rates on.
	RateLimit bool `yaml:"rate_limit"`
	// ReadPages lets planning read the websites and app-store pages of workspaces to
	// find terms, if a source searches by terms.
	ReadPages bool `yaml:"read_pages"`
	// OwnKeys lets accounts use keys of their own for sources. Without it, those that accounts
	// stored stay sealed, and are not used.
	OwnKeys bool `yaml:"own_keys"`
	// TrustedProxies may name the client in X-Forwarded-For.
	TrustedProxies []netip.Prefix `yaml:"trusted_proxies"`
	// LameDuck is how long a stopping server still accepts requests, while its probe
	// answers 503; default 3 s, at most a minute.
	LameDuck time.Duration `yaml:"lame_duck"`
	// CORSOrigins are the web origins whose scripts may read answers in a browser.
	CORSOrigins []string `yaml:"cors_origins"`
	// LogLevel is `debug`, `info`, `warn` or `error`.
	LogLevel slog.Level `yaml:"log_level"`
	// StripeSecretKey takes payments through Stripe; empty for the test checkout.
	StripeSecretKey string `yaml:"stripe_secret_key"`
	// StripeWebhookSecret signs Stripe's events; without it none is accepted.
	StripeWebhookSecret string `yaml:"stripe_webhook_secret"`
	// StripeAPIURL is empty for Stripe's public address.
	StripeAPIURL string `yaml:"stripe_api_url"`
	// SMTPURL is the mail server in the form of mail.NewSMTP; empty for the outbox.
	SMTPURL string `yaml:"smtp_url"`
	// MailFrom is the sender of mail, an address or `Name <address>`.
	MailFrom string `yaml:"mail_from"`

	// AgentURL, AgentModel and AgentKey name an OpenAI-compatible chat endpoint that
	// plans for the agent; without a URL the built-in planner does.
	AgentURL   string `yaml:"agent_url"`
	AgentModel string `yaml:"agent_model"`
	AgentKey   string `yaml:"agent_key"`

	// SecretKey seals the secrets of webhooks in the database: an unguessable text of at
	// least 32 bytes, the same on every process. Empty: a file in the data folder has it.
	SecretKey string `yaml:"secret_key"`

	// StageValues are settings and secrets of the built-in stages, by the names of
	// their variables without Prefix. In the file they are top-level keys in lower case.
	StageValues map[string]string `yaml:"-"`

	// again reads the configuration again from where it was read; nil if it was not read.
	again func() (Config, error)

	// Console has the files of the console; nil for those in the binary.
	Console fs.FS `yaml:"-"`
	// ClientDocuments fetches the metadata documents of agents that sign in, for tests; nil
	// dials public addresses.
	ClientDocuments http.RoundTripper `yaml:"-"`

	// The parts of the modules. The values above take precedence over the same values
	// in a part.
	Protocols   api.Config         `yaml:"protocols"`
	Connections connections.Bounds `yaml:"connections"`
	Keys        keys.Config        `yaml:"keys"`
	Billing     billing.Config     `yaml:"billing"`
	Usage       usage.Config       `yaml:"usage"`
	Scrolls     scrolls.Config     `yaml:"scrolls"`
	Imports     imports.Config     `yaml:"imports"`
	Library     library.Config     `yaml:"library"`
	Policy      policy.Config      `yaml:"policy"`
	Sandbox     sandbox.Config     `yaml:"sandbox"`
	Briefs      briefs.Config      `yaml:"briefs"`
	Shares      shares.Config      `yaml:"shares"`
	Planner     agent.Config       `yaml:"planner"`
	Plugins     host.Config        `yaml:"plugins"`
	Pages       webpage.Config     `yaml:"pages"`
	Webhooks    webhooks.Config    `yaml:"webhooks"`
	Agents      mcp.Config         `yaml:"mcp"`
}

// Defaults returns the configuration without file, environment and flags.
func Defaults() Config {
	return Config{
		Addr:      "127.0.0.1:8080",
		OpsAddr:   "127.0.0.1:8081",
		DataDir:   "./data",
		Roles:     []string{"api", "worker"},
		RateLimit: true,
		LameDuck:  3 * time.Second,

		StatementTimeout: store.Defaults().StatementTimeout,
		LockTimeout:      store.Defaults().LockTimeout,

		ReadPages:   true,
		OwnKeys:     true,
		MailFrom:    "Scrollery <no-reply@localhost>",
		Protocols:   api.Defaults(),
		Connections: connections.Bounds{Max: 10_000, PerAddress: 1000, UnreadFor: 30 * time.Second},
		Keys:        keys.Defaults(),
		Billing:     billing.Defaults(),
		Usage:       usage.Defaults(),
		Scrolls:     scrolls.Defaults(),
		Imports:     imports.Defaults(),
		Library:     library.Defaults(),
		Sandbox:     sandbox.Defaults(),
		Briefs:      briefs.Defaults(),
		Planner:     agent.Defaults(),
		Plugins:     host.Defaults(),
		Pages:       webpage.Defaults(),
		Webhooks:    webhooks.Defaults(),
		Agents:      mcp.Defaults(),
	}
}

// Settings are the values that the environment and flags can give.
func Settings() []Setting {
	text := func(field func(*Config) *string) func(*Config, string) error {
		return func(c *Config, value string) error { *field(c) = value; return nil }
	}
	onOrOff := func(field func(*Config) *bool) func(*Config, string) error {
		return func(c *Config, value string) error {
			if value != "on" && value != "off" {
				return fmt.Errorf("%q is neither on nor off", value)
			}
			*field(c) = value == "on"
			return nil
		}
	}
	return append([]Setting{
		{Name: "ADDR", Default: "127.0.0.1:8080", Usage: "address to listen on", set: text(func(c *Config) *string { return &c.Addr })},
		{Name: "OPS_ADDR", Default: "127.0.0.1:8081", Usage: "address of the operations port: probes and metrics", set: text(func(c *Config) *string { return &c.OpsAddr })},
		{Name: "OPS_PAGE", Default: "off", Usage: "page of the operator on the operations port: `on` or `off`", set: onOrOff(func(c *Config) *bool { return &c.OpsPage })},
		{Name: "BASE_URL", Default: "http://<addr>", Usage: "public address of the server", set: text(func(c *Config) *string { return &c.BaseURL })},
		{Name: "DATA_DIR", Default: "./data", Usage: "folder of the embedded database, the outbox and the files of accounts", set: text(func(c *Config) *string { return &c.DataDir })},
		{Name: "DATABASE_URL", Secret: true, Default: "SQLite in the data folder", Usage: "postgres:// address", set: text(func(c *Config) *string { return &c.DatabaseURL })},
		{Name: "DATABASE_DIRECT_URL", Secret: true, Default: "the database address", Usage: "postgres:// address of the server behind a pooler of transactions", set: text(func(c *Config) *string { return &c.DatabaseDirectURL })},
		{Name: "DATABASE_POOL", Default: "a twentieth of the server's, 3 to 16", Usage: "connections to PostgreSQL in the pool of a process", set: func(c *Config, value string) (err error) {
			c.DatabasePool, err = wholeNumber(value)
			return err
		}},
		{Name: "STATEMENT_TIMEOUT", Default: "1m", Usage: "longest statement on PostgreSQL, 0 for no bound", set: func(c *Config, value string) (err error) {
			c.StatementTimeout, err = duration(value)
			return err
		}},
		{Name: "LOCK_TIMEOUT", Default: "15s", Usage: "longest wait for a lock on PostgreSQL, 0 for no bound", set: func(c *Config, value string) (err error) {
			c.LockTimeout, err = duration(value)
			return err
		}},
		{Name: "ROLES", Default: "api,worker", Usage: "work of this process: api, worker or both", set: func(c *Config, value string) error {
			c.Roles = list(value)
			return nil
		}},
		{Name: "PLUGIN_DIR", Usage: "folder of external plugins", set: text(func(c *Config) *string { return &c.PluginDir })},
		{Name: "RECIPES_DIR", Usage: "folder of recipes of providers, read again while the server runs", set: text(func(c *Config) *string { return &c.RecipesDir })},
		{Name: "PLUGIN_BOX", Usage: "`none` runs plugins without a box, with the rights of the server", set: text(func(c *Config) *string { return &c.Plugins.Box })},
		{Name: "RATE_LIMIT", Default: "on", Usage: "request rates: `on` or `off`", set: onOrOff(func(c *Config) *bool { return &c.RateLimit })},
		{Name: "READ_PAGES", Default: "on", Usage: "whether planning reads the websites and app-store pages of workspaces to find terms: `on` or `off`", set: onOrOff(func(c *Config) *bool { return &c.ReadPages })},
		{Name: "OWN_KEYS", Default: "on", Usage: "whether accounts may use keys of their own for sources: `on` or `off`", set: onOrOff(func(c *Config) *bool { return &c.OwnKeys })},
		{Name: "TRUSTED_PROXIES", Usage: "address ranges of proxies whose X-Forwarded-For is trusted, separated by commas", set: func(c *Config, value string) (err error) {
			c.TrustedProxies, err = prefixes(value)
			return err
		}},
		{Name: "CORS_ORIGINS", Usage: "web origins whose scripts may call the API in a browser, separated by commas", set: func(c *Config, value string) error {
			c.CORSOrigins = list(value)
			return nil
		}},
		{Name: "STRIPE_SECRET_KEY", Secret: true, Default: "test checkout", Usage: "secret key of the Stripe account", set: text(func(c *Config) *string { return &c.StripeSecretKey })},
		{Name: "STRIPE_WEBHOOK_SECRET", Secret: true, Usage: "signing secret of the webhook", set: text(func(c *Config) *string { return &c.StripeWebhookSecret })},
		{Name: "STRIPE_API_URL", Default: "Stripe's public address", Usage: "address of the Stripe API", set: text(func(c *Config) *string { return &c.StripeAPIURL })},
		{Name: "SMTP_URL", Secret: true, Default: "the outbox folder", Usage: "smtps:// or smtp:// address of the mail server", set: text(func(c *Config) *string { return &c.SMTPURL })},
		{Name: "MAIL_FROM", Default: "Scrollery <no-reply@localhost>", Usage: "sender of mail", set: text(func(c *Config) *string { return &c.MailFrom })},
		{Name: "SECRET_KEY", Secret: true, Default: "secret.key in the data folder", Usage: "key that seals the secrets of webhooks in the database, 32 bytes or more", set: text(func(c *Config) *string { return &c.SecretKey })},
		{Name: "AGENT_URL", Default: "the built-in planner", Usage: "base address of the chat endpoint that plans for the agent", set: text(func(c *Config) *string { return &c.AgentURL })},
		{Name: "AGENT_MODEL", Usage: "name of the model at the agent's endpoint; needed with its address", set: text(func(c *Config) *string { return &c.AgentModel })},
		{Name: "AGENT_KEY", Secret: true, Usage: "bearer key of the agent's endpoint", set: text(func(c *Config) *string { return &c.AgentKey })},
		{Name: "POLICY_FILE", Default: "the shipped table", Usage: "file of your own table of what is kept how long", set: text(func(c *Config) *string { return &c.Policy.File })},
		{Name: "MCP_BUDGET", Default: "16384", Usage: "most bytes of an answer to an agent", set: func(c *Config, value string) (err error) {
			c.Agents.Budget, err = wholeNumber(value)
			return err
		}},
		{Name: "LAME_DUCK", Default: "3s", Usage: "how long a stopping server still accepts requests", set: func(c *Config, value string) (err error) {
			c.LameDuck, err = duration(value)
			return err
		}},
		{Name: "LOG_LEVEL", Default: "info", Usage: "debug, info, warn or error", set: func(c *Config, value string) error {
			if err := c.LogLevel.UnmarshalText([]byte(value)); err != nil {
				return fmt.Errorf("%q is not debug, info, warn or error", value)
			}
			return nil
		}},
	}, stageSettings()...)
}

// Complete sets the values that follow from others, and validates all.
func (c *Config) Complete() error {
	if c.BaseURL == "" {
		c.BaseURL = "http://" + c.Addr
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	c.Protocols.BaseURL, c.Protocols.RateLimit, c.Protocols.TrustedProxies = c.BaseURL, c.RateLimit, c.TrustedProxies
	c.Protocols.Origins = c.CORSOrigins
	c.Billing.BaseURL, c.Keys.BaseURL = c.BaseURL, c.BaseURL
	c.Billing.Stripe.SecretKey, c.Billing.Stripe.WebhookSecret = c.StripeSecretKey, c.StripeWebhookSecret
	c.Billing.Stripe.APIURL = strings.TrimRight(c.StripeAPIURL, "/")
	c.Planner.URL, c.Planner.Model, c.Planner.Key = c.AgentURL, c.AgentModel, c.AgentKey
	c.Plugins.Builtins, c.Plugins.Together, c.Plugins.Dir = Stages(), together(), c.PluginDir
	c.Plugins.Late, c.Plugins.LateGroup = (&recipes{dir: c.RecipesDir}).late, recipe.ID
	c.giveStages()
	// The file changes only the templates and deadlines that it names.
	known := scrolls.Defaults()
	maps.Copy(known.Templates, c.Scrolls.Templates)
	maps.Copy(known.Deadlines, c.Scrolls.Deadlines)
	c.Scrolls.Templates, c.Scrolls.Deadlines = known.Templates, known.Deadlines
	data, err := filepath.Abs(c.DataDir)
	if err != nil {
		return fmt.Errorf("%sDATA_DIR: %w", Prefix, err)
	}
	c.Sandbox.Dir = filepath.Join(data, "sandbox")
	return c.Validate()
}

// API and Worker report the roles of this process.
// databaseName is where the rows are, without what opens it.
func (c *Config) databaseName() string {
	if c.DatabaseURL == "" {
		return "sqlite"
	}
	address, err := url.Parse(c.DatabaseURL)
	if err != nil {
		return "postgres"
	}
	return "postgres " + address.Host + address.Path
}

func (c *Config) API() bool    { return slices.Contains(c.Roles, "api") }
func (c *Config) Worker() bool { return slices.Contains(c.Roles, "worker") }

// Outbox is the folder of mail without a configured mail server.
func (c *Config) Outbox() string { return filepath.Join(c.DataDir, "outbox") }

// Validate reports all invalid values, before anything is opened.
func (c *Config) Validate() error {
	var faults []error
	fault := func(name, format string, args ...any) {
		faults = append(faults, fmt.Errorf("%s%s: %s", Prefix, name, fmt.Sprintf(format, args...)))
	}
	base, err := url.Parse(c.BaseURL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		fault("BASE_URL", "%q is not an http or https address", c.BaseURL)
	}
	if _, port, err := net.SplitHostPort(c.OpsAddr); err != nil {
		fault("OPS_ADDR", "%q is not host:port", c.OpsAddr)
	} else if c.OpsAddr == c.Addr && c.API() && port != "0" {
		fault("OPS_ADDR", "%s is the public address: operations have a port of their own", c.OpsAddr)
	}
	if b := c.Connections; b.Max < 1 || b.PerAddress < 1 || b.UnreadFor < time.Second {
		faults = append(faults, errors.New("connections: want at least one, one of an address, and a second to read in"))
	}
	if c.DataDir == "" {
		fault("DATA_DIR", "a folder is needed")
	}
	if c.DatabaseURL != "" && !strings.HasPrefix(c.DatabaseURL, "postgres://") && !strings.HasPrefix(c.DatabaseURL, "postgresql://") {
		fault("DATABASE_URL", "not a postgres:// address; leave it empty for SQLite")
	}
	if info, err := os.Stat(c.RecipesDir); c.RecipesDir != "" && (err != nil || !info.IsDir()) {
		fault("RECIPES_DIR", "%s is no folder that can be read", c.RecipesDir)
	}
	c.checkStages(fault)
	if c.SMTPURL != "" {
		if _, err := mail.NewSMTP(c.SMTPURL, c.MailFrom, slog.New(slog.DiscardHandler)); err != nil {
			fault("SMTP_URL", "%v", err)
		}
	}
	if c.SecretKey != "" && len(c.SecretKey) < secret.MinKey {
		fault("SECRET_KEY", "shorter than %d bytes", secret.MinKey)
	}
	if len(c.Roles) == 0 {
		fault("ROLES", "name api, worker or both")
	}
	for _, role := range c.Roles {
		if role != "api" && role != "worker" {
			fault("ROLES", "%q is neither api nor worker", role)
		}
	}
	if c.DatabaseURL == "" && !(c.API() && c.Worker()) {
		fault("ROLES", "SQLite serves one process, which must be both api and worker")
	}
	if c.LameDuck < 0 || c.LameDuck > time.Minute {
		fault("LAME_DUCK", "%v is not between 0 and 1m", c.LameDuck)
	}
	for name, part := range map[string]interface{ Validate() error }{
		"protocols": c.Protocols, "keys": c.Keys, "billing": c.Billing, "usage": c.Usage,
		"database": c.store(), "scrolls": c.Scrolls, "library": c.Library, "sandbox": c.Sandbox, "briefs": c.Briefs, "agent": c.Planner, "plugins": c.Plugins, "pages": c.Pages, "webhooks": c.Webhooks, "mcp": c.Agents,
	} {
		if err := part.Validate(); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(faults...)
}

// store returns the configuration of the storage.
func (c *Config) store() store.Config {
	part := store.Defaults()
	part.DatabaseURL, part.DataDir, part.DirectURL = c.DatabaseURL, c.DataDir, c.DatabaseDirectURL
	part.MaxConns, part.StatementTimeout, part.LockTimeout = c.DatabasePool, c.StatementTimeout, c.LockTimeout
	return part
}
