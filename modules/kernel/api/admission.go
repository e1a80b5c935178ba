package api

import (
	"context"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// admit checks a call by its headers alone and returns the first refusal. The order
// of the steps is part of the contract.
func (c *call) admit(ctx context.Context) error {
	streams := c.op.desc.IsStreamingServer()
	if !streams {
		if err := c.place.enter(); err != nil {
			return err
		}
	}
	caller, err := c.identify(ctx)
	if err != nil {
		c.showRate()
		return c.refuseAnonymous(err)
	}
	if err := c.place.enterNetwork(); err != nil {
		c.showRate()
		return err
	}
	if c.viewer != nil && !streams {
		if err := c.place.enterAccount(c.viewer.AccountID); err != nil {
			c.showRate()
			return err
		}
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

// malformedSecret says what is wrong with the form of an API key; it is empty if that can't
// be said.
func malformedSecret(secret string) string {
	switch {
	case strings.ContainsAny(secret, "\"'`“”‘’"):
		return "The API key is in quotation marks. Send it without them."
	case strings.ContainsFunc(secret, func(r rune) bool { return r <= ' ' || r == 0xA0 }):
		return "The API key has a space or a line end in it. Send the key alone."
	case strings.HasPrefix(strings.ToLower(secret), "bearer"):
		return "The word Bearer is there twice. Send `Authorization: Bearer <API key>`."
	case strings.HasPrefix(secret, "$") || strings.HasPrefix(secret, "<"):
		return "The API key is a placeholder. Put your key in its place."
	}
	return ""
}
