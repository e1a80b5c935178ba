package library

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/library/search"
)

// read returns a page of hooks, outliers or videos as the body of the REST answer.
func (s *Service) read(ctx context.Context, p page) (api.Rendered, error) {
	return s.page(ctx, p, stamp{}, func(b, after []byte, told *int64) ([]byte, []byte, error) {
		b = append(b, p.opening()...)
		if !p.filter.IsZero() {
			return s.appendChosen(ctx, b, p, after)
		}
		args := []any{after}
		if p.platform != "" {
			args = append(args, p.platform)
		}
		more := pager{limit: p.limit}
		err := s.db.Hot(p.query(s.db, told != nil)).Each(ctx, func(row store.Row) (bool, error) {
			if told != nil {
				*told, _ = row[len(row)-1].(int64)
			}
			if !more.next(row) {
				return false, nil
			}
			var err error
			b, err = p.appendItem(b, row, more.rows == 1)
			return true, err
		}, args...)
		return b, more.last, err
	})
}

// appendChosen appends the items of a page that the filter chooses.
func (s *Service) appendChosen(ctx context.Context, b []byte, p page, after []byte) ([]byte, []byte, error) {
	list, first := search.List{Order: p.order(), Ranges: p.ranges(), Columns: p.columns()}, true
	next, err := search.Page(ctx, s.db, list, p.filter, p.limit, after, func(row store.Row) (err error) {
		b, err = p.appendItem(b, row, first)
		first = false
		return err
	})
	return b, next, err
}

// appendItem appends an item from its row: the sort key, then the page's columns.
func (p page) appendItem(b []byte, row store.Row, first bool) ([]byte, error) {
	if !first {
		b = append(b, ',')
	}
	if p.list != videos {
		b = append(b, `{"video":`...)
	}
	b = appendColumn(b, row[1])
	switch p.list {
	case hooks:
		b = appendColumn(b, row[2])
	case outliers:
		key, _ := row[0].([]byte)
		return showOutlier(b, key)
	}
	return b, nil
}

// renderer appends to b all but the end of a page and returns the sort key of the last
// item where more follow. told, where it is not nil, gets the library's revision from the
// first row.
type renderer func(b, after []byte, told *int64) (body, last []byte, err error)

// page returns the page in memory where the library has not changed, else by way of
// render.
func (s *Service) page(ctx context.Context, p page, at stamp, render renderer) (api.Rendered, error) {
	after, ok := p.list.key(p.token)
	if !ok {
		return api.Rendered{}, p.list.checkToken(p.token)
	}
	account, err := tenant(ctx)
	if err != nil {
		return api.Rendered{}, err
	}
	key := pageKey{account, p}
	known, ok, err := s.inMemory(ctx, key, &at)
	if err != nil {
		return api.Rendered{}, err
	}
	if ok {
		return api.Rendered{Body: known.body, NextPageToken: known.next, ETag: known.tag}, nil
	}
	buffer := s.pages.buffers.Get().(*[]byte)
	body, last, err := s.render(ctx, (*buffer)[:0], after, &at, render)
	if err != nil {
		return api.Rendered{}, fmt.Errorf("read page of %s: %w", p.order(), err)
	}
	next := ""
	if last != nil {
		next = p.list.token(last)
	}
	body = p.close(body, next)
	made := api.Rendered{Body: body, NextPageToken: next, ETag: key.etag(at, s.db.Epoch())}
	if s.pages.cache == nil {
		made.Done = func() { *buffer = body; s.pages.buffers.Put(buffer) }
		return made, nil
	}
	made.Body = append(make([]byte, 0, len(body)), body...)
	*buffer = body
	s.pages.buffers.Put(buffer)
	s.see(account, at.revision)
	s.pages.put(key, rendered{stamp: at, body: made.Body, next: next, tag: made.ETag})
	return made, nil
}

// inMemory returns the page in memory where it is current. Else at gets the revision to
// render it at, or NoAnswer where the rows can tell it at no cost.
func (s *Service) inMemory(ctx context.Context, key pageKey, at *stamp) (known rendered, ok bool, err error) {
	admitted := viewer.FromContext(ctx).AtAdmission
	switch {
	case admitted == nil:
		at.revision, err = s.revision(ctx)
	case admitted.Revision == nil:
		at.revision = admitted.LibraryRevision
	default:
		known, ok = s.pages.perhaps(key, *at)
		if !ok && key.list != trends && key.filter.IsZero() {
			at.revision = viewer.NoAnswer
			return known, false, nil
		}
		answer := int64(viewer.NoAnswer)
		if ok {
			answer = known.stamp.revision
		}
		at.revision, err = admitted.Revision(ctx, answer)
		return known, ok && err == nil && at.revision == answer, err
	}
	if err == nil {
		known, ok = s.pages.get(key, *at)
	}
	return known, ok, err
}

// render renders a page at a revision that was read before: a page may be newer than its
// stamp, never older. Or it has the first row tell the revision, of the same moment.
func (s *Service) render(ctx context.Context, b, after []byte, at *stamp, render renderer) (body, last []byte, err error) {
	if at.revision == viewer.NoAnswer {
		if body, last, err = render(b, after, &at.revision); err != nil || at.revision != viewer.NoAnswer {
			return body, last, err
		}
		if at.revision, err = viewer.FromContext(ctx).AtAdmission.Revision(ctx, viewer.NoAnswer); err != nil {
			return nil, nil, err
		}
	}
	return render(b, after, nil)
}

// checkToken refuses a token that the list did not return.
func (l list) checkToken(token string) error {
	if _, ok := l.key(token); ok {
		return nil
	}
	return apierr.Invalid("pageToken", badToken)
}

const badToken = "is not a value that this list returned"

// opening is the text before the first item.
func (p page) opening() string {
	switch p.list {
	case hooks:
		return `{"hooks":[`
	case outliers:
		return `{"outliers":[`
	default:
		return `{"videos":[`
	}
}

// close ends the body after its last item.
func (p page) close(b []byte, next string) []byte {
	switch {
	case p.list != videos && !p.paged:
		return append(b, "]}"...)
	case next == "":
		return append(b, `],"nextCursor":null}`...)
	default:
		return append(appendString(append(b, `],"nextCursor":`...), next), '}')
	}
}

// View returns the first page of `hooks`, `outliers` or `trends` as REST shows it, as
// of now: a program that asks may have been admitted minutes ago.
func (s *Service) View(ctx context.Context, name string) (json.RawMessage, error) {
	view, found := map[string]list{"hooks": hooks, "outliers": outliers, "trends": trends}[name]
	if !found {
		return nil, fmt.Errorf("no view %q", name)
	}
	account, err := tenant(ctx)
	if err != nil {
		return nil, err
	}
	ctx = viewer.As(ctx, account)
	get := s.read
	if view == trends {
		get = s.readTrends
	}
	made, err := get(ctx, page{list: view, limit: defaultLimit})
	if err != nil {
		return nil, err
	}
	if made.Done != nil {
		defer made.Done()
	}
	return slices.Clone(made.Body), nil
}

// subject is that of the tenant's brief: in a call, the one at its admission.
func (s *Service) subject(ctx context.Context) (subject string, exists bool, err error) {
	if v := viewer.FromContext(ctx); v != nil && v.AtAdmission != nil {
		return v.AtAdmission.Subject, v.AtAdmission.Workspace, nil
	}
	return s.workspace.Subject(ctx)
}

// readTrends returns a page of the trends of the current subject.
func (s *Service) readTrends(ctx context.Context, p page) (api.Rendered, error) {
	subject, exists, err := s.subject(ctx)
	if err != nil {
		return api.Rendered{}, err
	}
	at := stamp{subject: subject}
	if exists {
		if at.completed, err = s.scrolls.Completed(ctx, subject); err != nil {
			return api.Rendered{}, err
		}
	}
	ready := at.completed >= 2
	return s.page(ctx, p, at, func(b, after []byte, _ *int64) ([]byte, []byte, error) {
		status := "insufficient_history"
		if ready {
			status = "ready"
		}
		b = fmt.Appendf(b, `{"status":"%s","completedScrolls":%d,"trends":[`, status, at.completed)
		if !ready {
			return b, nil, nil
		}
		shown, last, uncounted, err := s.appendTrends(ctx, b, p, subject, after)
		if err != nil || !uncounted {
			return shown, last, err
		}
		if err := s.CountTrends(ctx); err != nil {
			return nil, nil, err
		}
		shown, last, _, err = s.appendTrends(ctx, b, p, subject, after)
		return shown, last, err
	})
}

// appendTrends appends a page of trends. uncounted reports that it does not count all that
// was archived or restored.
func (s *Service) appendTrends(ctx context.Context, b []byte, p page, subject string, after []byte) (shown, last []byte, uncounted bool, err error) {
	more := pager{limit: p.limit}
	args := []any{subject, after}
	if p.filter.MinVideos > 0 || p.filter.MinGrowth > 0 {
		args = append(args, p.filter.MinVideos, p.filter.MinGrowth)
	}
	err = s.db.Hot(p.trendsQuery(s.db.Dialect())).Each(ctx, func(row store.Row) (bool, error) {
		if uncounted = row[len(row)-1] != nil && !p.withArchived; uncounted || !more.next(row) {
			return false, nil
		}
		if more.rows > 1 {
			b = append(b, ',')
		}
		b = appendColumn(b, row[1])
		for i, example := range row[2 : len(row)-1] {
			if i > 0 && example != nil {
				b = append(b, ',')
			}
			b = appendColumn(b, example)
		}
		b = append(b, "]}"...)
		return true, nil
	}, args...)
	if err == nil && more.rows == 0 && !uncounted && !p.withArchived { // no row has told
		uncounted, err = s.db.Ent().UncountedVideo.Query().Exist(ctx)
	}
	return b, more.last, uncounted, err
}

// pager counts rows, the first column of which is their sort key.
type pager struct {
	limit, rows int
	key         []byte // of the current row
	last        []byte // of the page's last row, once another has followed
}

// next is false where the page was full before the row.
func (p *pager) next(row store.Row) bool {
	if p.rows == p.limit {
		p.last = p.key
		return false
	}
	p.rows++
	p.key, _ = row[0].([]byte)
	return true
}

// appendColumn appends the text of a column.
func appendColumn(b []byte, value any) []byte {
	text, _ := value.(string)
	return append(b, text...)
}
