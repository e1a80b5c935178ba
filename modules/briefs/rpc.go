package briefs

import (
	"context"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/plugins/stage"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// Mount mounts the operation on every protocol.
func (s *Service) Mount(m *api.Mux) { api.Unary(m, "DraftBrief", s.draftBrief) }

func (s *Service) draftBrief(ctx context.Context, req *scrolleryv1.DraftBriefRequest) (*scrolleryv1.DraftBriefResponse, error) {
	draft, err := s.Draft(ctx, req.GetFocus(), req.GetCollectionId())
	if err != nil {
		return nil, err
	}
	answer := &scrolleryv1.DraftBriefResponse{
		Status: "drafted", Composer: draft.Composer, Dropped: int32(draft.Dropped), Credits: int32(draft.Fee), Notes: draft.Notes,
	}
	if len(draft.Sentences) == 0 {
		answer.Status = "insufficient_history"
	}
	trends := map[string]bool{}
	for i := range draft.Facts {
		switch draft.Facts[i].Kind {
		case outlierFact:
			answer.Outliers++
		case hookFact:
			answer.Hooks++
		case trendFact:
			answer.Trends++
			trends[draft.Facts[i].ID] = true
		}
	}
	for i := range draft.Sentences {
		answer.Sentences = append(answer.Sentences, message(&draft.Sentences[i], trends))
	}
	return answer, nil
}

// message tells the keys of trends from the ids of videos.
func message(s *stage.Sentence, trends map[string]bool) *scrolleryv1.BriefSentence {
	m := &scrolleryv1.BriefSentence{Part: s.Part, Text: s.Text}
	for _, id := range s.Cites {
		if trends[id] {
			m.TrendKeys = append(m.TrendKeys, id)
		} else {
			m.VideoIds = append(m.VideoIds, id)
		}
	}
	return m
}
