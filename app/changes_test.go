package app_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/app/apptest"
)

type feedPage struct {
	Changes    []map[string]any
	NextCursor string
	More       bool
}

// wholeFeed reads a feed from its beginning, in small pages.
func wholeFeed(t *testing.T, account *apptest.Caller) (all []map[string]any, cursor string) {
	t.Helper()
	for more := true; more; {
		var page feedPage
		account.Get(t, "GET /v1/changes?limit=7&cursor="+cursor, &page)
		all, cursor, more = append(all, page.Changes...), page.NextCursor, page.More
	}
	return all, cursor
}

func TestTheFeedHasWhatHappened(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, running *apptest.Running) {
		account := running.Account(t, "pro")
		for _, call := range []string{setBrief, setRules} {
			account.Get(t, call, &struct{}{})
		}
		scroll := account.Await(t, account.Scroll(t, "{}").ID)
		all, cursor := wholeFeed(t, account)
		counts, known := map[string]int{}, strings.Fields("id type at videoId scrollId keyId workspaceId keyHash stage failureCode status old new")
		var ids []string
		for _, c := range all {
			counts[c["type"].(string)]++
			ids = append(ids, c["id"].(string))
			for name := range c {
				if !slices.Contains(known, name) {
					t.Errorf("got a change with the member %s, want only %v: %v", name, known, c)
				}
			}
		}
		if !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != len(ids) {
			t.Errorf("got the ids %v, want them in order and each once", ids)
		}
		for kind, want := range map[string]int{
			"workspace.changed": 1, "rules.changed": 1, "scroll.started": 1, "scroll.stage": 6, "scroll.completed": 1, "video.added": scroll.ResultCounts.Videos,
		} {
			t.Run(kind, func(t *testing.T) {
				if counts[kind] != want {
					t.Errorf("%s: got %d, want %d", kind, counts[kind], want)
				}
			})
		}
		if counts["outlier.entered"] == 0 || counts["key.created"] == 0 || counts["subscription.changed"] == 0 {
			t.Errorf("kinds are missing: %v, want outlier.entered not 0, key.created not 0 and subscription.changed not 0", counts)
		}

		t.Run("a call that waits returns with the first change", func(t *testing.T) {
			got := make(chan *apptest.Answer, 1)
			go func() { got <- account.Do(t, "GET /v1/changes?wait=25&cursor="+cursor, "") }()
			account.Get(t, `PUT /v1/rules {"text":"Another rule."}`, &struct{}{})
			var page feedPage
			if err := json.Unmarshal((<-got).Body, &page); err != nil || len(page.Changes) != 1 || page.Changes[0]["type"] != "rules.changed" {
				t.Errorf("got %+v, %v, want rules.changed", page, err)
			}
		})
		t.Run("a stream goes on after the last event", func(t *testing.T) {
			first, id := events(t, account, "", 2)
			if diff := cmp.Diff(ids[:2], first); diff != "" {
				t.Errorf("the first events, want - got +:\n%s", diff)
			}
			next, _ := events(t, account, id, 3)
			if diff := cmp.Diff(ids[2:5], next); diff != "" {
				t.Errorf("the events after them, want - got +:\n%s", diff)
			}
		})
	}, sampleFeed)
}

// events reads so many events of the feed's stream, and ends it. last is the cursor of the
// last one.
func events(t *testing.T, account *apptest.Caller, after string, n int) (ids []string, last string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, account.Address()+"/v1/changes", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+account.Key)
	request.Header.Set("Accept", "text/event-stream")
	if after != "" {
		request.Header.Set("Last-Event-ID", after)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for len(ids) < n && lines.Scan() {
		if id, is := strings.CutPrefix(lines.Text(), "id: "); is {
			last = id
		}
		if data, is := strings.CutPrefix(lines.Text(), "data: "); is {
			var event struct{ Change struct{ ID string } }
			if err := json.Unmarshal([]byte(data), &event); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, event.Change.ID)
		}
	}
	return ids, last
}
