package rules

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/scrollery/scrollery/plugins/internal/facts"
	"github.com/scrollery/scrollery/plugins/internal/model"
	"github.com/scrollery/scrollery/plugins/stage"
)

const (
	// window is how many records are judged together.
	window = 48
	// longestAsk is how long one question may take, all tries together.
	longestAsk = 90 * time.Second
	// patience is how many questions in a row the endpoint may fail before it is not asked
	// any more. Only what no text can bring about is counted: else some videos could
	// have the model shut off for the others.
	patience = 5
	// signOfLife is how often a wait is reported.
	signOfLife = 5 * time.Second
)

// limits are what the operator allows one scroll to spend on the model.
type limits struct {
	batch, parallel  int
	requests, tokens int64
	time             time.Duration
}

func limitsOf(call *stage.Call) (limits, error) {
	said := map[string]int64{}
	for _, setting := range limited {
		n, err := strconv.ParseInt(call.Settings[setting.Name], 10, 64)
		if err == nil {
			err = setting.Check(call.Settings[setting.Name])
		}
		if err != nil {
			return limits{}, fmt.Errorf("%s: want a number from %s to %s", setting.Name, setting.Min, setting.Max)
		}
		said[setting.Name] = n
	}
	return limits{
		batch: int(said[batchSetting]), parallel: int(said[parallelSetting]), requests: said[requestsSetting],
		tokens: said[tokensSetting], time: time.Duration(said[minutesSetting]) * time.Minute,
	}, nil
}

// panel judges: by the compiled rules alone, or together with a model.
//
// What is known exactly (numbers, dates, platforms, creators, hashtags, sounds) is
// decided by the compiled rules, whatever a model says. The model decides items that
// are unclear, and those that the checks only compare words for; where it has no
// answer that fits, the compiled rules decide these too.
type panel struct {
	program *Program
	model   *model.Metered
	limits  limits
	// longest is how long one question may take; longestAsk but in tests.
	longest time.Duration
	until   time.Time
	log     *slog.Logger
	sign    func(note string)
	now     time.Time

	mu               sync.Mutex
	requests, tokens int64
	failed           int // questions in a row that found the endpoint out
	judged           int // videos that a model could have a say in
	without          map[string]int
	notes            []string
}

// newPanel has no model where no endpoint is set, or nothing is left for it to decide.
func newPanel(call *stage.Call, program *Program) *panel {
	p := &panel{program: program, log: call.Log, sign: call.Progress, now: time.UnixMilli(call.Now).UTC(), longest: longestAsk, without: map[string]int{}}
	if len(program.Open) == 0 {
		return p
	}
	endpoint, err := model.Metering(call)
	if err == nil && endpoint != nil {
		p.limits, err = limitsOf(call)
	}
	if err != nil {
		p.notes = append(p.notes, "The model is not set up rightly ("+err.Error()+"): the compiled rules decided.")
		return p
	}
	if endpoint != nil {
		p.model, p.until = endpoint, time.Now().Add(p.limits.time)
	}
	return p
}

// judge gives the verdicts on some records, in their order.
func (p *panel) judge(ctx context.Context, records []stage.Record) ([]stage.Verdict, error) {
	about := make([]*facts.Facts, len(records))
	for i, rec := range records {
		about[i] = facts.Of(rec, p.now)
	}
	said := make([]opinion, len(records))
	if p.model != nil {
		if err := p.consult(ctx, about, said); err != nil {
			return nil, err
		}
	}
	verdicts := make([]stage.Verdict, len(records))
	for i, rec := range records {
		verdicts[i] = p.program.judge(rec.Ref, about[i], said[i])
	}
	return verdicts, nil
}

// consult asks the model about the records that no exact check drops. Of one whose
// words are not known there is nothing to ask: a model would make something up.
func (p *panel) consult(ctx context.Context, about []*facts.Facts, said []opinion) error {
	var open []int
	for i, f := range about {
		if f.Known && !p.program.settled(f) {
			open = append(open, i)
		}
	}
	p.judged += len(open)
	defer model.Waiting(p.sign, "asking the model", signOfLife)()
	var all sync.WaitGroup
	free := make(chan struct{}, p.limits.parallel)
	for part := range slices.Chunk(open, p.limits.batch) {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			some := make([]*facts.Facts, len(part))
			for n, i := range part {
				some[n] = about[i]
			}
			for n, one := range p.ask(ctx, some) {
				said[part[n]] = one
			}
		})
	}
	all.Wait()
	return ctx.Err()
}

// ask gives an opinion a record, nil if there is none that fits.
func (p *panel) ask(ctx context.Context, about []*facts.Facts) []opinion {
	if why := p.refuses(); why != "" {
		return p.lack(make([]opinion, len(about)), why)
	}
	ctx, cancel := context.WithTimeout(ctx, p.longest)
	defer cancel()
	q := newQuestion(p.program.Open, about)
	answer, tokens, err := q.put(ctx, p.model)
	why := model.ErrMisfit.Error()
	opinions := make([]opinion, len(about))
	if err != nil {
		why = err.Error()
	} else {
		opinions = q.read(answer)
	}
	p.mu.Lock()
	p.tokens += tokens
	if p.failed++; err == nil || !model.Out(err) {
		p.failed = 0
	}
	p.mu.Unlock()
	return p.lack(opinions, why)
}

// refuses says why no more is asked; empty if it may be, and then it is counted.
func (p *panel) refuses() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.failed >= patience:
		return "not asked after " + strconv.Itoa(patience) + " failures in a row"
	case p.requests >= p.limits.requests, p.tokens >= p.limits.tokens, time.Now().After(p.until):
		return "not asked beyond what a scroll may spend"
	}
	p.requests++
	return ""
}

// lack counts the videos without an opinion.
func (p *panel) lack(opinions []opinion, why string) []opinion {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, said := range opinions {
		if said == nil {
			p.without[why]++
		}
	}
	return opinions
}

// summary is what people should know of it.
func (p *panel) summary() stage.Summary {
	out := stage.Summary{Unclear: p.program.Unclear, Notes: p.notes, Readings: p.program.readings(nil)}
	if p.model == nil || p.judged == 0 {
		return out
	}
	missing := 0
	var reasons []string
	for _, why := range slices.Sorted(maps.Keys(p.without)) {
		missing += p.without[why]
		reasons = append(reasons, fmt.Sprintf("%s (%d)", why, p.without[why]))
	}
	if missing < p.judged {
		out.Unclear, out.Readings = nil, p.program.readings(p.program.Open)
	}
	if missing > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("The model judged %d of %d videos. The compiled rules decided on the others: %s.",
			p.judged-missing, p.judged, strings.Join(reasons, ", ")))
	}
	if p.log != nil {
		p.log.Info("model asked", "videos", p.judged, "without", missing, "requests", p.requests, "tokens", p.tokens)
	}
	return out
}
