package preview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/fair"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/kernel/visible"
	"github.com/scrollery/scrollery/modules/rules"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Screens is the need of the screens of a scroll.
type Screens interface {
	// Judge has records judged as the next scroll would judge new videos, by these rules,
	// with readings in the language. read starts a new reader of all records, which ends
	// with io.EOF.
	Judge(ctx context.Context, language string, rules []stage.Rule, read func() func() ([]stage.Record, error)) (map[stage.Ref]stage.Verdict, stage.Summary, error)
}

// Library is the need of stored videos.
type Library interface {
	// Newest returns the ids of at most so many videos, those that were first seen last.
	Newest(ctx context.Context, limit int) ([]int64, error)
	// Records returns some videos as a source would deliver them, by their ids.
	Records(ctx context.Context, ids []int64) (map[int64]stage.Record, error)
}

const (
	// places is how many previews one process runs at once. Of two, a tenant gets one.
	places = 2
	// batch is how many videos are in memory at once.
	batch = 100
)

// Service previews rulesets.
type Service struct {
	rules   *rules.Service
	screens Screens
	library Library
	places  *fair.Places
	// wait is how long a preview waits for a place; within is how long it may take then,
	// both passes together.
	wait, within time.Duration
}

// New returns the service.
func New(r *rules.Service, screens Screens, library Library) *Service {
	return &Service{rules: r, screens: screens, library: library, places: fair.NewEach(places, 1), wait: 5 * time.Second, within: 2 * time.Minute}
}

// Judged is one video, and what both rulesets decide on it.
type Judged struct {
	VideoID int64
	// Candidate and Current are the verdicts of the text and of the ruleset in force.
	Candidate, Current stage.Verdict
}

// Preview is the result for a whole sample.
type Preview struct {
	// Videos in the order of the library, newest first.
	Videos []Judged
	// Unclear, Notes and Readings are those of the text.
	Unclear  []Unclear
	Notes    []string
	Readings []stage.Reading
	// Version of the ruleset in force; 0 without one.
	Version int
}

// Unclear is a rule that no check could be made of, wholly or in part.
type Unclear struct{ Rule, Why string }

var errDeadline = errors.New("the preview took too long")

// Preview judges the newest videos by a text, and by the ruleset in force. A tenant runs
// one at a time: it fails with RateLimited where no place is free in time. Readings, and what
// is unclear, are in the language: `de`, or English.
func (s *Service) Preview(ctx context.Context, text, language string, sample int) (*Preview, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	ctx, cancel := context.WithTimeoutCause(ctx, s.within, errDeadline)
	defer cancel()
	made, err := s.preview(ctx, text, language, sample)
	if err != nil && errors.Is(context.Cause(ctx), errDeadline) {
		return nil, apierr.New(apierr.TemporaryServiceError, "The preview took longer than %d seconds. Try a smaller sample.", int(s.within.Seconds()))
	}
	if err != nil {
		return nil, fmt.Errorf("preview rules: %w", err)
	}
	return made, nil
}

// enter waits for a place.
func (s *Service) enter(ctx context.Context) (leave func(), err error) {
	account, _, _ := viewer.Tenant(ctx)
	waiting, cancel := context.WithTimeout(ctx, s.wait)
	defer cancel()
	leave, err = s.places.Enter(waiting, account)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, &apierr.Error{Kind: apierr.RateLimited, RetryAfter: s.wait, Message: "Another preview is running. An account has one at a time: try again when it has ended."}
	}
	return leave, nil
}

func (s *Service) preview(ctx context.Context, text, language string, sample int) (*Preview, error) {
	version, current, err := s.rules.Active(ctx)
	if err != nil {
		return nil, err
	}
	candidate, err := rules.Candidate(text, current)
	if err != nil {
		return nil, err
	}
	ids, err := s.library.Newest(ctx, sample)
	if err != nil {
		return nil, err
	}
	refs := make(map[int64]stage.Ref, len(ids))
	read := func() func() ([]stage.Record, error) { return s.reader(ctx, ids, refs) }
	tried, summary, err := s.judge(ctx, language, candidate, read)
	if err != nil {
		return nil, err
	}
	inForce, _, err := s.screens.Judge(ctx, language, current, read)
	if err != nil {
		return nil, err
	}
	made := &Preview{Version: version, Notes: summary.Notes, Readings: summary.Readings}
	for _, id := range ids {
		one, ok := tried[refs[id]]
		other, both := inForce[refs[id]]
		if ok && both { // else it was deleted meanwhile
			made.Videos = append(made.Videos, Judged{id, one, other})
		}
	}
	made.Unclear = unclearOf(summary, candidate, language)
	return made, nil
}

// Read returns how the screens read a text, and what of it is unclear. It takes the place of
// a preview. The language is as in Preview.
func (s *Service) Read(ctx context.Context, text, language string) ([]stage.Reading, []Unclear, error) {
	candidate, err := rules.Candidate(text, nil)
	if err != nil {
		return nil, nil, err
	}
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	none := func() func() ([]stage.Record, error) {
		return func() ([]stage.Record, error) { return nil, io.EOF }
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.within, errDeadline)
	defer cancel()
	_, summary, err := s.judge(ctx, language, candidate, none)
	if err != nil {
		return nil, nil, fmt.Errorf("read rules: %w", err)
	}
	return summary.Readings, unclearOf(summary, candidate, language), nil
}

// judge is Judge with a summary that people see as models do: a screen may be a model.
func (s *Service) judge(ctx context.Context, language string, items []stage.Rule, read func() func() ([]stage.Record, error)) (map[stage.Ref]stage.Verdict, stage.Summary, error) {
	verdicts, summary, err := s.screens.Judge(ctx, language, items, read)
	for i := range summary.Notes {
		summary.Notes[i], _ = visible.Clean(summary.Notes[i])
	}
	for i := range summary.Readings {
		summary.Readings[i].Text, _ = visible.Clean(summary.Readings[i].Text)
	}
	return verdicts, summary, err
}

func unclearOf(summary stage.Summary, candidate []stage.Rule, language string) (all []Unclear) {
	for _, unclear := range summary.Unclear {
		all = append(all, explain(unclear, candidate, language))
	}
	return all
}

// reader reads the records of ids in batches, and notes whose they are.
func (s *Service) reader(ctx context.Context, ids []int64, refs map[int64]stage.Ref) func() ([]stage.Record, error) {
	at := 0
	return func() ([]stage.Record, error) {
		for at < len(ids) {
			part := ids[at:min(len(ids), at+batch)]
			at += len(part)
			found, err := s.library.Records(ctx, part)
			if err != nil {
				return nil, err
			}
			records := make([]stage.Record, 0, len(found))
			for _, id := range part {
				if record, ok := found[id]; ok {
					refs[id] = record.Ref
					records = append(records, record)
				}
			}
			if len(records) > 0 {
				return records, nil
			}
		}
		return nil, io.EOF
	}
}

// whys say what is unclear of a rule, by language: of one without a check, of one with a part
// that is unclear, and of what is no rule of the text.
var whys = map[string]struct{ whole, part, other string }{
	"": {
		"No check could be made of this rule: nothing is dropped by it. Name the words, hashtags, numbers or creators that decide.",
		"Nothing is dropped by this rule, since a part of it is unclear: %s. Write that part anew, or as a rule of its own.",
		"No check could be made of this rule: nothing is dropped by it.",
	},
	"de": {
		"Aus dieser Regel wurde keine Prüfung: Sie entfernt nichts. Nennen Sie die Wörter, Hashtags, Zahlen oder Accounts, die entscheiden. Gelesen werden Regeln auf Englisch.",
		"Diese Regel entfernt nichts, denn ein Teil ist unklar: %s. Schreiben Sie diesen Teil neu oder als eigene Regel.",
		"Aus dieser Regel wurde keine Prüfung: Sie entfernt nichts.",
	},
}

// explain says of an unclear rule, as a screen reports it, what was not understood.
func explain(reported string, candidate []stage.Rule, language string) Unclear {
	why, ok := whys[language]
	if !ok {
		why = whys[""]
	}
	for _, rule := range candidate {
		rest, ok := strings.CutPrefix(reported, rule.Text)
		switch part := strings.Trim(rest, " ()"); {
		case !ok:
		case rest == "":
			return Unclear{rule.Text, why.whole}
		case strings.HasPrefix(rest, " ("):
			return Unclear{rule.Text, fmt.Sprintf(why.part, part)}
		}
	}
	return Unclear{reported, why.other}
}

// How a text changes the verdict on a video.
const (
	newlyDropped = "newly_dropped"
	newlyKept    = "newly_kept"
	stillDropped = "dropped"
	stillKept    = "kept"
)

// change compares the verdicts.
func (j *Judged) change() string {
	switch tried, now := j.Candidate.DroppedBy != "", j.Current.DroppedBy != ""; {
	case tried && !now:
		return newlyDropped
	case !tried && now:
		return newlyKept
	case tried:
		return stillDropped
	}
	return stillKept
}

// drops counts the videos that each rule of the text drops, most first.
func (p *Preview) drops() (rulesOf []string, videos map[string]int) {
	videos = map[string]int{}
	for i := range p.Videos {
		if rule := p.Videos[i].Candidate.DroppedBy; rule != "" {
			if videos[rule]++; videos[rule] == 1 {
				rulesOf = append(rulesOf, rule)
			}
		}
	}
	slices.SortFunc(rulesOf, func(a, b string) int { return cmp.Or(videos[b]-videos[a], cmp.Compare(a, b)) })
	return rulesOf, videos
}

// maxExamples bounds the examples.
const maxExamples = 25

// examples are changed videos, both kinds in turn, then dropped ones.
func (p *Preview) examples() []*Judged {
	byChange := map[string][]*Judged{}
	for i := range p.Videos {
		change := p.Videos[i].change()
		byChange[change] = append(byChange[change], &p.Videos[i])
	}
	var all []*Judged
	for i := range maxExamples {
		for _, change := range []string{newlyDropped, newlyKept} {
			if of := byChange[change]; i < len(of) {
				all = append(all, of[i])
			}
		}
	}
	all = append(all, byChange[stillDropped]...)
	return all[:min(len(all), maxExamples)]
}
