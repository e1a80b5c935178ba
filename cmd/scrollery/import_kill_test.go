package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// killedImports are imports whose worker is soon missed. The units of one are more than all
// calls of the test together cost.
const killedImports = chaosConfig + `
imports: {heartbeat: 100ms, stale: 400ms, poll_every: 50ms, units: 100000}
`

// TestServerKilledWhileItImports kills the server with SIGKILL while it reads and stores a
// customer's file of three days: it resumes, each reading is stored once, and it is charged
// once. The same key returns the same import all the while.
func TestServerKilledWhileItImports(t *testing.T) {
	t.Parallel()
	eachDatabase(t, killedImports, func(t *testing.T, c *chaos, open func(t *testing.T) *store.DB) {
		const videos, days, key = 900, 3, "/v1/imports?name=three.jsonl&idempotencyKey=once"
		var file []byte
		for day := range days {
			for i := range videos {
				file = fmt.Appendf(file, `{"platform":"tiktok","externalId":"k%d","source":{"handle":"maker%d"},"metadata":{"caption":"cup %d"},"metrics":{"views":%d,"observedAt":%d}}`+"\n",
					i, i%17, i, 100+i+day, 1_760_000_000_000+int64(day)*24*3600*1000)
			}
		}
		type answer struct {
			Outcome string
			Import  struct {
				ID, Status, Failure string
				Percent             float64
				NewVideos           int
				SeenAgain           int
				AlreadyThere        int
				ScrollIDs           []string
			}
		}
		var made answer
		c.mustCall(t, "POST", key, string(file), &made)
		for _, in := range []string{"reading", "reading", "running", "running", "running"} {
			c.awaitImport(t, made.Import.ID, in)
			time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond)
			c.kill()
			c.start(t)
			var again answer
			c.mustCall(t, "POST", key, string(file), &again)
			if again.Outcome != "existing" || again.Import.ID != made.Import.ID {
				t.Fatalf("the same key: got %s %s, want existing %s", again.Outcome, again.Import.ID, made.Import.ID)
			}
			made.Import = again.Import
			t.Logf("after a kill: %s, %.0f %%, %d new", again.Import.Status, again.Import.Percent, again.Import.NewVideos)
			if again.Import.Status == "completed" {
				break
			}
		}
		c.awaitImport(t, made.Import.ID, "completed")
		c.mustCall(t, "GET", "/v1/imports?id="+made.Import.ID, "", &made)
		got := made.Import
		if got.Status != "completed" || len(got.ScrollIDs) != days {
			t.Fatalf("got %+v, want it completed with %d scrolls", got, days)
		}
		db := open(t)
		stored, seen := numberOf(t, db, `SELECT count(*) FROM videos`), numberOf(t, db, `SELECT count(*) FROM observations`)
		if stored != videos || seen != videos*days {
			t.Errorf("got %d videos and %d readings, want %d and %d", stored, seen, videos, videos*days)
		}
		parts := 1
		for end := time.Now().Add(2 * time.Minute); parts > 0 && time.Now().Before(end); time.Sleep(50 * time.Millisecond) { // they go after the import has completed
			parts = numberOf(t, db, `SELECT count(*) FROM import_parts`)
		}
		if parts != 0 {
			t.Errorf("got %d parts left, want none", parts)
		}
		const once = 3 * 100_000 // of 2,700 readings
		if units := numberOf(t, db, `SELECT MAX(units) FROM usage_counters`); units < once || units >= 2*once {
			t.Errorf("got %d units, want at least %d and below %d", units, once, 2*once)
		}
	})
}

// awaitImport waits until an import is in a state, or past it.
func (c *chaos) awaitImport(t *testing.T, id, status string) {
	t.Helper()
	order := []string{"queued", "reading", "running", "completed", "failed"}
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		var now struct{ Import struct{ Status string } }
		c.mustCall(t, "GET", "/v1/imports?id="+id, "", &now)
		if slices.Index(order, now.Import.Status) >= slices.Index(order, status) {
			return
		}
	}
	t.Fatalf("import %s does not come to be %s", id, status)
}
