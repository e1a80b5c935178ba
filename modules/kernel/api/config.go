package api

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"time"
)

// Config is the kernel's part of the configuration.
type Config struct {
	// BaseURL is the public address, without a slash at the end. Links in
	// refusals (`subscribeUrl`) start with it.
	BaseURL string `yaml:"-"`
	// RateLimit turns rates on. When off, nothing is refused for its rate and the
	// headers show a full allowance. Default: on.
	RateLimit bool `yaml:"-"`
	// KeyRate is how many requests a second one key may make; default 10.
	KeyRate float64 `yaml:"key_rate"`
	// KeyBurst is how many it may make at once; default 50.
	KeyBurst int `yaml:"key_burst"`
	// ClientRate and ClientBurst are the same for public operations and one
	// client address (an IPv6 client counts as its /64); default 1 and 20.
	ClientRate  float64 `yaml:"client_rate"`
	ClientBurst int     `yaml:"client_burst"`
	// TrustedProxies may name the client in X-Forwarded-For. Default: none.
	TrustedProxies []netip.Prefix `yaml:"-"`
	// Tiers puts operations behind a tier: operation id to `starter` or `max`.
	// Plan `standard` is tier `starter`, `pro` is `max`. Default: none.
	Tiers map[string]string `yaml:"tiers"`
	// Observe is told about every request after its answer; nil: nobody is.
	// It must not block.
	Observe func(Observation) `yaml:"-"`
}

// Observation is what metrics see of one request.
type Observation struct {
	// Op is the operation id, empty for a request that maps to none.
	Op string
	// Door is `rest`, `connect`, `grpc`, `grpc-web` or `other`.
	Door string
	// Code is the error code of the answer, `ok` for a success.
	Code string
	// Duration runs from the request's arrival to the end of its answer.
	Duration time.Duration
}

// Defaults returns the configuration that a missing one stands for.
func Defaults() Config {
	return Config{
		BaseURL: "http://127.0.0.1:8080", RateLimit: true,
		KeyRate: 10, KeyBurst: 50, ClientRate: 1, ClientBurst: 20,
	}
}

// Validate refuses what cannot be served.
func (c Config) Validate() error {
	base, err := url.Parse(c.BaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return fmt.Errorf("base URL %q is not an http or https address", c.BaseURL)
	}
	if c.KeyRate <= 0 || c.ClientRate <= 0 || c.KeyBurst < 1 || c.ClientBurst < 1 {
		return errors.New("rates and bursts must be above 0")
	}
	for id, tier := range c.Tiers {
		if !slices.Contains([]string{"starter", "max"}, tier) {
			return fmt.Errorf("tier %q of operation %s is neither starter nor max", tier, id)
		}
	}
	return nil
}
