package ops

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
)

const (
	// scrapeWait is how long a scrape waits for a value that is not known yet; later
	// ones get the last value while the next is read.
	scrapeWait = time.Second
	// readTimeout bounds one reading.
	readTimeout = 10 * time.Second
	// queueEvery and quotaEvery are the least times between two readings.
	queueEvery = 2 * time.Second
	quotaEvery = 10 * time.Second
	// forgetAfter is the age at which a value is not shown any more: a gauge that
	// cannot be read is missing, and not constant.
	forgetAfter = time.Minute
)

// Pools are those of the database.
type Pools interface{ Stats() []store.PoolStats }

// Quota is what is left of a plugin's quota.
type Quota struct {
	Plugin, Name string
	Left         int64
}

// Watch adds the metrics that are read when they are asked for. backlog and quotas may be slow.
func (m *Metrics) Watch(database Pools, backlog func(context.Context) ([]jobs.Backlog, error), quotas func(context.Context) ([]Quota, error), log *slog.Logger) {
	m.registry.MustRegister(&watcher{
		database: database,
		queue:    reading[[]jobs.Backlog]{every: queueEvery, read: backlog, what: "queue", log: log},
		quotas:   reading[[]Quota]{every: quotaEvery, read: quotas, what: "quotas", log: log},
		kinds:    map[string]bool{},
		depth:    prometheus.NewDesc("scrollery_queue_depth", "Jobs that are due and wait for a process, by kind; the same in every process of a database.", []string{"kind"}, nil),
		oldest:   prometheus.NewDesc("scrollery_queue_oldest_seconds", "How long the oldest of these jobs has waited.", nil, nil),
		left:     prometheus.NewDesc("scrollery_quota_left", "Units that are left of a plugin's quota; the same in every process of a database.", []string{"plugin", "quota"}, nil),
		conns:    prometheus.NewDesc("scrollery_db_connections", "Connections of this process to the database: in_use, idle, and max, the most that it opens.", []string{"state"}, nil),
	})
}

// watcher is a collector of values that others keep.
type watcher struct {
	database                   Pools
	queue                      reading[[]jobs.Backlog]
	quotas                     reading[[]Quota]
	depth, oldest, left, conns *prometheus.Desc

	mu sync.Mutex
	// kinds are those that ever waited: they are 0 when none waits.
	kinds map[string]bool
}

func (w *watcher) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{w.depth, w.oldest, w.left, w.conns} {
		ch <- desc
	}
}

func (w *watcher) Collect(ch chan<- prometheus.Metric) {
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	var inUse, idle, most int
	for _, pool := range w.database.Stats() {
		inUse, idle, most = inUse+pool.InUse, idle+pool.Open-pool.InUse, most+pool.Max
	}
	gauge(w.conns, float64(inUse), "in_use")
	gauge(w.conns, float64(idle), "idle")
	gauge(w.conns, float64(most), "max")
	if waiting, ok := w.queue.get(); ok {
		w.backlog(waiting, gauge)
	}
	left, _ := w.quotas.get()
	for _, quota := range left {
		gauge(w.left, float64(quota.Left), quota.Plugin, quota.Name)
	}
}

func (w *watcher) backlog(waiting []jobs.Backlog, gauge func(*prometheus.Desc, float64, ...string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	depth, oldest := map[string]int{}, time.Duration(0)
	for _, kind := range waiting {
		w.kinds[kind.Kind] = true
		depth[kind.Kind] = kind.Jobs
		oldest = max(oldest, kind.Oldest)
	}
	for kind := range w.kinds {
		gauge(w.depth, float64(depth[kind]), kind)
	}
	gauge(w.oldest, oldest.Seconds())
}

// reading keeps the last value of what takes a while to read.
type reading[T any] struct {
	every time.Duration
	read  func(context.Context) (T, error)
	what  string
	log   *slog.Logger

	mu      sync.Mutex
	value   T
	at      time.Time
	failing bool
	running chan struct{} // closed when the reading under way has ended
}

// get returns the last value, and reads the next one beside if that is due.
func (r *reading[T]) get() (value T, ok bool) {
	r.mu.Lock()
	if time.Since(r.at) >= r.every && r.running == nil {
		r.running = make(chan struct{})
		go r.refresh(r.running)
	}
	running := r.running
	r.mu.Unlock()
	if running != nil {
		select {
		case <-running:
		case <-time.After(scrapeWait):
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at.IsZero() || time.Since(r.at) > forgetAfter {
		return value, false
	}
	return r.value, true
}

func (r *reading[T]) refresh(done chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	value, err := r.read(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.value, r.at = value, time.Now()
	} else if !r.failing {
		r.log.Warn("a metric cannot be read", "metric", r.what, "error", err)
	}
	r.failing, r.running = err != nil, nil
	close(done)
}
