package scrolls

import (
	"context"
	"math"
	"net/http"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/paging"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/plugins/stage"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// defaultPage is the length of a list where none is asked for.
const defaultPage = 25

// readUnits is what an idempotent repeat of a start costs.
const readUnits = 1

// Operations mounts the module's operations.
func Operations(s *Service) api.Operations {
	rpc := &rpc{s}
	return func(mux *api.Mux) {
		api.Unary(mux, "CreateScroll", rpc.create, rpc.checkCreate)
		api.Unary(mux, "GetScroll", rpc.get)
		api.Unary(mux, "ListScrolls", rpc.list, rpc.checkList)
		api.Unary(mux, "ListVerdicts", rpc.verdicts, rpc.checkVerdicts)
		api.Stream(mux, "WatchScroll", rpc.watch)
		api.Unary(mux, "CancelScroll", rpc.cancel)
		api.Unary(mux, "StopSchedule", rpc.stopSchedule)
		api.Unary(mux, "GetSchedule", rpc.schedule)
		api.Unary(mux, "ListTemplates", rpc.templates, rpc.checkTemplates)
		api.Unary(mux, "EstimateScroll", rpc.estimate, rpc.checkEstimate)
	}
}

type rpc struct{ service *Service }

func (r *rpc) checkCreate(_ context.Context, req *scrolleryv1.CreateScrollRequest) error {
	return r.service.checkTemplate(req.Template)
}

func (r *rpc) checkList(_ context.Context, req *scrolleryv1.ListScrollsRequest) error {
	_, err := paging.Start(req.GetPageToken())
	return err
}

func (r *rpc) checkVerdicts(_ context.Context, req *scrolleryv1.ListVerdictsRequest) error {
	_, err := paging.Start(req.GetPageToken())
	return err
}

func (r *rpc) create(ctx context.Context, req *scrolleryv1.CreateScrollRequest) (*scrolleryv1.CreateScrollResponse, error) {
	start := Start{Prompt: req.Prompt, Template: req.Template, IdempotencyKey: req.IdempotencyKey}
	if req.Schedule != nil {
		days := int(*req.Schedule)
		start.Schedule = &days
	}
	scroll, created, err := r.service.Create(ctx, start)
	if err != nil {
		return nil, err
	}
	if !created {
		api.Units(ctx, readUnits)
		return &scrolleryv1.CreateScrollResponse{Outcome: "existing", Scroll: message(scroll)}, nil
	}
	api.Status(ctx, http.StatusAccepted)
	return &scrolleryv1.CreateScrollResponse{Outcome: "queued", Scroll: message(scroll)}, nil
}

func (r *rpc) get(ctx context.Context, req *scrolleryv1.GetScrollRequest) (*scrolleryv1.GetScrollResponse, error) {
	scroll, err := r.service.Get(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	return &scrolleryv1.GetScrollResponse{Found: scroll != nil, Scroll: message(scroll)}, nil
}

func (r *rpc) list(ctx context.Context, req *scrolleryv1.ListScrollsRequest) (*scrolleryv1.ListScrollsResponse, error) {
	size := defaultPage
	if req.PageSize != nil {
		size = int(*req.PageSize)
	}
	scrolls, next, err := r.service.List(ctx, size, req.GetPageToken())
	if err != nil {
		return nil, err
	}
	resp := &scrolleryv1.ListScrollsResponse{NextPageToken: following(next)}
	for _, scroll := range scrolls {
		resp.Scrolls = append(resp.Scrolls, message(scroll))
	}
	return resp, nil
}

func (r *rpc) verdicts(ctx context.Context, req *scrolleryv1.ListVerdictsRequest) (*scrolleryv1.ListVerdictsResponse, error) {
	size := defaultPage
	if req.PageSize != nil {
		size = int(*req.PageSize)
	}
	filter := VerdictFilter{Scroll: req.GetScrollId(), Dropped: req.Dropped, ExternalID: req.GetExternalId()}
	verdicts, next, err := r.service.Verdicts(ctx, filter, size, req.GetPageToken())
	if err != nil {
		return nil, err
	}
	resp := &scrolleryv1.ListVerdictsResponse{NextPageToken: following(next)}
	for _, v := range verdicts {
		resp.Verdicts = append(resp.Verdicts, &scrolleryv1.Verdict{
			Platform: v.Platform, ExternalId: v.ExternalID, Dropped: v.DroppedBy != "", Rule: v.DroppedBy, RuleId: v.RuleID,
			Rank: v.Rank, Reason: v.Reason, ScrollId: publicid.Format(publicid.Scroll, v.ScrollID), JudgedAt: float64(v.JudgedAt),
		})
	}
	return resp, nil
}

func (r *rpc) watch(ctx context.Context, req *scrolleryv1.WatchScrollRequest, send func(*scrolleryv1.WatchScrollResponse) error) error {
	return r.service.Watch(ctx, req.GetId(), func(scroll *Scroll) error {
		return send(&scrolleryv1.WatchScrollResponse{Scroll: message(scroll)})
	})
}

func (r *rpc) cancel(ctx context.Context, req *scrolleryv1.CancelScrollRequest) (*scrolleryv1.CancelScrollResponse, error) {
	scroll, err := r.service.Cancel(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	return &scrolleryv1.CancelScrollResponse{Found: scroll != nil, Scroll: message(scroll)}, nil
}

func (r *rpc) stopSchedule(ctx context.Context, _ *scrolleryv1.StopScheduleRequest) (*scrolleryv1.StopScheduleResponse, error) {
	stopped, err := r.service.StopSchedule(ctx)
	if err != nil {
		return nil, err
	}
	return &scrolleryv1.StopScheduleResponse{Stopped: stopped}, nil
}

func (r *rpc) schedule(ctx context.Context, _ *scrolleryv1.GetScheduleRequest) (*scrolleryv1.GetScheduleResponse, error) {
	row, err := r.service.Schedule(ctx)
	if err != nil || row == nil {
		return &scrolleryv1.GetScheduleResponse{}, err
	}
	return &scrolleryv1.GetScheduleResponse{Schedule: &scrolleryv1.Schedule{
		EveryDays: int32(row.EveryDays), Prompt: row.Prompt, Template: row.Template,
		NextAt: float64(row.NextAt), CreatedAt: float64(row.CreatedAt),
	}}, nil
}

func (r *rpc) checkTemplates(_ context.Context, req *scrolleryv1.ListTemplatesRequest) error {
	_, err := paging.Start(req.GetPageToken())
	return err
}

func (r *rpc) templates(ctx context.Context, req *scrolleryv1.ListTemplatesRequest) (*scrolleryv1.ListTemplatesResponse, error) {
	size := defaultPage
	if req.PageSize != nil {
		size = int(*req.PageSize)
	}
	found, next, err := r.service.Templates(ctx, size, req.GetPageToken())
	if err != nil {
		return nil, err
	}
	resp := &scrolleryv1.ListTemplatesResponse{NextPageToken: following(next)}
	for _, template := range found {
		shown := &scrolleryv1.Template{Name: template.Name, Kinds: template.Kinds}
		for _, s := range template.Stages {
			shown.Stages = append(shown.Stages, &scrolleryv1.TemplateStage{Id: s.ID, Kind: s.Kind, Usable: s.Usable, Platforms: s.Platforms, RestsUntil: number(s.RestsUntil)})
		}
		resp.Templates = append(resp.Templates, shown)
	}
	return resp, nil
}

func (r *rpc) checkEstimate(_ context.Context, req *scrolleryv1.EstimateScrollRequest) error {
	return r.service.checkTemplate(req.Template)
}

func (r *rpc) estimate(ctx context.Context, req *scrolleryv1.EstimateScrollRequest) (*scrolleryv1.EstimateScrollResponse, error) {
	e, err := r.service.Estimate(ctx, req.Prompt, req.Template)
	if err != nil {
		return nil, err
	}
	resp := &scrolleryv1.EstimateScrollResponse{
		Seeds: seeds(e.Seeds), MinUnits: int32(e.MinUnits), MaxUnits: int32(e.MaxUnits),
		DailyUnitsLeft: count(e.Budget.Daily), MonthlyUnitsLeft: count(e.Budget.Monthly),
		ActiveScrolls: int32(e.Active), MaxActiveScrolls: int32(e.MaxActive), Obstacles: e.Obstacles,
		NextEligibleAt: number(e.NextAt), Notes: e.Notes,
	}
	for _, one := range e.Sources {
		shown := &scrolleryv1.SourceEstimate{
			Source: one.Source, Usable: one.Usable, Seeds: int32(one.Seeds), Waiting: int32(one.Waiting), RetryAt: number(one.RetryAt),
		}
		if one.Requests != nil {
			requests := count(*one.Requests)
			shown.Requests = &requests
		}
		for _, q := range one.Quotas {
			if q.Money {
				shown.Cost = &scrolleryv1.CostEstimate{Needed: dollars(q.Needed), Left: dollars(q.Left), Limit: dollars(q.Limit)}
				continue
			}
			shown.Quotas = append(shown.Quotas, &scrolleryv1.QuotaEstimate{Name: q.Name, Needed: count(q.Needed), Left: count(q.Left), Limit: count(q.Limit)})
		}
		resp.Sources = append(resp.Sources, shown)
	}
	return resp, nil
}

// dollars are an amount in US dollars.
func dollars(amount int64) float64 { return float64(amount) / stage.Dollar }

// count is a number of the wire, cut to what it can hold.
func count(n int64) int32 { return int32(min(n, math.MaxInt32)) }

func seeds(all []stage.Seed) (shown []*scrolleryv1.Seed) {
	for _, seed := range all {
		shown = append(shown, &scrolleryv1.Seed{Kind: seed.Kind, Platform: seed.Platform, Handle: seed.Handle, Term: seed.Term})
	}
	return shown
}

// message is the scroll as the API shows it; nil for nil.
func message(s *Scroll) *scrolleryv1.Scroll {
	if s == nil {
		return nil
	}
	m := &scrolleryv1.Scroll{
		Id: publicid.Format(publicid.Scroll, s.ID), Status: s.Status, Stage: s.Step, Progress: progress(s),
		ResultCounts: &scrolleryv1.ResultCounts{Videos: int32(s.NewVideos)},
		FailureCode:  s.FailureCode, Template: s.Template,
		CreatedAt: float64(s.CreatedAt), UpdatedAt: float64(s.UpdatedAt),
		StartedAt: number(s.StartedAt), CompletedAt: number(s.CompletedAt),
	}
	if s.Schedule != nil {
		days := int32(*s.Schedule)
		m.Schedule = &days
	}
	return m
}

func progress(s *Scroll) *scrolleryv1.Progress {
	p := &scrolleryv1.Progress{
		Percent: s.Progress.Percent, DispatchAttempts: int32(s.Attempts), Collected: int32(s.Progress.Collected),
		Reobserved: int32(s.Progress.Reobserved), Dropped: int32(s.Progress.Dropped), UnclearRules: s.Progress.UnclearRules,
		ScreenNotes: s.Progress.ScreenNotes,
	}
	if plan := s.Progress.Plan; plan != nil {
		p.Plan = &scrolleryv1.ScrollPlan{Method: plan.Method, Pages: plan.Pages, Notes: plan.Notes, Seeds: seeds(plan.Seeds)}
	}
	if f := s.failure(); f != nil {
		tries := int32(f.Tries)
		p.Failure = &scrolleryv1.ScrollFailure{Stage: f.Step, Plugin: f.Plugin, Cause: &f.Cause, Tries: &tries}
	}
	for _, c := range s.Progress.Coverage {
		p.Coverage = append(p.Coverage, &scrolleryv1.Coverage{
			Seed: c.Seed, Platform: c.Platform, Outcome: c.Outcome, Asked: int32(c.Asked), Returned: int32(c.Returned),
			New: int32(c.New), Reobserved: int32(c.Reobserved), Dropped: int32(c.Dropped), RetryAt: number(c.RetryAt),
			Trimmed: int32(c.Trimmed),
		})
	}
	for _, t := range s.Progress.Truncated {
		shown := &scrolleryv1.Truncated{Source: t.Source, Setting: t.Setting, Kept: int32(t.Kept)}
		if t.Found > t.Kept {
			found := float64(t.Found)
			shown.Found = &found
		}
		p.Truncated = append(p.Truncated, shown)
	}
	for _, l := range s.Progress.Evidence {
		p.Evidence = append(p.Evidence, &scrolleryv1.Looked{
			Stage: l.Stage, Outcome: l.Outcome, Asked: int32(l.Asked), Found: int32(l.Found), RetryAt: number(l.RetryAt),
		})
	}
	for _, d := range s.Progress.DroppedByRule {
		p.DroppedByRule = append(p.DroppedByRule, &scrolleryv1.RuleDrops{Rule: d.Rule, Videos: int32(d.Videos)})
	}
	return p
}

// following is the token of the next page; nil at the end.
func following(token string) *string {
	if token == "" {
		return nil
	}
	return &token
}

func number(millis *int64) *float64 {
	if millis == nil {
		return nil
	}
	value := float64(*millis)
	return &value
}
