package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/scrollery/scrollery/modules/kernel/api"
)

// metrics counts requests.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

func newMetrics() (*metrics, *prometheus.Registry) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "scrollery_requests_total", Help: "Requests by operation, protocol and outcome.",
		}, []string{"op", "protocol", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "scrollery_request_duration_seconds", Help: "Time from a request's arrival to the end of its answer.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2.5, 12),
		}, []string{"op"}),
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.requests, m.duration)
	return m, registry
}

func (m *metrics) observe(o api.Observation) {
	m.requests.WithLabelValues(o.Op, o.Protocol, o.Code).Inc()
	m.duration.WithLabelValues(o.Op).Observe(o.Duration.Seconds())
}
