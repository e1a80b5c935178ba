package ops

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Metrics are what a process counts and measures. Labels have few values: operations,
// steps and kinds are those of the program, plugins those that are installed.
type Metrics struct {
	registry *prometheus.Registry

	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	scrolls  *prometheus.CounterVec
	steps    *prometheus.HistogramVec
	sources  *prometheus.CounterVec
	plugins  *prometheus.CounterVec
	mail     prometheus.Counter
	guessing prometheus.Counter
	webhooks prometheus.Counter
	commits  prometheus.Histogram

	recent recent
}

// NewMetrics returns metrics of which all are 0.
func NewMetrics() *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &Metrics{
		registry: prometheus.NewRegistry(), recent: recent{now: time.Now},
		requests: counter("scrollery_requests_total", "Requests by operation, protocol and outcome.", "op", "protocol", "code"),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "scrollery_request_duration_seconds", Help: "Time from a request's arrival to the end of its answer.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2.5, 12),
		}, []string{"op"}),
		scrolls: counter("scrollery_scrolls_total", "Scrolls that this process ended, by outcome.", "outcome"),
		steps: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "scrollery_scroll_step_duration_seconds", Help: "Time of each step of a scroll that finished.",
			Buckets: prometheus.ExponentialBuckets(0.01, 3, 12),
		}, []string{"step"}),
		sources: counter("scrollery_source_outcomes_total", "Seeds that sources were asked for, by outcome; failed is a source that failed as a whole.", "plugin", "outcome"),
		plugins: counter("scrollery_plugin_ends_total", "Calls of plugins that ended, by cause; ok is the expected one.", "plugin", "cause"),
		guessing: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "scrollery_guessing_total", Help: "Hours in which this process took as many wrong one-time codes as it does.",
		}),
		mail: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "scrollery_mail_failures_total", Help: "Attempts to send a mail that failed.",
		}),
		webhooks: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "scrollery_webhook_failures_total", Help: "Events of the payment provider that were refused or could not be applied.",
		}),
		commits: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "scrollery_group_commit_events", Help: "Usage events that were written together.",
			Buckets: prometheus.ExponentialBuckets(1, 2, 11),
		}),
	}
	for _, outcome := range []string{"completed", "failed", "cancelled"} {
		m.scrolls.WithLabelValues(outcome)
	}
	m.registry.MustRegister(m.requests, m.duration, m.scrolls, m.steps, m.sources, m.plugins, m.mail, m.guessing, m.webhooks, m.commits,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Request counts a request; op is empty for one without an operation, and failed is true if it
// failed for a reason that is the server's.
func (m *Metrics) Request(op, protocol, code string, failed bool, took time.Duration) {
	m.recent.request(failed, took)
	m.requests.WithLabelValues(op, protocol, code).Inc()
	m.duration.WithLabelValues(op).Observe(took.Seconds())
}

// Ended counts a scroll that ended.
func (m *Metrics) Ended(outcome string) { m.scrolls.WithLabelValues(outcome).Inc() }

// Stepped measures a step of a scroll.
func (m *Metrics) Stepped(step string, took time.Duration) {
	m.steps.WithLabelValues(step).Observe(took.Seconds())
}

// Asked counts a seed that a source was asked for.
func (m *Metrics) Asked(source, outcome string) { m.sources.WithLabelValues(source, outcome).Inc() }

// PluginEnded counts a call of a plugin that ended.
func (m *Metrics) PluginEnded(plugin, cause string) {
	m.recent.ended(plugin, cause)
	m.plugins.WithLabelValues(plugin, cause).Inc()
}

// Guessing counts an hour in which one-time codes were guessed at.
func (m *Metrics) Guessing() { m.guessing.Inc() }

// MailFailed counts a mail that could not be sent.
func (m *Metrics) MailFailed() { m.mail.Inc() }

// WebhookFailed counts an event of the payment provider that was not applied.
func (m *Metrics) WebhookFailed() { m.webhooks.Inc() }

// Committed measures one transaction of usage events.
func (m *Metrics) Committed(events int) { m.commits.Observe(float64(events)) }
