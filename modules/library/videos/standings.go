package videos

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/score"
)

// Stands is where a creator of videos of a kind stands.
type Stands struct {
	Kind score.Kind
	score.Standing
}

// PackStands is the column `standings` of a creator: `kind:followers:views`, joined by commas,
// in the order of kinds.
func PackStands(all []Stands) string {
	slices.SortFunc(all, func(a, b Stands) int { return cmp.Compare(a.Kind, b.Kind) })
	texts := make([]string, len(all))
	for i, s := range all {
		texts[i] = string(s.Kind) + ":" + strconv.Itoa(s.Followers) + ":" + strconv.Itoa(s.Views)
	}
	return strings.Join(texts, ",")
}

// UnpackStands is the reverse of PackStands.
func UnpackStands(text string) (all []Stands, err error) {
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		fields := strings.Split(part, ":")
		if len(fields) != 3 {
			return nil, fmt.Errorf("standing %q has %d parts, want 3", part, len(fields))
		}
		s := Stands{Kind: score.Kind(fields[0])}
		for i, to := range []*int{&s.Followers, &s.Views} {
			if *to, err = strconv.Atoi(fields[i+1]); err != nil {
				return nil, fmt.Errorf("standing %q: %w", part, err)
			}
		}
		all = append(all, s)
	}
	return all, nil
}

// Standings are the creators of a kind by where they stand.
func (s *Service) Standings(ctx context.Context, tx *store.Tx, kind score.Kind) (counts score.Standings, err error) {
	packed, _, err := store.OneIn[*[]byte](ctx, tx, s.db.Hot(`SELECT standings FROM niches WHERE {tenant} AND kind = $1`), string(kind))
	if err == nil && packed == nil {
		return score.Standings{}, nil
	}
	if err == nil {
		counts, err = score.UnpackStandings(*packed)
	}
	if err != nil {
		return nil, fmt.Errorf("read the standings of %s: %w", kind, err)
	}
	return counts, nil
}

// CountStandings adds to the counts of creators by where they stand. The library is held.
func (s *Service) CountStandings(ctx context.Context, tx *store.Tx, moved map[Stands]int) error {
	byKind := map[score.Kind]score.Standings{}
	for at, n := range moved {
		if n == 0 {
			continue
		}
		if byKind[at.Kind] == nil {
			counts, err := s.Standings(ctx, tx, at.Kind)
			if err != nil {
				return err
			}
			byKind[at.Kind] = counts
		}
		byKind[at.Kind].Add(at.Standing, n)
	}
	rows := make([][]any, 0, len(byKind))
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		rows = append(rows, []any{s.db.NewID(), string(kind), byKind[kind].Pack()})
	}
	if len(rows) == 0 {
		return nil
	}
	_, err := s.db.Hot(`INSERT INTO niches ({owner}, id, kind, standings) VALUES {rows:1}
ON CONFLICT ({owner}, kind) DO UPDATE SET standings = excluded.standings`).ExecIn(ctx, tx, rows)
	if err != nil {
		return fmt.Errorf("count standings: %w", err)
	}
	return nil
}

// uncountStandings takes creators that are deleted from the counts, by their columns.
func (s *Service) uncountStandings(ctx context.Context, tx *store.Tx, columns []string) error {
	of := map[Stands]int{}
	for _, text := range columns {
		all, err := UnpackStands(text)
		if err != nil {
			return err
		}
		for _, at := range all {
			of[at]--
		}
	}
	return s.CountStandings(ctx, tx, of)
}
