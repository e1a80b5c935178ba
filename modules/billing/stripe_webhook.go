package billing

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/webhook"
)

// WebhookPath is where the app mounts the webhook.
const WebhookPath = "/webhooks/stripe"

const (
	// maxEvent is far more than any event that is read here.
	maxEvent = 1 << 20
	// webhookTimeout ends before Stripe's own patience does.
	webhookTimeout = 15 * time.Second
)

// Webhook takes Stripe's events. One without a valid signature of the last
// minutes is refused before it is read.
type Webhook struct {
	service *Service
	secret  string
	log     *slog.Logger
}

// NewWebhook returns the handler. Mount it at WebhookPath.
func NewWebhook(service *Service, cfg Config, log *slog.Logger) *Webhook {
	return &Webhook{service: service, secret: cfg.Stripe.WebhookSecret, log: log}
}

// ServeHTTP answers 200 once the event is applied for good, so that Stripe
// sends it again after anything else.
func (h *Webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.secret == "" || h.service.remote == nil {
		http.Error(w, "No webhook is configured.", http.StatusNotFound)
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "Send a POST.", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxEvent))
	if err != nil {
		status := http.StatusBadRequest
		if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
			status = http.StatusRequestEntityTooLarge
		}
		http.Error(w, "The event cannot be read.", status)
		return
	}
	// The few ids that are read here are found in every API version.
	event, err := webhook.ConstructEventWithOptions(body, r.Header.Get("Stripe-Signature"), h.secret,
		webhook.ConstructEventOptions{IgnoreAPIVersionMismatch: true})
	if err != nil || event.ID == "" || event.Data == nil {
		h.log.WarnContext(r.Context(), "refused a webhook", "error", err)
		http.Error(w, "The event is not signed, or not an event.", http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), webhookTimeout)
	defer cancel()
	if err := h.service.Updates.apply(ctx, eventOf(event)); err != nil {
		h.log.ErrorContext(ctx, "apply a webhook", "event", event.ID, "kind", event.Type, "error", err)
		http.Error(w, "The event could not be applied; send it again.", http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusOK)
}

// eventOf reads of an event only what it is about.
func eventOf(event stripe.Event) Event {
	found := Event{ID: event.ID, Kind: string(event.Type)}
	var object struct {
		ID           string          `json:"id"`
		Subscription json.RawMessage `json:"subscription"`
		Charge       json.RawMessage `json:"charge"`
		Parent       struct {        // of invoices, in API versions from 2025 on
			Subscription struct {
				Subscription json.RawMessage `json:"subscription"`
			} `json:"subscription_details"`
		} `json:"parent"`
	}
	if err := json.Unmarshal(event.Data.Raw, &object); err != nil {
		return found // it concerns nothing that is known here
	}
	switch event.Type {
	case stripe.EventTypeCheckoutSessionCompleted, stripe.EventTypeCheckoutSessionExpired,
		stripe.EventTypeCheckoutSessionAsyncPaymentSucceeded, stripe.EventTypeCheckoutSessionAsyncPaymentFailed:
		found.Session = object.ID
	case stripe.EventTypeInvoicePaid, stripe.EventTypeInvoicePaymentFailed:
		found.Subscription = objectID(object.Subscription)
		if found.Subscription == "" {
			found.Subscription = objectID(object.Parent.Subscription.Subscription)
		}
	case stripe.EventTypeCustomerSubscriptionUpdated, stripe.EventTypeCustomerSubscriptionDeleted:
		found.Subscription = object.ID
	case stripe.EventTypeChargeRefunded:
		found.Charge = object.ID
	case stripe.EventTypeChargeDisputeCreated, stripe.EventTypeChargeDisputeUpdated,
		stripe.EventTypeChargeDisputeFundsWithdrawn: // an inquiry becomes a dispute without another "created"
		found.Charge = objectID(object.Charge)
	}
	return found
}

// objectID reads a field that holds an id, or the object itself.
func objectID(raw json.RawMessage) string {
	var id string
	if json.Unmarshal(raw, &id) == nil {
		return id
	}
	var object struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(raw, &object) == nil {
		return object.ID
	}
	return ""
}
