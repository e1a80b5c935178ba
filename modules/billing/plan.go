package billing

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"time"
)

// PlanID is what the API calls every subscription's plan.
const PlanID = "research_library"

// Intervals of payment, as the API spells them.
const (
	Monthly = "monthly"
	Annual  = "annual"
)

// Plan is what a subscription costs and gives.
type Plan struct {
	// Key is `standard` or `pro`.
	Key string `yaml:"-"`
	// Label is the name for people.
	Label string `yaml:"label"`
	// MonthlyCents and AnnualCents are the prices in US cents.
	MonthlyCents int64 `yaml:"monthly_cents"`
	AnnualCents  int64 `yaml:"annual_cents"`
	// MonthlyLookup and AnnualLookup are the lookup keys of the prices in Stripe.
	MonthlyLookup string `yaml:"monthly_lookup"`
	AnnualLookup  string `yaml:"annual_lookup"`
	// MaxFeedSize is the most new videos that one scroll archives.
	MaxFeedSize int `yaml:"max_feed_size"`
	// Workspaces of an account.
	Workspaces int `yaml:"workspaces"`
	// ActiveScrolls is how many scrolls may be queued or running at once; a million or
	// more: any number.
	ActiveScrolls int `yaml:"active_scrolls"`
	// DailyUnits and MonthlyUnits are the budgets.
	DailyUnits   int64 `yaml:"daily_units"`
	MonthlyUnits int64 `yaml:"monthly_units"`
	// MaxVideos is how many videos the library may hold: what is beyond it is not imported.
	MaxVideos int `yaml:"max_videos"`
	// MaxImportBytes is the largest file that may be imported.
	MaxImportBytes int64 `yaml:"max_import_bytes"`
	// FramedVideos is how many videos of the library keep frames of their first seconds, at
	// most 30,000 bytes each: those that were looked at last. 0 keeps none.
	FramedVideos int `yaml:"framed_videos"`
}

// Cents returns the price for an interval.
func (p Plan) Cents(interval string) int64 {
	if interval == Annual {
		return p.AnnualCents
	}
	return p.MonthlyCents
}

// Lookup returns the lookup key of the price for an interval.
func (p Plan) Lookup(interval string) string {
	if interval == Annual {
		return p.AnnualLookup
	}
	return p.MonthlyLookup
}

// annualMonthlyCents is the annual price for one month, in whole cents.
func (p Plan) annualMonthlyCents() int64 {
	return int64(math.Round(float64(p.AnnualCents) / 12))
}

// Config is the module's part of the configuration.
type Config struct {
	// BaseURL is the service's public address, without a slash at the end: it
	// precedes the address of a test checkout.
	BaseURL string `yaml:"-"`
	// Standard and Pro are the plans on sale. Default: 39 and 99 dollars a month.
	Standard Plan `yaml:"standard"`
	Pro      Plan `yaml:"pro"`
	// CheckoutTTL is how long a checkout can be paid. Default: 24 hours.
	CheckoutTTL time.Duration `yaml:"checkout_ttl"`
	// ReconcileEvery is how often the provider is asked unasked, ReconcileAfter how
	// long its events of a checkout get before that, and SyncAfter how long a
	// subscription is believed. Default: 5 minutes, 10 minutes, 6 hours.
	ReconcileEvery time.Duration `yaml:"reconcile_every"`
	ReconcileAfter time.Duration `yaml:"reconcile_after"`
	SyncAfter      time.Duration `yaml:"sync_after"`
	// Stripe takes the payments; without its secret key the test checkout does.
	Stripe StripeConfig `yaml:"stripe"`
}

// StripeConfig is how to reach Stripe.
type StripeConfig struct {
	// SecretKey of the account; empty for the test checkout.
	SecretKey string `yaml:"-"`
	// WebhookSecret signs the events; without it none is taken, and changes are
	// found by asking, minutes later.
	WebhookSecret string `yaml:"-"`
	// APIURL is empty for Stripe's own.
	APIURL string `yaml:"-"`
	// Timeout bounds one request. Default: 10 seconds.
	Timeout time.Duration `yaml:"timeout"`
}

func (c StripeConfig) validate(plans ...Plan) error {
	var faults []error
	if c.Timeout <= 0 {
		faults = append(faults, fmt.Errorf("stripe timeout %v: want more than 0", c.Timeout))
	}
	if c.APIURL != "" {
		if api, err := url.Parse(c.APIURL); err != nil || api.Host == "" || api.Scheme != "http" && api.Scheme != "https" {
			faults = append(faults, fmt.Errorf("stripe api url %q: want an http or https address", c.APIURL))
		}
	}
	if c.WebhookSecret != "" && c.SecretKey == "" {
		faults = append(faults, errors.New("a stripe webhook secret without a stripe secret key: set both or none"))
	}
	if c.SecretKey == "" {
		return errors.Join(faults...)
	}
	seen := map[string]bool{}
	for _, plan := range plans {
		for _, key := range []string{plan.MonthlyLookup, plan.AnnualLookup} {
			if key == "" || seen[key] {
				faults = append(faults, fmt.Errorf("plan %s: its lookup key %q is empty or taken", plan.Key, key))
			}
			seen[key] = true
		}
	}
	return errors.Join(faults...)
}

// Defaults returns the configuration of a local server.
func Defaults() Config {
	return Config{
		BaseURL:        "http://127.0.0.1:8080",
		CheckoutTTL:    24 * time.Hour,
		ReconcileEvery: 5 * time.Minute, ReconcileAfter: 10 * time.Minute, SyncAfter: 6 * time.Hour,
		Stripe: StripeConfig{Timeout: 10 * time.Second},
		Standard: Plan{
			Key: "standard", Label: "Standard", MonthlyCents: 3900, AnnualCents: 39000,
			MonthlyLookup: "scrollery_standard_monthly", AnnualLookup: "scrollery_standard_annual",
			MaxFeedSize: 250, Workspaces: 1, ActiveScrolls: 1, DailyUnits: 5000, MonthlyUnits: 75000,
			MaxVideos: 100_000, MaxImportBytes: 64 << 20, FramedVideos: 1000,
		},
		Pro: Plan{
			Key: "pro", Label: "Pro", MonthlyCents: 9900, AnnualCents: 99000,
			MonthlyLookup: "scrollery_pro_monthly", AnnualLookup: "scrollery_pro_annual",
			MaxFeedSize: 1000, Workspaces: 1, ActiveScrolls: 3, DailyUnits: 20000, MonthlyUnits: 300000,
			MaxVideos: 1_000_000, MaxImportBytes: 64 << 20, FramedVideos: 4000,
		},
	}
}

// Validate reports every value out of bounds.
func (c Config) Validate() error {
	var faults []error
	base, err := url.Parse(c.BaseURL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" ||
		base.RawQuery != "" || base.Fragment != "" || base.User != nil || c.BaseURL[len(c.BaseURL)-1] == '/' {
		faults = append(faults, fmt.Errorf("base url %q: want http(s)://host without a slash at the end", c.BaseURL))
	}
	if c.CheckoutTTL <= 0 {
		faults = append(faults, fmt.Errorf("checkout lifetime %v: want more than 0", c.CheckoutTTL))
	}
	if c.ReconcileEvery <= 0 || c.ReconcileAfter <= 0 || c.SyncAfter <= 0 {
		faults = append(faults, errors.New("reconcile every, reconcile after, sync after: want more than 0"))
	}
	if err := c.Stripe.validate(c.Standard, c.Pro); err != nil {
		faults = append(faults, err)
	}
	for key, plan := range map[string]Plan{"standard": c.Standard, "pro": c.Pro} {
		if plan.Key != key {
			faults = append(faults, fmt.Errorf("plan %s: its key is %q", key, plan.Key))
		}
		if plan.MonthlyCents < 0 || plan.AnnualCents < 0 || plan.MaxFeedSize < 1 || plan.Workspaces < 1 ||
			plan.ActiveScrolls < 1 || plan.DailyUnits < 1 || plan.MonthlyUnits < 1 ||
			plan.MaxVideos < 1 || plan.MaxImportBytes < 1 {
			faults = append(faults, fmt.Errorf("plan %s: prices cannot be negative, limits cannot be below 1", key))
		}
		if plan.FramedVideos < 0 {
			faults = append(faults, fmt.Errorf("plan %s: framed videos: %d is negative", key, plan.FramedVideos))
		}
	}
	return errors.Join(faults...)
}

// Plan returns the plan of a key; ok is false for anything but `standard` and `pro`.
func (c Config) Plan(key string) (plan Plan, ok bool) {
	switch key {
	case c.Standard.Key:
		return c.Standard, true
	case c.Pro.Key:
		return c.Pro, true
	}
	return Plan{}, false
}

// Budget returns the daily and monthly budget of a plan with an account's own limits, in units. An account
// without a plan is measured by the smaller one.
func (c Config) Budget(plan, own string) (daily, monthly int64) {
	p, ok := c.Plan(plan)
	if !ok {
		p = c.Standard
	}
	p = p.with(own)
	return p.DailyUnits, p.MonthlyUnits
}
