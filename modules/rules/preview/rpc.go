package preview

import (
	"context"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/rules"
	"github.com/scrollery/scrollery/plugins/stage"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// defaultSample is how many videos are judged when the caller names no number.
const defaultSample = 500

// Mount mounts the operations on every protocol. PutRules is here since its answer may have
// the readings.
func (s *Service) Mount(m *api.Mux) {
	api.Unary(m, "PutRules", s.putRules, func(_ context.Context, req *scrolleryv1.PutRulesRequest) error {
		_, err := rules.Candidate(req.GetText(), nil)
		return err
	})
	api.Unary(m, "PreviewRules", s.previewRules, func(_ context.Context, req *scrolleryv1.PreviewRulesRequest) error {
		_, err := rules.Candidate(req.GetText(), nil)
		return err
	})
}

func (s *Service) putRules(ctx context.Context, req *scrolleryv1.PutRulesRequest) (*scrolleryv1.PutRulesResponse, error) {
	answer, err := s.rules.PutText(ctx, req.GetText())
	if err != nil || !req.GetReadings() {
		return answer, err
	}
	read, unclear, err := s.Read(ctx, req.GetText(), req.GetLanguage())
	if err != nil {
		api.Note(ctx, "readings", err) // the rules are stored, and the answer says so
		return answer, nil
	}
	answer.Readings, answer.UnclearRules = readings(read, unclear)
	return answer, nil
}

func readings(read []stage.Reading, unclear []Unclear) (ours []*scrolleryv1.RuleReading, lost []*scrolleryv1.UnclearRule) {
	for _, one := range read {
		ours = append(ours, &scrolleryv1.RuleReading{Rule: one.Rule, Reading: one.Text})
	}
	for _, one := range unclear {
		lost = append(lost, &scrolleryv1.UnclearRule{Rule: one.Rule, Why: one.Why})
	}
	return ours, lost
}

func (s *Service) previewRules(ctx context.Context, req *scrolleryv1.PreviewRulesRequest) (*scrolleryv1.PreviewRulesResponse, error) {
	sample := defaultSample
	if req.Sample != nil {
		sample = int(*req.Sample)
	}
	made, err := s.Preview(ctx, req.GetText(), req.GetLanguage(), sample)
	if err != nil {
		return nil, err
	}
	answer := &scrolleryv1.PreviewRulesResponse{Judged: int32(len(made.Videos)), CurrentVersion: int32(made.Version), Notes: made.Notes}
	for i := range made.Videos {
		switch made.Videos[i].change() {
		case newlyDropped:
			answer.NewlyDropped++
			answer.Dropped++
		case stillDropped:
			answer.Dropped++
		case newlyKept:
			answer.NewlyKept++
		}
	}
	answer.Kept = answer.Judged - answer.Dropped
	names, videos := made.drops()
	for _, name := range names {
		answer.DroppedByRule = append(answer.DroppedByRule, &scrolleryv1.RuleDrops{Rule: name, Videos: int32(videos[name])})
	}
	answer.Readings, answer.UnclearRules = readings(made.Readings, made.Unclear)
	for _, one := range made.examples() {
		verdict := one.Candidate
		if one.change() == newlyKept {
			verdict = one.Current
		}
		answer.Examples = append(answer.Examples, &scrolleryv1.PreviewExample{
			VideoId: publicid.Format(publicid.Video, one.VideoID), Platform: verdict.Platform, ExternalId: verdict.ExternalID,
			Change: one.change(), Rule: verdict.DroppedBy, Reason: verdict.Reason,
		})
	}
	return answer, nil
}
