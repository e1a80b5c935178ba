package youtube

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"google.golang.org/api/googleapi"

	"github.com/scrollery/scrollery/plugins/internal/sources"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

// refresh reads known videos again, 50 for a unit. Every video has an outcome of
// its own, whose seed is its id. One that a whole answer of videos.list leaves out is
// `not_found`: deleted or private.
func (s source) refresh(ctx context.Context, call *stage.Call, refs []stage.Ref, emit func(stage.Record) error) ([]stage.Outcome, error) {
	a, wrong := s.open(ctx, call)
	ids, outcomes := sources.Known(platform, refs, videoForm().MatchString, "no id of a video of YouTube")
	absent := stage.Outcome{Platform: platform, Status: stage.NotFound, Detail: "the interface has it no more"}
	fates, err := sources.Refresh(ctx, slices.Collect(slices.Chunk(ids, perPage)), absent, wrong, func(ctx context.Context, group []string) (map[string]bool, error) {
		found := map[string]bool{}
		left, err := a.counted(ctx, group, func(record stage.Record) error {
			found[record.ExternalID] = true
			return emit(record)
		})
		if err != nil || len(left) == 0 {
			return found, err
		}
		unread := 0
		err = a.look(ctx, left, &unread, func(record stage.Record) error {
			if found[record.ExternalID] || !slices.Contains(left, record.ExternalID) {
				return nil
			}
			found[record.ExternalID] = true
			// The library would put these in the place of those that it has, and a
			// lookup does not know all of them: not how the Short was recognised, and
			// not the handle that it was found by.
			record.Metadata, record.Source = nil, nil
			return emit(record)
		})
		if err == nil && unread > 0 {
			err = &site.Stop{Status: stage.Partial, Detail: "some of the answer could not be read"}
		}
		if err == nil {
			err = a.videoParts.Short()
		}
		return found, err
	})
	return append(outcomes, fates...), err
}

// stat is a video as videos.batchGetStats has it.
type stat struct {
	ID      site.Text `json:"id"`
	Snippet struct {
		Published time.Time `json:"publishTime"`
	} `json:"snippet"`
	Statistics struct {
		Views    site.Count `json:"viewCount"`
		Likes    site.Count `json:"likeCount"`
		Comments site.Count `json:"commentCount"`
	} `json:"statistics"`
}

// counted reads the counts of a group by videos.batchGetStats, which has an allowance of
// its own, and emits those that came. It answers which are left: the method may leave out
// videos that are there, and where it does not answer, the call does without it. The error
// is the context's, or emit's.
func (a *api) counted(ctx context.Context, group []string, emit func(stage.Record) error) (left []string, err error) {
	if a.noStats {
		return group, nil
	}
	raw, err := a.get(ctx, statsQuota, func() error { return a.batch(ctx, group) })
	if ctx.Err() != nil {
		return group, context.Cause(ctx)
	}
	var answer struct {
		Items []json.RawMessage `json:"items"`
	}
	if err != nil || json.Unmarshal(raw, &answer) != nil {
		a.noStats = true
		return group, nil
	}
	left = slices.Clone(group)
	now := a.site.Now().UnixMilli()
	for _, raw := range answer.Items {
		var one stat
		if json.Unmarshal(raw, &one) != nil || one.Statistics.Views.N == nil && one.Statistics.Likes.N == nil {
			continue // videos.list may know more
		}
		at := slices.Index(left, string(one.ID))
		if at < 0 {
			continue
		}
		left = slices.Delete(left, at, at+1)
		record := stage.Record{
			Ref: stage.Ref{Platform: platform, ExternalID: string(one.ID)},
			Metrics: stage.Metrics{
				Views: one.Statistics.Views.N, Likes: one.Statistics.Likes.N, Comments: one.Statistics.Comments.N,
				ObservedAt: &now, Semantics: "exact",
			},
		}
		if posted := one.Snippet.Published.UnixMilli(); posted > 0 {
			record.PostedAt = &posted
		}
		if err := emit(record); err != nil {
			return left, err
		}
	}
	return left, nil
}

// batch asks videos.batchGetStats, which Google's library does not have yet.
func (a *api) batch(ctx context.Context, ids []string) error {
	query := url.Values{"part": {"id,snippet,statistics"}, "id": {strings.Join(ids, ",")}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.service.BasePath+"youtube/v3/videos:batchGetStats?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	answer, err := a.asker.client().Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	return googleapi.CheckResponse(answer)
}
