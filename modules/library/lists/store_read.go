package lists

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// Read returns a page as the body of the REST answer.
func (s *Service) Read(ctx context.Context, p Page) (api.Rendered, error) {
	if p.List.items() == Trends {
		return s.readTrends(ctx, p)
	}
	if p.List == NewOutliers || p.List == Rising {
		newest, err := s.Newest(ctx)
		if err != nil {
			return api.Rendered{}, err
		}
		if p, err = p.within(newest); err != nil {
			return api.Rendered{}, err
		}
	}
	return s.page(ctx, p, stamp{}, func(b, after []byte) (body, last []byte, err error) {
		if len(p.ranges(&arguments{})) == 0 { // outliers since a week that no reading is of yet
			return append(b, p.opening()...), nil, nil
		}
		var text string
		var args []any
		if p.Filter == (Filter{}) && p.List != BestHooks {
			text, args = p.Query(s.db, after)
		} else if text, args, last, err = p.chosen(ctx, s.db, after); err != nil {
			return nil, nil, err
		}
		rows, key := 0, after
		b = append(b, p.opening()...)
		err = store.Each(ctx, s.db.Hot(text), func(item *videos.Item) (bool, error) {
			if p.full(rows, len(b)) {
				last = key
				return false, nil
			}
			if rows++; rows > 1 {
				b = append(b, ',')
			}
			key = item.Place
			b, err = s.appendItem(b, p, item)
			return err == nil, err
		}, args...)
		return b, last, err
	})
}

// appendItem appends an item.
func (s *Service) appendItem(b []byte, p Page, item *videos.Item) ([]byte, error) {
	if p.List == Videos {
		return append(b, item.Doc...), nil
	}
	b = append(append(b, `{"video":`...), item.Doc...)
	switch {
	case p.List == Outliers && !p.Paged:
		return videos.ShowOutlier(b, item.Place)
	case p.List.items() == Outliers:
		return s.videos.ShowScored(b, item), nil
	}
	if item.Hook == nil {
		return nil, errors.New("a hook in the list has no document")
	}
	if !p.Paged {
		return append(b, *item.Hook...), nil
	}
	return videos.ShowHook(b, item), nil
}

// Newest is the newest usable reading of the completed scrolls of the library; 0 without one.
func (s *Service) Newest(ctx context.Context) (at int64, err error) {
	windows, err := s.db.Ent().TrendWindow.Query().All(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the newest reading: %w", err)
	}
	for _, w := range windows {
		at = max(at, w.NewestAt)
	}
	return at, nil
}

// renderer appends to b all but the end of a page and returns the sort key of the last
// item where more follow.
type renderer func(b, after []byte) (body, last []byte, err error)

// page returns the page in memory where the library has not changed, else by way of
// render.
func (s *Service) page(ctx context.Context, p Page, at stamp, render renderer) (api.Rendered, error) {
	after, ok := p.List.key(p.Token)
	if !ok {
		return api.Rendered{}, apierr.Invalid("pageToken", badToken)
	}
	account, err := videos.Account(ctx)
	if err != nil {
		return api.Rendered{}, err
	}
	key := pageKey{account, p}
	if at.revision, err = s.revision(ctx); err != nil {
		return api.Rendered{}, err
	}
	if known, ok := s.pages.get(key, at); ok {
		return api.Rendered{Body: known.body, NextPageToken: known.next, ETag: known.tag}, nil
	}
	buffer := s.pages.buffers.Get().(*[]byte)
	body, last, err := render((*buffer)[:0], after)
	if err != nil {
		return api.Rendered{}, fmt.Errorf("read page of %s: %w", p.order(), err)
	}
	next := ""
	if last != nil {
		next = p.List.Token(last)
	}
	body = p.close(body, next)
	made := api.Rendered{Body: body, NextPageToken: next, ETag: key.etag(at)}
	if s.pages.cache == nil {
		made.Done = func() { *buffer = body; s.pages.buffers.Put(buffer) }
		return made, nil
	}
	made.Body = append(make([]byte, 0, len(body)), body...)
	*buffer = body
	s.pages.buffers.Put(buffer)
	s.pages.put(key, rendered{stamp: at, body: made.Body, next: next, tag: made.ETag})
	return made, nil
}

// revision is that of the tenant's library: in a call, the one at its admission. A page that
// is rendered afterwards may be newer than that, never older.
func (s *Service) revision(ctx context.Context) (int64, error) {
	if admitted := viewer.FromContext(ctx).AtAdmission; admitted != nil {
		return admitted.LibraryRevision, nil
	}
	return s.videos.Revision(ctx)
}

const badToken = "is not a value that this list returned"

// opening is the text before the first item.
func (p Page) opening() string {
	switch p.List.items() {
	case Hooks:
		return `{"hooks":[`
	case Outliers:
		return `{"outliers":[`
	default:
		return `{"videos":[`
	}
}

// close ends the body after its last item.
func (p Page) close(b []byte, next string) []byte {
	switch {
	case p.List != Videos && !p.Paged:
		return append(b, "]}"...)
	case next == "":
		return append(b, `],"nextCursor":null}`...)
	default:
		return append(videos.AppendString(append(b, `],"nextCursor":`...), next), '}')
	}
}

// View returns the first page of `hooks`, `outliers` or `trends` as REST shows it, as
// of now: a program that asks may have been admitted minutes ago.
func (s *Service) View(ctx context.Context, name string) (json.RawMessage, error) {
	view, found := map[string]List{"hooks": Hooks, "outliers": Outliers, "trends": Trends}[name]
	if !found {
		return nil, fmt.Errorf("no view %q", name)
	}
	account, err := videos.Account(ctx)
	if err != nil {
		return nil, err
	}
	ctx = viewer.As(ctx, account)
	made, err := s.Read(ctx, Page{List: view, Limit: DefaultLimit})
	if err != nil {
		return nil, err
	}
	if made.Done != nil {
		defer made.Done()
	}
	return slices.Clone(made.Body), nil
}

// Subject is that of the tenant's brief: in a call, the one at its admission.
func (s *Service) Subject(ctx context.Context) (subject string, exists bool, err error) {
	if v := viewer.FromContext(ctx); v != nil && v.AtAdmission != nil {
		return v.AtAdmission.Subject, v.AtAdmission.Workspace, nil
	}
	return s.workspace.Subject(ctx)
}

// readTrends returns a page of the trends of the current subject.
func (s *Service) readTrends(ctx context.Context, p Page) (api.Rendered, error) {
	at, err := s.subjectNow(ctx)
	if err != nil {
		return api.Rendered{}, err
	}
	ready := at.completed >= 2
	return s.page(ctx, p, at, func(b, after []byte) ([]byte, []byte, error) {
		status := "insufficient_history"
		if ready {
			status = "ready"
		}
		b = fmt.Appendf(b, `{"status":"%s","completedScrolls":%d,"trends":[`, status, at.completed)
		if !ready {
			return b, nil, nil
		}
		shown, last, uncounted, err := s.appendTrends(ctx, b, p, at.subject, after)
		if err != nil || !uncounted {
			return shown, last, err
		}
		if err := s.counter.CountTrends(ctx); err != nil {
			return nil, nil, err
		}
		shown, last, _, err = s.appendTrends(ctx, b, p, at.subject, after)
		return shown, last, err
	})
}

// trendRow is a trend as it is read: its sort key, its JSON but for its examples and its end,
// and the documents of these.
type trendRow struct {
	Place []byte
	// Lately is empty but in our list, and there in rows of earlier versions.
	Lately           []byte
	Head             string
	Doc1, Doc2, Doc3 *string
	// Uncounted is null unless archived or restored videos are still to be counted.
	Uncounted *int64
}

// TrendsQuery is the statement of a page of the trends of a subject, after a sort key. A
// subject has thousands of trends at most, so filters need no index.
func (p Page) TrendsQuery(db *store.DB, subject string, after []byte) (text string, args []any) {
	var a arguments
	from, where := "trends t", ""
	if p.Kind != "" { // one of few
		where = fmt.Sprintf(" AND t.key >= '%[1]s:' AND t.key < '%[1]s;'", p.Kind)
	}
	if p.Filter.asks("t.") {
		growth := `CAST(json_extract(t.head || ']}', '$.metrics.medianGrowthMultiple') AS REAL)`
		if db.Dialect() == store.Postgres {
			growth = `CAST(CAST(t.head || ']}' AS jsonb) -> 'metrics' ->> 'medianGrowthMultiple' AS float8)`
		}
		from = "(SELECT t.*, " + growth + " AS growth FROM trends t) t"
		where += p.Filter.where("t.", &a)
	}
	lately := "substr(t.place, 1, 0)" // nothing
	if p.List == MovingTrends {       // a part of the list has one direction: no index has them
		lately = "COALESCE(" + videos.LatelyOf("t.recent", videos.LatelySize) + ", " + lately + ")"
		where += " AND COALESCE(" + videos.LatelyOf("t.recent", 1) + ", " + a.bind([]byte{byte(score.Holding)}) + ") = " + a.bind(after[:1])
		after = after[1:]
	}
	text = fmt.Sprintf(`SELECT t.place, %s AS lately, t.head, d1.doc AS doc1, d2.doc AS doc2, d3.doc AS doc3,
(SELECT 1 FROM uncounted_videos WHERE {tenant} ORDER BY id LIMIT 1) AS uncounted FROM %s
LEFT JOIN video_docs d1 ON d1.id = t.example1 AND {tenant:d1} LEFT JOIN video_docs d2 ON d2.id = t.example2 AND {tenant:d2}
LEFT JOIN video_docs d3 ON d3.id = t.example3 AND {tenant:d3}
WHERE {tenant:t} AND t.subject = %s AND t.with_archived = %d AND t.listed = 1 AND t.place > %s%s ORDER BY t.place LIMIT %d`,
		lately, from, a.bind(subject), videos.Flag(p.WithArchived), a.bind(after), where, p.Limit+1)
	return text, a.values
}

// appendTrends appends a page of trends. uncounted reports that it does not count all that
// was archived or restored.
func (s *Service) appendTrends(ctx context.Context, b []byte, p Page, subject string, after []byte) (shown, last []byte, uncounted bool, err error) {
	rows, key := 0, after
	part := func() error {
		text, args := p.TrendsQuery(s.db, subject, after)
		return store.Each(ctx, s.db.Hot(text), func(t *trendRow) (bool, error) {
			if uncounted = t.Uncounted != nil && !p.WithArchived; uncounted {
				return false, nil
			}
			if p.full(rows, len(b)) {
				last = key
				return false, nil
			}
			if rows++; rows > 1 {
				b = append(b, ',')
			}
			if key = t.Place; p.List == MovingTrends {
				key = append(after[:1:1], t.Place...)
			}
			b = appendTrend(b, t)
			return true, nil
		}, args...)
	}
	if p.List != MovingTrends {
		err = part()
	} else if after[0] == 0 {
		after = []byte{byte(score.Rising)}
	}
	for p.List == MovingTrends && after[0] <= byte(score.Falling) && last == nil && !uncounted && err == nil {
		err = part()
		after = []byte{after[0] + 1}
	}
	if err == nil && rows == 0 && !uncounted && !p.WithArchived { // no row has said so
		uncounted, err = s.db.Ent().UncountedVideo.Query().Exist(ctx)
	}
	return b, last, uncounted, err
}

func appendTrend(b []byte, t *trendRow) []byte {
	b = append(b, t.Head...)
	for i, example := range []*string{t.Doc1, t.Doc2, t.Doc3} {
		if example == nil {
			continue
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, *example...)
	}
	return append(videos.ShowLately(append(b, ']'), t.Lately), '}')
}
