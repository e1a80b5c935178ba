package scrolls

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/paging"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/scrolls/coverage"
	"github.com/scrollery/scrollery/plugins/stage"
)

// verdict is the result of all screens for one item: their ranks add up.
type verdict struct {
	id  int64
	key coverage.Key
	stage.Verdict
	reasons []string
	// evident: the record had evidence.
	evident bool
	// basis and judgedAt are those of a drop that is remembered, or will be; see [secondPass].
	basis    *string
	judgedAt int64
}

// add adds the verdict of one screen; no other follows a drop.
func (v *verdict) add(next stage.Verdict) {
	v.DroppedBy, v.RuleID, v.Rank = next.DroppedBy, next.RuleID, v.Rank+next.Rank
	if next.DroppedBy != "" {
		v.reasons = nil
	}
	if next.Reason != "" {
		v.reasons = append(v.reasons, next.Reason)
	}
}

// judging has records judged by screens, one after another.
type judging struct {
	stages         Stages
	call           stage.Run
	log            *slog.Logger
	verdicts       map[stage.Ref]*verdict
	unclear, notes []string
	readings       []stage.Reading
}

// pass streams records through one screen, and adds its verdicts to those that the
// records have. One that is off is left out, and the notes say so, since its rules do not
// apply.
func (j *judging) pass(ctx context.Context, id string, next func() ([]stage.Record, error)) error {
	if why := j.stages.Find(id).Off; why != "" {
		j.log.Warn("screen left out", "stage", id, "reason", why)
		j.notes = union(j.notes, []string{fmt.Sprintf("%s is left out, nothing is dropped by it: %s", id, why)})
		return nil
	}
	summary, err := j.stages.Screen(ctx, id, j.call, next, func(verdicts []stage.Verdict) error {
		for _, next := range verdicts {
			if v := j.verdicts[next.Ref]; v != nil {
				v.add(next)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("screen %s: %w", id, err)
	}
	j.unclear, j.notes = union(j.unclear, summary.Unclear), union(j.notes, summary.Notes)
	j.readings = append(j.readings, summary.Readings...)
	return nil
}

// screening collects verdicts. They are written when all screens are done, so a step
// that is cut off leaves none.
type screening struct {
	judging
	r    *run
	step string
	// screens are those of this pass.
	screens []string
	ids     []int64
	byID    map[int64]*verdict
}

// newScreening judges some videos in a step, in the order of their arrival.
func newScreening(r *run, step string, screens []string, ids []int64) *screening {
	slices.Sort(ids)
	return &screening{
		judging: judging{stages: r.stages, call: r.call, log: r.log, verdicts: make(map[stage.Ref]*verdict, len(ids))},
		r:       r, step: step, screens: screens, ids: ids, byID: make(map[int64]*verdict, len(ids)),
	}
}

// screen has new videos judged by each screen in turn, but for those that look at evidence.
// A screen does not see what an earlier one dropped. Known videos are not judged: the
// library has them.
func (r *run) screen(ctx context.Context) error {
	s, err := r.judge(ctx)
	if err != nil {
		return err
	}
	return r.finish(ctx, Screen, s.sum)
}

// judge has the new videos judged, and writes the verdicts.
func (r *run) judge(ctx context.Context) (*screening, error) {
	ids, err := r.staged.itemIDs(ctx, newcomers())
	if err != nil {
		return nil, err
	}
	s := newScreening(r, Screen, screensOf(r.stages, r.template, false), ids)
	for n, id := range s.screens {
		if err := s.pass(ctx, id, n); err != nil {
			return nil, err
		}
	}
	if err := (secondPass{r}).recall(ctx, s); err != nil {
		return nil, err
	}
	return s, s.write(ctx)
}

// pass streams the videos that are left through one screen.
func (s *screening) pass(ctx context.Context, id string, number int) error {
	left := slices.DeleteFunc(slices.Clone(s.ids), func(id int64) bool { return s.byID[id] != nil && s.byID[id].DroppedBy != "" })
	return s.judging.pass(ctx, id, s.r.stream(ctx, left, func(items []item, done float64) ([]stage.Record, error) {
		records := make([]stage.Record, len(items))
		for n, i := range items {
			if s.byID[i.id] == nil {
				e := i.record.Evidence
				v := &verdict{
					id: i.id, key: i.key(), Verdict: stage.Verdict{Ref: i.record.Ref},
					evident: e != nil && (e.Spoken != nil || e.OnScreenText != nil || len(e.Visual) > 0),
				}
				s.byID[i.id], s.verdicts[i.record.Ref] = v, v
			}
			records[n] = i.record
		}
		fraction := 0.9 * (float64(number) + done) / float64(len(s.screens))
		if s.step == Evidence { // the stages come first
			fraction = 0.9 + fraction/10
		}
		return records, s.r.note(ctx, func(next *state) { next.progress.raise(s.r.in.percent(s.step, fraction)) })
	}))
}

// Judge has records judged as the step screen of the next scroll would judge them, without
// a prompt: by the screens of the default template, for the tenant's brief, with these
// rules. Readings are in the language, or English. It writes nothing. read starts a new reader of all records, which ends with
// io.EOF; it is called once for each screen.
func (s *Service) Judge(ctx context.Context, language string, rules []stage.Rule, read func() func() ([]stage.Record, error)) (map[stage.Ref]stage.Verdict, stage.Summary, error) {
	brief, _, ok, err := s.needs.Workspaces.Brief(ctx)
	if err != nil {
		return nil, stage.Summary{}, fmt.Errorf("judge: brief: %w", err)
	}
	if !ok {
		return nil, stage.Summary{}, apierr.New(apierr.WorkspaceRequired, "Set a workspace before you preview rules.")
	}
	number, err := s.runNumber(ctx)
	if err != nil {
		return nil, stage.Summary{}, fmt.Errorf("judge: count runs: %w", err)
	}
	template := s.cfg.Templates[defaultTemplate]
	j := &judging{stages: s.needs.Stages, log: s.log, verdicts: map[stage.Ref]*verdict{}, call: stage.Run{
		ScrollID: publicid.Format(publicid.Scroll, s.db.NewID()), Number: number, Brief: brief, Rules: rules,
		Now: s.now().UnixMilli(), Settings: template.Settings, Language: language,
	}}
	for _, id := range screensOf(s.needs.Stages, template, true) {
		j.notes = union(j.notes, []string{id + " looks at evidence, after the other screens of a scroll: it is left out here"})
	}
	for _, id := range screensOf(s.needs.Stages, template, false) {
		if err := j.pass(ctx, id, j.open(read())); err != nil {
			return nil, stage.Summary{}, fmt.Errorf("judge: %w", err)
		}
	}
	verdicts := make(map[stage.Ref]stage.Verdict, len(j.verdicts))
	for ref, v := range j.verdicts {
		v.Reason = strings.Join(v.reasons, "; ")
		verdicts[ref] = v.Verdict
	}
	return verdicts, stage.Summary{Unclear: j.unclear, Notes: j.notes, Readings: j.readings}, nil
}

// open returns a reader of the records that no screen has dropped yet.
func (j *judging) open(next func() ([]stage.Record, error)) func() ([]stage.Record, error) {
	return func() ([]stage.Record, error) {
		for {
			records, err := next()
			if err != nil {
				return nil, err
			}
			left := records[:0]
			for _, rec := range records {
				if j.verdicts[rec.Ref] == nil {
					j.verdicts[rec.Ref] = &verdict{Verdict: stage.Verdict{Ref: rec.Ref}}
				}
				if j.verdicts[rec.Ref].DroppedBy == "" {
					left = append(left, rec)
				}
			}
			if len(left) > 0 {
				return left, nil
			}
		}
	}
}

// union adds what all does not have.
func union(all, more []string) []string {
	for _, one := range more {
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}

// write commits the verdicts in batches; doing it twice changes nothing.
func (s *screening) write(ctx context.Context) error {
	judged := make([]*verdict, 0, len(s.byID))
	for _, id := range s.ids {
		if v := s.byID[id]; v != nil {
			judged = append(judged, v)
		}
	}
	for part := range slices.Chunk(judged, s.r.atOnce) {
		err := s.r.commit(ctx, false, func(ctx context.Context, tx *store.Tx, _ *state) error {
			return s.writeVerdicts(ctx, tx, part)
		})
		if err != nil {
			return err
		}
		s.r.pause(ctx, Screen, "batch")
	}
	return nil
}

// sum adds how many videos were dropped, and by which rule.
func (s *screening) sum(_ context.Context, _ *store.Tx, next *state) error {
	next.progress.countDrops(s.dropped())
	s.remark(&next.progress)
	return nil
}

// remark adds what the screens said of the rules.
func (s *screening) remark(p *Progress) {
	p.UnclearRules, p.ScreenNotes = union(p.UnclearRules, s.unclear), union(p.ScreenNotes, s.notes)
}

// dropped are the verdicts on what was dropped, in the order of its arrival.
func (s *screening) dropped() (drops []*verdict) {
	for _, id := range s.ids {
		if v := s.byID[id]; v != nil && v.DroppedBy != "" {
			drops = append(drops, v)
		}
	}
	return drops
}

// countDrops adds dropped videos, by rule and by seed.
func (p *Progress) countDrops(drops []*verdict) {
	rules, seeds := map[string]int{}, coverage.Tally{}
	for _, v := range drops {
		rules[v.DroppedBy]++
		seeds[v.key]++
	}
	p.Coverage = seeds.AddTo(p.Coverage, func(e *coverage.Entry) *int { return &e.Dropped })
	for rule, videos := range rules {
		p.drop(rule, videos)
	}
}

// drop adds videos that one rule dropped.
func (p *Progress) drop(rule string, videos int) {
	p.Dropped += videos
	drops := slices.Clone(p.DroppedByRule)
	if at := slices.IndexFunc(drops, func(d RuleDrops) bool { return d.Rule == rule }); at >= 0 {
		drops[at].Videos += videos
	} else {
		drops = append(drops, RuleDrops{rule, videos})
	}
	slices.SortFunc(drops, func(a, b RuleDrops) int {
		return cmp.Or(cmp.Compare(b.Videos, a.Videos), cmp.Compare(a.Rule, b.Rule))
	})
	p.DroppedByRule = drops
}

// stream returns a reader of items in batches; take turns each batch into what a
// plugin gets.
func (r *run) stream(ctx context.Context, ids []int64, take func(items []item, done float64) ([]stage.Record, error)) func() ([]stage.Record, error) {
	at := 0
	return func() ([]stage.Record, error) {
		for at < len(ids) {
			part := ids[at:min(len(ids), at+r.s.cfg.BatchSize)]
			at += len(part)
			items, err := r.staged.items(ctx, part)
			if err != nil {
				return nil, err
			}
			if records, err := take(items, float64(at)/float64(len(ids))); err != nil || len(records) > 0 {
				return records, err
			}
		}
		return nil, io.EOF
	}
}

// batches calls do with the items of ids, as many at a time as one transaction writes, until do returns false.
func (r *run) batches(ctx context.Context, ids []int64, do func(items []item) (goOn bool, err error)) error {
	for part := range slices.Chunk(ids, r.atOnce) {
		items, err := r.staged.items(ctx, part)
		if err != nil {
			return err
		}
		if goOn, err := do(items); err != nil || !goOn {
			return err
		}
	}
	return nil
}

// Verdict is the last result of the screens for a video of the tenant. It outlives
// the scroll: what is archived is not judged again and keeps its verdict.
type Verdict struct {
	ID int64
	stage.Verdict
	ScrollID int64
	// JudgedAt in Unix milliseconds.
	JudgedAt int64
}

// VerdictFilter narrows a list of verdicts; nil and empty parts do not.
type VerdictFilter struct {
	// Scroll is a public id.
	Scroll     string
	Dropped    *bool
	ExternalID string
}

// Verdicts returns a page of the tenant's verdicts, the videos that were first judged
// most recently first. next is empty at the end.
func (s *Service) Verdicts(ctx context.Context, filter VerdictFilter, size int, token string) (verdicts []Verdict, next string, err error) {
	from, err := paging.Start(token)
	if err != nil {
		return nil, "", err
	}
	var scroll int64
	if filter.Scroll != "" {
		var ok bool
		if scroll, ok = publicid.Parse(publicid.Scroll, filter.Scroll); !ok {
			return nil, "", nil
		}
	}
	verdicts, err = pastVerdicts{s}.pageOfVerdicts(ctx, scroll, filter, from, size+1)
	if err != nil {
		return nil, "", fmt.Errorf("list verdicts: %w", err)
	}
	verdicts, next = paging.Cut(verdicts, size, func(v Verdict) int64 { return v.ID })
	return verdicts, next, nil
}

// SweepVerdicts deletes drops that are older than the configuration keeps them: such a
// video is judged again when it is collected again. Verdicts of kept videos stay.
func (s *Service) SweepVerdicts(ctx context.Context) error {
	if s.cfg.KeepDrops == 0 {
		return nil
	}
	const batch = 1000
	below := s.now().Add(-s.cfg.KeepDrops).UnixMilli()
	for {
		removed, err := pastVerdicts{s}.forgetDrops(viewer.System(ctx), below, batch)
		if err != nil {
			return fmt.Errorf("sweep verdicts: %w", err)
		}
		if removed < batch {
			return nil
		}
	}
}
