package lists

import (
	"context"
	"fmt"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/trend"
)

// mostListed is the most trends that Listed returns.
const mostListed = 1000

// ListedTrend is a trend of the list. Its texts may be a creator's.
type ListedTrend struct{ Key, Label string }

// Listed returns the trends of the current subject that the list shows, in its order.
func (s *Service) Listed(ctx context.Context) (all []ListedTrend, err error) {
	subject, exists, err := s.Subject(ctx)
	if err != nil || !exists {
		return nil, err
	}
	rows, err := s.db.Ent().Trend.Query().Where(trend.Subject(subject), trend.WithArchived(0), trend.Listed(1)).
		Order(ent.Asc(trend.FieldPlace)).Limit(mostListed).Select(trend.FieldKey, trend.FieldLabel).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read listed trends: %w", err)
	}
	for _, row := range rows {
		all = append(all, ListedTrend{row.Key, row.Label})
	}
	return all, nil
}
