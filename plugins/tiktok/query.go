package tiktok

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/scrollery/scrollery/plugins/internal/lazy"
	"github.com/scrollery/scrollery/plugins/internal/sources"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

// perPage is the most videos that a page may have.
const perPage = 100

// condition is one of a query.
type condition struct {
	Operation string   `json:"operation"`
	Field     string   `json:"field_name"`
	Values    []string `json:"field_values"`
}

// filter says which videos are wanted.
type filter struct {
	And []condition `json:"and,omitempty"`
	Or  []condition `json:"or,omitempty"`
}

// query is one page's request. Dates are days of UTC, both inclusive.
type query struct {
	Query    filter      `json:"query"`
	Start    string      `json:"start_date"`
	End      string      `json:"end_date"`
	MaxCount int         `json:"max_count"`
	Cursor   json.Number `json:"cursor,omitempty"`
	SearchID string      `json:"search_id,omitempty"`
}

// page is one answer.
type page struct {
	videos   []video
	unnamed  int // videos without an id, or no objects at all
	cursor   string
	searchID string
	more     bool
}

// seedForm is what can be a user's name.
var seedForm = lazy.Pattern(`^[A-Za-z0-9_.]{2,24}$`)

// filterOf makes a query of a seed. A handle that cannot be one is not asked for.
func filterOf(seed stage.Seed, regions []string) (filter, error) {
	var f filter
	if len(regions) > 0 {
		f.And = append(f.And, condition{"IN", "region_code", regions})
	}
	if seed.Handle != "" {
		name := strings.TrimLeft(strings.TrimSpace(seed.Handle), "@")
		if !seedForm().MatchString(name) {
			return f, &site.Stop{Status: stage.Unsupported, Detail: "no user of TikTok can have this name"}
		}
		f.And = append(f.And, condition{"IN", "username", []string{strings.ToLower(name)}})
		return f, nil
	}
	term, tagged := strings.CutPrefix(strings.TrimSpace(seed.Term), "#")
	if tag := sources.Tag(term); tag != "" {
		f.Or = append(f.Or, condition{"EQ", "hashtag_name", []string{tag}})
	}
	if !tagged && term != "" {
		f.Or = append(f.Or, condition{"EQ", "keyword", []string{term}})
	}
	if len(f.Or) == 0 {
		return f, &site.Stop{Status: stage.Unsupported, Detail: "nothing in this term can be searched for"}
	}
	return f, nil
}

// window is a span of days, both inclusive.
type window struct{ start, end time.Time }

const (
	day = 24 * time.Hour
	// span is the most that the end of a window may lie behind its start.
	span = 30 * day
)

// windows cover so many days back from now, the newest first. Two in a row share a
// day: some say that the last day does not count.
func windows(now time.Time, days int) []window {
	end := now.UTC().Truncate(day)
	first := end.Add(-time.Duration(days) * day)
	var all []window
	for end.After(first) {
		start := end.Add(-span)
		if start.Before(first) {
			start = first
		}
		all = append(all, window{start, end})
		end = start
	}
	return all
}

// halves are the two parts of a window, the newer first; ok is false for one of a day.
func (w window) halves() ([]window, bool) {
	days := int(w.end.Sub(w.start) / day)
	if days < 2 {
		return nil, false
	}
	middle := w.start.Add(time.Duration(days/2) * day)
	return []window{{middle, w.end}, {w.start, middle}}, true
}

// page asks for one, with the fields that TikTok takes.
func (s *session) page(ctx context.Context, q query) (page, error) {
	body, err := json.Marshal(q)
	if err != nil {
		return page{}, err
	}
	var data json.RawMessage
	err = s.fields.Ask(func(names []string) error {
		got, err := s.post(ctx, "/v2/research/video/query/?fields="+strings.Join(names, ","), body, q.MaxCount)
		if err == nil {
			data = got
		}
		return err
	})
	if err != nil {
		return page{}, err
	}
	return pageOf(data)
}

func pageOf(data json.RawMessage) (page, error) {
	var body struct {
		Videos   *[]json.RawMessage `json:"videos"`
		Cursor   site.ID            `json:"cursor"`
		SearchID site.ID            `json:"search_id"`
		More     json.RawMessage    `json:"has_more"`
	}
	if len(data) == 0 || json.Unmarshal(data, &body) != nil || body.Videos == nil && (string(body.More) != "false" || sources.HasList(data)) {
		return page{}, &site.Stop{Status: stage.Changed, Detail: "TikTok's answer has no list of videos"}
	}
	p := page{cursor: string(body.Cursor), searchID: string(body.SearchID), more: string(body.More) == "true"}
	if body.Videos == nil {
		return p, nil
	}
	for _, raw := range *body.Videos {
		var v video
		if json.Unmarshal(raw, &v) != nil || v.ID == "" {
			p.unnamed++
			continue
		}
		p.videos = append(p.videos, v)
	}
	return p, nil
}
