package api

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// admit checks a call by its headers alone and returns the first refusal. The order
// of the steps is part of the contract.
func (c *call) admit(ctx context.Context) error {
	if err := c.enter(); err != nil {
		return err
	}
	caller, err := c.identify(ctx)
	if err != nil {
		c.showRate()
		return c.turnAway(err)
	}
	if err := c.enterNetwork(); err != nil {
		c.showRate()
		return err
	}
	if err := c.enterAccount(); err != nil {
		c.showRate()
		return err
	}
	if err := c.spendRate(ctx); err != nil {
		return err
	}
	if c.op.public() {
		return nil
	}
	if err := c.checkScope(); err != nil {
		return err
	}
	if c.op.Subscription && !c.viewer.Active() {
		return apierr.New(apierr.SubscriptionRequired, "An active subscription is needed. Start one at subscribeUrl.")
	}
	if c.op.Units > 0 && caller.BudgetWait > 0 {
		return &apierr.Error{
			Kind: apierr.RateLimited, RetryAfter: caller.BudgetWait,
			Message: "The usage budget is spent; it opens again with the next window.",
		}
	}
	return nil
}

var errInFlight = errors.New("as many calls are served as may be at once")

// enter counts the call among those that are served. It refuses it where there are as
// many as may be: a queue would only move the wait from the caller to the server.
func (c *call) enter() error {
	if c.op != nil && c.op.desc.IsStreamingServer() {
		return nil
	}
	c.counted = true
	if c.mux.inFlight.Add(1) > int64(c.mux.config.MaxInFlight) {
		return apierr.Busy(errInFlight)
	}
	return nil
}

// leave gives the place among those that are served back.
func (c *call) leave() {
	if c.counted {
		c.counted = false
		c.mux.inFlight.Add(-1)
	}
}

// end is leave, and gives back the place among the account's.
func (c *call) end() {
	c.leave()
	if c.lent {
		c.lent = false
		c.carriedBy.giveBack()
	}
	if c.ofAccount {
		c.ofAccount = false
		c.mux.accounts.Leave(c.viewer.AccountID)
	}
}

// identify looks up the caller. A public operation is served with any key; a valid
// key attributes its event, and the operation can read it with viewer.Known.
func (c *call) identify(ctx context.Context) (*Caller, error) {
	secret, sent := bearer(c.request.Header["Authorization"])
	if secret == "" {
		if c.public() {
			return nil, nil
		}
		if sent {
			return nil, apierr.New(apierr.Unauthorized, "The Authorization header is not of the form `Bearer <API key>`.")
		}
		return nil, apierr.New(apierr.Unauthorized, "An API key is needed: send `Authorization: Bearer <API key>`.")
	}
	caller, err := c.mux.admitter.Admit(ctx, secret)
	if err == nil && (caller == nil || caller.Viewer == nil) {
		err = apierr.New(apierr.Unauthorized, "The API key is not valid.")
	}
	if f := apierr.As(err); f != nil && f.Kind == apierr.Unauthorized {
		if why := malformedSecret(secret); why != "" {
			err = apierr.New(apierr.Unauthorized, "%s", why)
		}
	}
	if err != nil {
		if !c.public() {
			return nil, err
		}
		if apierr.As(err) == nil {
			c.note("caller_error", err) // a public operation is served without one
		}
		return nil, nil
	}
	c.viewer = caller.Viewer
	return caller, nil
}

// public reports whether the call needs no key.
func (c *call) public() bool { return c.op != nil && c.op.public() }

// withViewer adds the caller to the context. A public operation sees the caller but
// does not act for them.
func (c *call) withViewer(ctx context.Context) context.Context {
	switch {
	case c.viewer == nil:
		return ctx
	case c.op.public():
		return viewer.WithKnown(ctx, c.viewer)
	}
	return viewer.NewContext(ctx, c.viewer)
}

// bearer returns the secret of the Authorization header; sent reports whether there
// was such a header.
func bearer(headers []string) (secret string, sent bool) {
	if len(headers) != 1 {
		return "", len(headers) > 0
	}
	scheme, rest, found := strings.Cut(headers[0], " ")
	if !found || !strings.EqualFold(scheme, "Bearer") {
		return "", true
	}
	return strings.TrimSpace(rest), true
}

// spendRate takes one call from the allowance and sets the rate headers.
func (c *call) spendRate(ctx context.Context) error {
	l, now := c.mux.limiter, c.start
	var wait time.Duration
	if c.public() {
		client := c.client()
		left := l.client.burst
		if l.on {
			left, wait = l.takeClient(ctx, client, now)
		}
		shown, policies := describeLeft(l.client, left), l.client.header
		if quota := int(c.op.PerMinute); quota > 0 {
			leftMinute := quota
			if l.on && wait == 0 {
				leftMinute, wait = l.takeMinute(ctx, c.op.Id, client, quota, now)
			}
			shown += `, "minute";r=` + strconv.Itoa(leftMinute) + `;t=60`
			policies = []string{policies[0] + ", " + describePolicy("minute", quota, 60)}
		}
		c.setRate(shown, policies)
	} else {
		left := l.account.burst
		if l.on {
			left, wait = l.takeAccount(ctx, c.viewer.AccountID, now)
		}
		c.setRate(describeLeft(l.account, left), l.account.header)
	}
	if wait > 0 {
		return c.tooMany(wait)
	}
	return nil
}

// tooMany refuses a call for its rate.
func (c *call) tooMany(wait time.Duration) error {
	c.overRate = true
	return &apierr.Error{Kind: apierr.RateLimited, RetryAfter: wait, Message: "Too many requests; slow down."}
}

// turnAway returns the refusal of a call without a valid key or path: why, unless its
// client has had too many of them.
func (c *call) turnAway(why error) error {
	f := apierr.As(why)
	if f != nil && f.Kind != apierr.OperationError && !apierr.IsBusy(why) {
		if wait := c.spendStranger(); wait > 0 {
			return c.tooMany(wait)
		}
	}
	return why
}

// spendStranger takes one call without a caller from the allowance of its client address.
func (c *call) spendStranger() (wait time.Duration) {
	if l := c.mux.limiter; l.on {
		_, wait = bucketOf(l.strangers, rated{client: c.client()}, l.stranger, c.start).take(l.stranger, 1, c.start)
	}
	return wait
}

// showRate sets the rate headers of a caller without a key: the allowance of the
// client address.
func (c *call) showRate() {
	l := c.mux.limiter
	left := l.leftOfClient(c.client(), c.start)
	c.setRate(describeLeft(l.client, left), l.client.header)
}

func (c *call) setRate(left string, policies []string) {
	c.set("Ratelimit", left)
	c.header["Ratelimit-Policy"] = policies
}

// describeLeft returns the RateLimit header: the calls left and the seconds until the
// allowance is full.
func describeLeft(p policy, left float64) string {
	return `"` + p.name + `";r=` + strconv.Itoa(int(left)) + `;t=` + strconv.Itoa(int(math.Ceil((p.burst-left)/p.rate)))
}

func (c *call) checkScope() error {
	if c.op.Scope != "" && !c.viewer.Has(c.op.Scope) {
		return &apierr.Error{
			Kind: apierr.Forbidden, Message: "The key lacks the scope " + c.op.Scope + ".",
			RequiredScope: c.op.Scope, GrantedScopes: c.viewer.Scopes,
		}
	}
	required, current := c.mux.config.Tiers[c.op.Id], tierOf(c.viewer)
	if required != "" && tierRank(current) < tierRank(required) {
		return &apierr.Error{
			Kind: apierr.TierRequired, Message: "The operation needs the tier " + required + ".",
			RequiredTier: required, CurrentTier: current,
		}
	}
	return nil
}

// tierOf returns the tier of a caller's plan.
func tierOf(v *viewer.Viewer) string {
	switch {
	case !v.Active():
		return "none"
	case v.Plan == "pro":
		return "max"
	default:
		return "starter"
	}
}

func tierRank(tier string) int {
	switch tier {
	case "max":
		return 2
	case "starter":
		return 1
	default:
		return 0
	}
}

// enterClient counts a request of a client address, or reports that it has as many under way
// as it may. A request that waits for its client costs memory for as long.
func (c *call) enterClient() (leave func(), ok bool) {
	m, client := c.mux, c.client()
	if !m.limiter.on || c.proxied { // by a proxy that does not say for whom
		return func() {}, true
	}
	if !m.clients.Enter(client, m.config.MaxClientCalls) {
		return func() {}, false
	}
	return func() { m.clients.Leave(client) }, true
}

// enterNetwork refuses a call since its client address has as many under way as it may.
func (c *call) enterNetwork() error {
	if c.beyond {
		return c.tooManyUnderWay("Too many requests from your network are under way. Wait for their answers.")
	}
	return nil
}

// underWay is after how long a caller with too many calls under way should ask again.
const underWay = time.Second

// tooManyUnderWay refuses a call since its caller has as many as it may.
func (c *call) tooManyUnderWay(message string) error {
	c.overRate = true
	return &apierr.Error{Kind: apierr.RateLimited, RetryAfter: underWay, Message: message}
}

// enterAccount counts a call of an account, or refuses it where as many are under way as may
// be. Streams have a bound of their own.
func (c *call) enterAccount() error {
	m := c.mux
	if !m.limiter.on || c.viewer == nil || c.op != nil && c.op.desc.IsStreamingServer() {
		return nil
	}
	if c.lent = c.carriedBy.lend(); c.lent {
		return nil
	}
	if !m.accounts.Enter(c.viewer.AccountID, m.config.MaxAccountCalls) {
		return c.tooManyUnderWay("The account has as many calls under way as it may. Wait for their answers.")
	}
	c.ofAccount = true
	return nil
}

// served refuses a call whose body has come when as many were served as may be.
func (c *call) served() error {
	if c.crowded {
		return apierr.Busy(errInFlight)
	}
	return nil
}
