package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"go.uber.org/fx"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/app/ops"
	"github.com/scrollery/scrollery/modules/kernel/mail"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
	"github.com/scrollery/scrollery/modules/keys"
	"github.com/scrollery/scrollery/modules/operator"
	"github.com/scrollery/scrollery/modules/quota"
)

// observed gives the metrics to all that is worth measuring. The modules know functions
// and small interfaces of their own, and nothing of Prometheus.
var observed = fx.Options(
	fx.Decorate(func(cfg Config, m *ops.Metrics) Config {
		cfg.Scrolls.Observer = m
		cfg.Usage.Observe = m.Committed
		cfg.Plugins.Observe = m.PluginEnded
		return cfg
	}),
	fx.Decorate(func(to keys.Mailer, m *ops.Metrics) keys.Mailer { return countedMail{to, m} }),
	fx.Invoke(func(m *ops.Metrics, k *keys.Service) { k.Codes.OnGuessing(m.Guessing) }),
	fx.Invoke(func(m *ops.Metrics, db *store.DB, ledger *quota.Service, host *host.Host, log *slog.Logger) {
		backlog := func(ctx context.Context) ([]jobs.Backlog, error) { return jobs.Backlogs(ctx, db) }
		m.Watch(db, backlog, func(ctx context.Context) (all []ops.Quota, err error) {
			found, err := quotaLists{ledger, host}.Quotas(ctx)
			return each(found, err, func(q operator.Quota) ops.Quota {
				return ops.Quota{Plugin: q.Plugin, Name: q.Name, Left: max(0, q.Limit-q.Used)}
			})
		}, log)
	}),
)

// countedMail counts the mails that could not be sent.
type countedMail struct {
	keys.Mailer
	metrics *ops.Metrics
}

func (c countedMail) Send(ctx context.Context, message mail.Message) error {
	err := c.Mailer.Send(ctx, message)
	if err != nil && !errors.Is(err, context.Canceled) {
		c.metrics.MailFailed()
	}
	return err
}

// countedWebhook counts events that were not applied. Without a configured webhook there
// are none.
func countedWebhook(next http.Handler, metrics *ops.Metrics) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(answer, r)
		if answer.status >= 400 && answer.status != http.StatusNotFound && answer.status != http.StatusMethodNotAllowed {
			metrics.WebhookFailed()
		}
	})
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// Unwrap serves http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}
