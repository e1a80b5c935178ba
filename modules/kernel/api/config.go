package api

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/api/limit"
)

// Config configures the API.
type Config struct {
	// BaseURL is the public address, without a slash at the end. Links in
	// errors (`subscribeUrl`) start with it.
	BaseURL string `yaml:"-"`
	// RateLimit turns the rates on. When it is off, no call is refused for its rate and
	// the headers show a full allowance. Default: on.
	RateLimit bool `yaml:"-"`
	// AccountRate is the requests per second of one account, by all its keys and
	// session keys together; default 10.
	AccountRate float64 `yaml:"account_rate"`
	// AccountBurst is the requests that one account may make at once; default 50.
	AccountBurst int `yaml:"account_burst"`
	// ClientRate and ClientBurst are the same for public operations and one
	// client address (an IPv6 client counts as its /64); default 1 and 20.
	ClientRate  float64 `yaml:"client_rate"`
	ClientBurst int     `yaml:"client_burst"`
	// StrangerRate and StrangerBurst bound the calls of one client address that end in
	// 401, 404 or 405; beyond them it gets 429. Default 100 and 2,000.
	StrangerRate  float64 `yaml:"stranger_rate"`
	StrangerBurst int     `yaml:"stranger_burst"`
	// TrustedProxies are the peers whose X-Forwarded-For counts. Default: none.
	TrustedProxies []netip.Prefix `yaml:"-"`
	// Origins are the web origins (`https://app.example.org`) whose scripts may read
	// answers in a browser (CORS). Default: none.
	Origins []string `yaml:"-"`
	// MaxInFlight is the most calls that are served at once, without streams; the next
	// one is answered 503 at once. Default 512.
	MaxInFlight int `yaml:"max_in_flight"`
	// MaxClientCalls is the most requests of one client address that may be under way at once,
	// pages and streams too, and MaxAccountCalls the most calls of one account without
	// streams; the next one is answered 429. Default 512 and 64.
	MaxClientCalls  int `yaml:"max_client_calls"`
	MaxAccountCalls int `yaml:"max_account_calls"`
	// BodyBytes is the most memory that the bodies of requests take until they are answered;
	// bodies up to 64 KiB do not count. What goes beyond is answered 503, and beyond an eighth
	// for one account, or one client address without a key, 429. Default 256 MiB.
	BodyBytes int `yaml:"body_bytes"`
	// MaxWait is how long a call waits for a connection to the database, and a list in
	// memory for its turn to be counted, before it is answered 503; default 2s.
	MaxWait time.Duration `yaml:"max_wait"`
	// ComputeFor is how long an operation of CLASS_COMPUTATION waits for its place, and then
	// how long it may take; beyond it is answered 429, or 503. Default 5s.
	ComputeFor time.Duration `yaml:"compute_for"`
	// BulkReader returns a context whose reads take nothing of what other calls read with; nil,
	// the default, changes none. It is for computations.
	BulkReader func(context.Context) context.Context `yaml:"-"`
	// MaxStreams is the most streams that one key may have open in this process; default 10.
	MaxStreams int `yaml:"max_streams"`
	// MaxAccountStreams is the most streams that all keys and session keys of one account
	// may have open in this process, and at least MaxStreams; default 100.
	MaxAccountStreams int `yaml:"max_account_streams"`
	// UnreadFor is how long a client may leave a message of a stream, or an answer over
	// HTTP/2, unread; default 30s.
	UnreadFor time.Duration `yaml:"unread_for"`
	// ReadmitEvery is how often the key and the subscription of an open stream are checked
	// again; default 5s.
	ReadmitEvery time.Duration `yaml:"readmit_every"`
	// Tiers restricts operations to a tier: operation id to `starter` or `max`.
	// Plan `standard` is tier `starter`, `pro` is `max`. Default: none.
	Tiers map[string]string `yaml:"tiers"`
	// Leases shares the rates with other processes; nil, the default, where one process
	// serves.
	Leases limit.Leases `yaml:"-"`
	// Lost reports whether an error means that the database or a disk cannot work now:
	// the answer is 503 then. Default: never.
	Lost func(error) bool `yaml:"-"`
	// Observe is called after the answer to each request; it may be nil and must not
	// block.
	Observe func(Observation) `yaml:"-"`
}

// Observation describes one request for metrics.
type Observation struct {
	// Op is the operation id, empty for a request without one.
	Op string
	// Protocol is `rest`, `connect`, `grpc`, `grpc-web`, `mcp` or `other`.
	Protocol string
	// Code is the error code of the answer, `ok` for a success.
	Code string
	// Cause is the error behind an answer that says no more than that something failed;
	// nil for others. It is internal.
	Cause error
	// Duration runs from the request's arrival to the end of its answer.
	Duration time.Duration
}

// Defaults returns the default configuration.
func Defaults() Config {
	return Config{
		BaseURL: "http://127.0.0.1:8080", RateLimit: true,
		AccountRate: 10, AccountBurst: 50, ClientRate: 1, ClientBurst: 20,
		StrangerRate: 100, StrangerBurst: 2000, MaxInFlight: 512, MaxClientCalls: 512, MaxAccountCalls: 64,
		BodyBytes: 256 << 20, MaxWait: 2 * time.Second, ComputeFor: 5 * time.Second, MaxStreams: 10, MaxAccountStreams: 100, ReadmitEvery: 5 * time.Second, UnreadFor: 30 * time.Second,
	}
}

// Validate fails for a configuration that cannot be served.
func (c Config) Validate() error {
	base, err := url.Parse(c.BaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return fmt.Errorf("base URL %q is not an http or https address", c.BaseURL)
	}
	if c.AccountRate <= 0 || c.ClientRate <= 0 || c.AccountBurst < 1 || c.ClientBurst < 1 {
		return errors.New("rates and bursts must be above 0")
	}
	if c.MaxStreams < 1 || c.ReadmitEvery <= 0 || c.UnreadFor <= 0 {
		return fmt.Errorf("max streams %d, readmit every %v: want at least one, and a positive time", c.MaxStreams, c.ReadmitEvery)
	}
	if c.MaxInFlight < 1 || c.MaxClientCalls < 1 || c.MaxAccountCalls < 1 || c.MaxWait <= 0 || c.ComputeFor <= 0 {
		return errors.New("the most calls at once, their longest wait and the longest computation must be above 0")
	}
	if c.BodyBytes < largestBody {
		return fmt.Errorf("body bytes %d: want at least %d, for the largest body", c.BodyBytes, largestBody)
	}
	for _, origin := range c.Origins {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.Scheme+"://"+strings.ToLower(u.Host) != origin {
			return fmt.Errorf("origin %q is not of the form https://host or https://host:port, in lower case", origin)
		}
	}
	for id, tier := range c.Tiers {
		if !slices.Contains([]string{"starter", "max"}, tier) {
			return fmt.Errorf("tier %q of operation %s is neither starter nor max", tier, id)
		}
	}
	return nil
}
