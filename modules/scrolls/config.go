package scrolls

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/scrollery/scrollery/modules/scrolls/plan"
)

// The templates that have a meaning to the module itself.
const (
	defaultTemplate = "default"
	importTemplate  = "import"
	youngTemplate   = "observe_young"
)

// isOwn reports a template of the module's own, which no caller can name.
func isOwn(template string) bool { return template == importTemplate || template == youngTemplate }

// leastYoung bounds how often young videos are read again.
const leastYoung = time.Minute

// maxBatch keeps a transaction's statements within the placeholders that SQLite takes.
const maxBatch = 1000

// Config is the module's part of the configuration.
type Config struct {
	// Templates are the pipelines by name. `default` is used where none is named;
	// `import` is what Import runs, and `observe_young` a pass of ObserveYoung, of which only
	// the sources count; no caller can name these two. Default: those three, `competitors`,
	// `niche` and `own`.
	Templates map[string]Template `yaml:"templates"`
	// MaxAttempts is how often a scroll is started before it has failed. Default 3.
	MaxAttempts int `yaml:"max_attempts"`
	// MaxRecords bounds what one scroll collects, and what an import collects before
	// it archives that much and goes on. Default 50,000.
	MaxRecords int `yaml:"max_records"`
	// MaxRefresh bounds the known videos that one scroll refreshes. Default 500.
	MaxRefresh int `yaml:"max_refresh"`
	// ObserveYoung is how long after a scheduled scroll, and then again and again until the
	// next one, the videos of the last 7 days are read again; at least a minute. Such a pass
	// searches for nothing and screens nothing. It is skipped while a scroll is active, and
	// where the subscription or the budget would refuse a scroll. Default 0: never.
	ObserveYoung time.Duration `yaml:"observe_young"`
	// YoungUnits is the budget that such a pass costs. Default 10.
	YoungUnits int `yaml:"young_units"`
	// MaxCoverage bounds the entries of progress.coverage. Default 500.
	MaxCoverage int `yaml:"max_coverage"`
	// MaxMedia bounds the videos whose media one scroll fetches for its evidence
	// stages, the highest ranked first; 0 fetches none. Default 50.
	MaxMedia int `yaml:"max_media"`
	// MediaBatch is how many of them are fetched and looked at before they are deleted
	// and the next come. Default 10.
	MediaBatch int `yaml:"media_batch"`
	// MediaWithin is how long a source may take for such a batch. Default 3 minutes.
	MediaWithin time.Duration `yaml:"media_within"`
	// KeepFrames keeps up to three small frames of the videos that evidence stages look at, for as
	// many videos as the plan says. Without it, a scroll also deletes those that an account has.
	// Imports keep none. Default true.
	KeepFrames bool `yaml:"keep_frames"`
	// BatchSize is how many videos one transaction writes. Default 200.
	BatchSize int `yaml:"batch_size"`
	// Terms is how many niche terms a brief yields. Default 8.
	Terms int `yaml:"terms"`
	// Concurrency is how many scrolls of one process work at once, of which a tenant has at
	// most half. Four times as many may have begun, a quarter of them of one tenant: those
	// whose sources wait for a platform do not count. Default 4.
	Concurrency int `yaml:"concurrency"`
	// StartUnits is the budget that a scheduled start costs. Default 100.
	StartUnits int `yaml:"start_units"`
	// Heartbeat is the pulse of a worker. Default 3 s.
	Heartbeat time.Duration `yaml:"heartbeat"`
	// Stale is the age of a pulse at which a worker counts as lost. Default 15 s.
	Stale time.Duration `yaml:"stale"`
	// RescueEvery is how often lost workers are looked for. Default 5 s.
	RescueEvery time.Duration `yaml:"rescue_every"`
	// ScheduleEvery is how often each process looks for due recurrences. Default 5 s.
	ScheduleEvery time.Duration `yaml:"schedule_every"`
	// ProgressEvery is the least time between two writes of mere progress. Default 500 ms.
	ProgressEvery time.Duration `yaml:"progress_every"`
	// PollEvery is how often a watcher looks for changes made by other processes. Default 1 s.
	PollEvery time.Duration `yaml:"poll_every"`
	// RetryAfter is the wait before the second start; it doubles. Default 5 s.
	RetryAfter time.Duration `yaml:"retry_after"`
	// RetryWithin is the longest wait that a source may ask for; one that asks for
	// more fails the scroll. Default 10 minutes.
	RetryWithin time.Duration `yaml:"retry_within"`
	// KeepDrops is how long the verdict on a dropped video is kept; 0 is for ever.
	// Default 90 days.
	KeepDrops time.Duration `yaml:"keep_drops"`
	// Deadlines ends each step that takes longer. A step that is not named has
	// 5 minutes; default: collect 30, observe, screen and evidence 15.
	Deadlines map[string]time.Duration `yaml:"deadlines"`
	// Observer, if set, receives what happens to scrolls, for metrics.
	Observer Observer `yaml:"-"`
	// MaxTime ends a scroll, all its starts and waits together, so long after its first
	// start. It does not end an import. Default 2 hours.
	MaxTime time.Duration `yaml:"max_time"`
	// Pause, if set, is called where a test wants to step in: as a step begins
	// (`begin`), after each batch it committed (`batch`), and when its work is done
	// but its checkpoint is not (`end`). Default nil.
	Pause func(ctx context.Context, step, point string) `yaml:"-"`
}

// Observer receives what happens to scrolls in this process. Its methods must not block.
type Observer interface {
	// Ended is called once for each scroll that this process ended, after the commit.
	Ended(outcome string)
	// Stepped is called for each step that finished, and how long it took.
	Stepped(step string, took time.Duration)
	// Asked is called for each seed that a source was asked for, and the outcome.
	Asked(source, outcome string)
}

// noObserver is the Observer if none is set.
type noObserver struct{}

func (noObserver) Ended(string)                  {}
func (noObserver) Stepped(string, time.Duration) {}
func (noObserver) Asked(string, string)          {}

// Template is one pipeline.
type Template struct {
	// Kinds are the kinds of seeds it asks for and of new videos it keeps. Empty: all.
	Kinds []string `yaml:"kinds"`
	// Plans, Sources, Screens and Evidence are ids of stage plugins. The first plan
	// that finds terms decides; sources run side by side, screens one after another,
	// and so does evidence. Screens that look at evidence, as their plugins say, come after
	// it. The source `http` stands for all recipes.
	Plans    []string `yaml:"plans"`
	Sources  []string `yaml:"sources"`
	Screens  []string `yaml:"screens"`
	Evidence []string `yaml:"evidence"`
	// Settings of stages that are different in this pipeline, by stage, then by name.
	Settings map[string]map[string]string `yaml:"settings"`
	// SeedLimit is how many videos are asked of a seed; 0 leaves it to the source.
	SeedLimit int `yaml:"seed_limit"`
}

// options returns the template's part of a plan of at most so many niche terms.
func (t Template) options(terms int) plan.Options {
	return plan.Options{Kinds: t.Kinds, Limit: t.SeedLimit, Terms: terms}
}

// Defaults returns the configuration of a fresh installation.
func Defaults() Config {
	pipeline := func(kinds ...string) Template {
		return Template{
			Kinds: kinds,
			Plans: []string{"plan"},
			Sources: []string{
				"feed",
				"youtube",
				"tiktok",
				"instagram",
				"youtube-feed",
				"ytdlp",
				"http",
			},
			Screens: []string{"rules"},
			Evidence: []string{
				"captions",
				"ocr",
				"vision",
				"speech",
			},
		}
	}
	return Config{
		Templates: map[string]Template{
			defaultTemplate: pipeline(),
			"competitors":   pipeline("competitor"),
			"niche":         pipeline("niche"),
			"own":           pipeline("own"),
			importTemplate:  {Evidence: []string{"captions"}},
			youngTemplate:   {Sources: pipeline().Sources},
		},
		MaxAttempts: 3, MaxRecords: 50_000, MaxRefresh: 500, MaxCoverage: 500,
		MaxMedia: 50, MediaBatch: 10, MediaWithin: 3 * time.Minute, KeepFrames: true,
		BatchSize: 200, Terms: 8, Concurrency: 4, StartUnits: 100, YoungUnits: 10,
		Heartbeat: 3 * time.Second, Stale: 15 * time.Second,
		RescueEvery: 5 * time.Second, ScheduleEvery: 5 * time.Second,
		ProgressEvery: 500 * time.Millisecond, PollEvery: time.Second,
		RetryAfter: 5 * time.Second, RetryWithin: 10 * time.Minute, KeepDrops: 90 * day, MaxTime: 2 * time.Hour,
		Deadlines: map[string]time.Duration{
			Collect: 30 * time.Minute, Observe: 15 * time.Minute, Screen: 15 * time.Minute, Evidence: 15 * time.Minute,
		},
	}
}

// Validate reports every fault that can be seen without opening anything.
func (c Config) Validate() error {
	var faults []error
	for _, name := range []string{defaultTemplate, importTemplate, youngTemplate} {
		if _, ok := c.Templates[name]; !ok {
			faults = append(faults, fmt.Errorf("templates: there is no %q", name))
		}
	}
	for name, template := range c.Templates {
		for _, kind := range template.Kinds {
			if !slices.Contains([]string{"own", "competitor", "niche"}, kind) {
				faults = append(faults, fmt.Errorf("template %s: kind %q is not own, competitor or niche", name, kind))
			}
		}
		if name == "" || len([]rune(name)) > 100 {
			faults = append(faults, fmt.Errorf("templates: the name %q has not 1 to 100 characters", name))
		}
	}
	for name, value := range map[string]int{
		"max attempts": c.MaxAttempts, "max records": c.MaxRecords, "batch size": c.BatchSize, "media batch": c.MediaBatch, "concurrency": c.Concurrency,
	} {
		if value < 1 {
			faults = append(faults, fmt.Errorf("%s: %d is less than 1", name, value))
		}
	}
	for name, value := range map[string]time.Duration{
		"heartbeat": c.Heartbeat, "rescue every": c.RescueEvery, "schedule every": c.ScheduleEvery, "poll every": c.PollEvery,
		"media within": c.MediaWithin, "max time": c.MaxTime,
	} {
		if value <= 0 {
			faults = append(faults, fmt.Errorf("%s: %v is not positive", name, value))
		}
	}
	if c.BatchSize > maxBatch {
		faults = append(faults, fmt.Errorf("batch size: %d is more than %d", c.BatchSize, maxBatch))
	}
	if c.KeepDrops < 0 {
		faults = append(faults, fmt.Errorf("keep drops: %v is negative", c.KeepDrops))
	}
	if c.MaxRefresh < 0 || c.MaxMedia < 0 || c.MaxCoverage < 0 || c.Terms < 0 || c.StartUnits < 0 || c.YoungUnits < 0 {
		faults = append(faults, errors.New("max refresh, max media, max coverage, terms, start units, young units: negative"))
	}
	if c.ObserveYoung != 0 && c.ObserveYoung < leastYoung {
		faults = append(faults, fmt.Errorf("observe young: %v is neither 0 nor at least %v", c.ObserveYoung, leastYoung))
	}
	if c.Stale < 2*c.Heartbeat {
		faults = append(faults, fmt.Errorf("stale: %v is less than two heartbeats", c.Stale))
	}
	for step, deadline := range c.Deadlines {
		if !slices.Contains(Steps(), step) || deadline <= 0 {
			faults = append(faults, fmt.Errorf("deadlines: %q: %v is not a positive time of a step", step, deadline))
		}
	}
	return errors.Join(faults...)
}

// deadline of a step.
func (c Config) deadline(step string) time.Duration {
	if d, ok := c.Deadlines[step]; ok {
		return d
	}
	return 5 * time.Minute
}

// lobbyWithin bounds how long a job of the queue waits for its place.
const lobbyWithin = time.Minute

// longest is more than the wait for a place and all deadlines together.
func (c Config) longest() time.Duration {
	total := lobbyWithin + time.Minute
	for _, step := range Steps() {
		total += c.deadline(step)
	}
	return total
}

// template finds a pipeline that a caller may name.
func (c Config) template(name *string) (Template, bool) {
	if name == nil {
		return c.Templates[defaultTemplate], true
	}
	template, ok := c.Templates[*name]
	return template, ok && !isOwn(*name)
}
