package app_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// cutCase is an operation that writes.
type cutCase struct {
	op, method, path string
	// body returns what the call with this number sends.
	body func(number int) string
	// stored counts the rows of the call with this number.
	stored string
	units  int64
}

var cutCases = []cutCase{
	{
		"putRules", http.MethodPut, "/v1/rules",
		func(n int) string { return fmt.Sprintf(`{"text":"Rule %d"}`, n) },
		"SELECT count(*) FROM rulesets WHERE text = 'Rule ' || CAST($1 AS BIGINT)", 2,
	},
	{
		"updateWorkspace", http.MethodPut, "/v1/workspace",
		func(n int) string { return fmt.Sprintf(`{"description":"Brief %d"}`, n) },
		"SELECT count(*) FROM workspaces WHERE description = 'Brief ' || CAST($1 AS BIGINT)", 2,
	},
	{
		"createSessionKey", http.MethodPost, "/v1/api_keys/sessions",
		func(n int) string { return fmt.Sprintf(`{"scopes":["library:read"],"ttlSeconds":%d}`, 600+n) },
		"SELECT count(*) FROM keys WHERE (expires_at - created_at + 500) / 1000 = 600 + CAST($1 AS BIGINT)", 2,
	},
	{
		"createScroll", http.MethodPost, "/v1/scrolls",
		func(n int) string { return fmt.Sprintf(`{"prompt":"Run %d","idempotencyKey":"number-%d"}`, n, n) },
		"SELECT count(*) FROM scrolls WHERE prompt = 'Run ' || CAST($1 AS BIGINT)", 100,
	},
}

// TestAnswersTellWhatWasCommitted cuts every connection to PostgreSQL at each step of a
// call that writes, before the step reaches the server and after the server did it. What
// is answered as done is committed and counted once; what is answered as failed is not
// committed.
func TestAnswersTellWhatWasCommitted(t *testing.T) {
	t.Parallel()
	for _, c := range cutCases {
		t.Run(c.op, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}

func (c cutCase) run(t *testing.T) {
	address := apptest.ScratchPostgres(t)
	proxy := storetest.NewCutter(t, address)
	running := apptest.Start(t, func(cfg *app.Config) {
		cfg.DatabaseURL, cfg.Roles = proxy.Address, []string{"api"}
		cfg.SetStage("FEED_DIR", "sample")
	})
	db := storetest.Open(t, store.Config{DatabaseURL: address, MaxConns: 2})
	account := running.Account(t, "pro")
	account.Get(t, setBrief, &struct{}{})
	spent := func() int64 {
		return storetest.Count(t, db, "SELECT CAST(coalesce(sum(units), 0) AS BIGINT) FROM usage_counters WHERE day % 100 <> 0")
	}
	before := spent()
	number, done, failed, commits := 0, 0, 0, 0
	for _, after := range []bool{false, true} {
		found := commits
		// Statements of other work of the server count as steps too, and may push the commit
		// aside: on a busy machine most times.
		for step, tries := 1, 1; ; step++ {
			number++
			proxy.Arm(step, after)
			status, said := send(t, c.method, running.BaseURL+c.path, account.Key, c.body(number))
			cut, commit := proxy.Disarm()
			// What was cut may be the commit of other work: this call's own is known by the answer.
			if commit && (status < 300) == after {
				commits++
			}
			stored := storetest.Count(t, db, c.stored, number)
			what := fmt.Sprintf("cut at step %d (after it: %v, commit: %v): answered %d %s", step, after, commit, status, said)
			switch {
			case status == 0:
				t.Errorf("%s: no answer, though the server could be asked again, want status not 0", what)
			case status < 300:
				if done++; stored != 1 {
					t.Errorf("%s, %d rows are stored, want 1", what, stored)
				}
			default:
				if failed++; stored != 0 {
					t.Errorf("%s, %d rows are stored, want 0", what, stored)
				}
				if status != http.StatusServiceUnavailable {
					t.Errorf("%s, want 503", what)
				}
			}
			if counted := storetest.Count(t, db, "SELECT count(*) FROM usage_events WHERE op = $1 AND status = 'ok'", c.op); counted != int64(done) {
				t.Fatalf("%s: %d events after %d calls that were done, want %v", what, counted, done, int64(done))
			}
			storetest.Exec(t, db, "UPDATE scrolls SET status = 'cancelled', completed_at = 1 WHERE status = 'queued'") // an account may have few
			if !cut {                                                                                                  // the call has fewer steps
				if commits > found || tries == 30 {
					break
				}
				step, tries = 0, tries+1
			}
		}
	}
	if done < 3 || failed < 5 || commits < 2 {
		t.Errorf("%d calls done, %d failed, %d cut at the commit; want at least 3, 5 and 2", done, failed, commits)
	}
	if got, want := spent()-before, c.units*int64(done); got != want {
		t.Errorf("%d units were spent by %d calls, want %d", got, done, want)
	}
}

// send returns the status of a call and its body, 0 without an answer.
func send(t *testing.T, method, address, key, body string) (int, []byte) {
	t.Helper()
	request, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Log(err)
		return 0, nil
	}
	defer answer.Body.Close()
	said, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, said
}
