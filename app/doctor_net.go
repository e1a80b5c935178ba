package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/modules/billing"
	"github.com/scrollery/scrollery/modules/kernel/mail"
)

// maxReply bounds what is read of an answer.
const maxReply = 4 << 20

// checkServer asks the server that runs with this configuration, if one does.
func checkServer(ctx context.Context, cfg Config) []finding {
	var text bytes.Buffer
	err := Ready(ctx, cfg, &text)
	said := strings.Join(strings.Split(strings.TrimSpace(text.String()), "\n"), "; ")
	switch {
	case err == nil:
		return []finding{{"server", passed, "ready at " + cfg.OpsAddr + ": " + said}}
	case text.Len() > 0:
		return []finding{{"server", failed, err.Error() + ": " + said}}
	}
	return []finding{{"server", unset, "none answers at " + cfg.OpsAddr}}
}

// checkAddress tries the public address.
func checkAddress(ctx context.Context, cfg Config) []finding {
	const check = "base address"
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	base, err := url.Parse(cfg.BaseURL)
	if err != nil || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return []finding{{check, failed, cfg.BaseURL + " is not an address without user, query and fragment"}}
	}
	if err := public(ctx, base); err != nil {
		if cfg.BaseURL == "http://"+cfg.Addr {
			return []finding{{check, unset, "only this machine reaches " + cfg.BaseURL}}
		}
		return []finding{{check, failed, cfg.BaseURL + ": " + err.Error()}}
	}
	if err := ask(ctx, cfg.BaseURL+"/v1/health", "", nil); err != nil {
		return []finding{{check, failed, cfg.BaseURL + " does not lead to the server: " + err.Error()}}
	}
	return []finding{{check, passed, cfg.BaseURL + " leads to the server"}}
}

// public returns why clients elsewhere cannot use an address.
func public(ctx context.Context, base *url.URL) error {
	host := base.Hostname()
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return err
	}
	inside := func(a netip.Addr) bool {
		a = a.Unmap()
		return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsUnspecified()
	}
	if slices.ContainsFunc(addresses, inside) {
		return fmt.Errorf("%s is not a public address", host)
	}
	if base.Scheme != "https" {
		return errors.New("keys are sent without encryption: use https")
	}
	return nil
}

// checkProxies: the server itself speaks no TLS, so an https address is a proxy's.
func checkProxies(_ context.Context, cfg Config) []finding {
	const check = "proxies"
	behind := strings.HasPrefix(cfg.BaseURL, "https://")
	switch {
	case len(cfg.TrustedProxies) > 0:
		return []finding{{check, passed, fmt.Sprint(cfg.TrustedProxies)}}
	case behind:
		return []finding{{check, failed, "the base address is a proxy's, and " + Prefix + "TRUSTED_PROXIES is not set: all clients count as one address"}}
	}
	return []finding{{check, unset, "clients connect to the server itself"}}
}

func checkMail(ctx context.Context, cfg Config) []finding {
	const check = "mail"
	if cfg.SMTPURL == "" {
		return []finding{{check, unset, "mail is written to " + cfg.Outbox()}}
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	sender, err := mail.NewSMTP(cfg.SMTPURL, cfg.MailFrom, slog.New(slog.DiscardHandler))
	if err == nil {
		err = sender.Check(ctx)
	}
	return []finding{found(check, "the mail server takes the connection, TLS and password as configured", err)}
}

func checkPayments(ctx context.Context, cfg Config) []finding {
	if cfg.StripeSecretKey == "" {
		return []finding{{"payments", unset, "test checkout, on which no money moves"}}
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	err := billing.NewStripe(cfg.Billing).Check(ctx, cfg.BaseURL+billing.WebhookPath)
	all := []finding{found("payments", "Stripe takes the key and has prices and webhook", err)}
	if cfg.StripeWebhookSecret == "" {
		all[0].Detail = strings.TrimSuffix(all[0].Detail, " and webhook")
		all = append(all, finding{"webhook", unset, "payments are found by regular checks alone"})
	}
	return all
}

// checkEndpoints asks each endpoint for its models.
func checkEndpoints(ctx context.Context, cfg Config) (all []finding) {
	value := func(name string) string { return cfg.StageValues[name] }
	for _, one := range []struct{ check, address, model, key, without string }{
		{"model", value("MODEL_URL"), value("MODEL"), value("MODEL_KEY"), "checks and keywords do without"},
		{"speech", value("SPEECH_URL"), value("SPEECH_MODEL"), value("SPEECH_KEY"), "spoken text comes from captions alone"},
		{"agent", cfg.AgentURL, cfg.AgentModel, cfg.AgentKey, "the built-in planner works"},
	} {
		if one.address == "" {
			all = append(all, finding{one.check, unset, one.without})
			continue
		}
		all = append(all, checkModels(ctx, one.check, strings.TrimRight(one.address, "/"), one.model, one.key))
	}
	return all
}

func checkModels(ctx context.Context, check, address, model, key string) finding {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	var list struct{ Data []struct{ ID string } }
	err := ask(ctx, address+"/models", key, &list)
	var answer *answerError
	if errors.As(err, &answer) && (answer.status == http.StatusNotFound || answer.status == http.StatusMethodNotAllowed) {
		return finding{check, gap, address + " answers, but has no list of models: key and model are not tried"}
	}
	if err != nil {
		return finding{check, failed, err.Error()}
	}
	for _, one := range list.Data {
		if one.ID == model || model == "" {
			return finding{check, passed, address + " takes the key and has the model " + model}
		}
	}
	return finding{check, failed, address + " takes the key, but does not list the model " + model}
}

// answerError is an answer other than 200.
type answerError struct {
	address string
	status  int
}

func (e *answerError) Error() string { return fmt.Sprintf("%s answers %d", e.address, e.status) }

// ask reads JSON from an address. It follows no redirect, which could take the key along.
func ask(ctx context.Context, address, key string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return &answerError{address, answer.StatusCode}
	}
	if into == nil {
		return nil
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxReply)).Decode(into); err != nil {
		return fmt.Errorf("%s: not the expected JSON", address)
	}
	return nil
}
