package rules

import (
	"context"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// Mount mounts the module's operations on every protocol.
func (s *Service) Mount(m *api.Mux) {
	api.Unary(m, "GetRules", s.getRules)
	api.Unary(m, "ListRuleVersions", s.listVersions, func(_ context.Context, req *scrolleryv1.ListRuleVersionsRequest) error {
		_, err := before(req.GetPageToken())
		return err
	})
}

// bounded holds a text to the bounds of PutRules, wherever it came from.
func bounded(text string) error { return api.Bounds(&scrolleryv1.PutRulesRequest{Text: &text}) }

func (s *Service) getRules(ctx context.Context, _ *scrolleryv1.GetRulesRequest) (*scrolleryv1.GetRulesResponse, error) {
	rules, items, err := s.Get(ctx)
	if err != nil || rules == nil {
		return &scrolleryv1.GetRulesResponse{}, err
	}
	answer := &scrolleryv1.GetRulesResponse{Rules: message(*rules), Items: make([]*scrolleryv1.RuleItem, len(items))}
	for i, item := range items {
		answer.Items[i] = &scrolleryv1.RuleItem{
			Id:        publicid.Format(publicid.Rule, item.ID),
			Text:      item.Text,
			Archived:  item.ArchivedAt != nil,
			CreatedAt: float64(item.CreatedAt),
		}
	}
	return answer, nil
}

// PutText stores a ruleset and returns the answer of PutRules, without readings.
func (s *Service) PutText(ctx context.Context, text string) (*scrolleryv1.PutRulesResponse, error) {
	rules, created, err := s.Put(ctx, text)
	if err != nil {
		return nil, err
	}
	outcome := "unchanged"
	if created {
		outcome = "created"
	}
	return &scrolleryv1.PutRulesResponse{Outcome: outcome, Rules: message(rules)}, nil
}

func (s *Service) listVersions(ctx context.Context, req *scrolleryv1.ListRuleVersionsRequest) (*scrolleryv1.ListRuleVersionsResponse, error) {
	size := defaultPage
	if req.PageSize != nil {
		size = int(*req.PageSize)
	}
	versions, next, err := s.Versions(ctx, size, req.GetPageToken())
	if err != nil {
		return nil, err
	}
	answer := &scrolleryv1.ListRuleVersionsResponse{}
	if next != "" {
		answer.NextPageToken = &next
	}
	for _, rules := range versions {
		answer.Versions = append(answer.Versions, message(rules))
	}
	return answer, nil
}

func message(r Rules) *scrolleryv1.Rules {
	return &scrolleryv1.Rules{
		WorkspaceId: publicid.Format(publicid.Workspace, r.WorkspaceID),
		Version:     int32(r.Version),
		Text:        r.Text,
		CreatedAt:   float64(r.CreatedAt),
	}
}
