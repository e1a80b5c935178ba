package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/billing/credits"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// TestServerKilledWhileTheAgentWorks kills the server with SIGKILL between the fee
// and the answer, in each moment that there is: the fee comes back once, what ran
// is paid once, and nothing stays held. No scratch folder is left after the next start,
// nor after SIGTERM.
func TestServerKilledWhileTheAgentWorks(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		killWhileTheAgentWorks(t, "")
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		killWhileTheAgentWorks(t, apptest.ScratchPostgres(t))
	})
}

// moments are goals that the endpoint works towards until the moment has come.
// Each says how many runs are to be paid.
var moments = []struct {
	goal string
	runs int
}{{"kill me while you plan", 0}, {"kill me while you run", 1}, {"kill me after a run", 1}}

// endpoint is a chat endpoint that knows the moments. It tells on asked when one
// of those has come that it can see.
func endpoint(t *testing.T) (address string, asked chan string) {
	asked = make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			Messages []struct{ Role, Content string }
		}
		_ = json.NewDecoder(r.Body).Decode(&request)
		goal, source := request.Messages[1].Content, ""
		switch {
		case len(request.Messages) > 2 || goal == moments[0].goal:
		case goal == moments[1].goal:
			source = `files.write("on", ""); for (;;) {}`
		default:
			source = `print(42)`
		}
		if source == "" {
			asked <- goal
			<-r.Context().Done()
			return
		}
		arguments, _ := json.Marshal(map[string]any{"source": source, "path": nil})
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,
			"tool_calls":[{"id":"1","type":"function","function":{"name":"run_program","arguments":%q}}]}}],"usage":{"total_tokens":10}}`, arguments)
	}))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	return server.URL + "/v1", asked
}

func killWhileTheAgentWorks(t *testing.T, databaseURL string) {
	address, asked := endpoint(t)
	scratch := shortFolder(t)
	c := newChaos(t, databaseURL, "SCROLLERY_AGENT_URL="+address, "SCROLLERY_AGENT_MODEL=some-model", "TMPDIR="+scratch)
	if got := c.command(t, "credits", "grant", "chaos@example.com", "--credits", "1000"); got.code != exitDone {
		t.Fatalf("granting credits: got exit %d, want %d: %s", got.code, exitDone, got.stderr)
	}
	if databaseURL != "" { // a second replica, which looks for lost calls too
		other := *c.served
		other.base = "http://" + apptest.FreeAddress(t)
		other.env = append(append([]string{}, c.env...), "SCROLLERY_ADDR="+strings.TrimPrefix(other.base, "http://"), "SCROLLERY_OPS_ADDR=127.0.0.1:0", "TMPDIR="+shortFolder(t))
		other.start(t)
		t.Cleanup(other.kill)
	}
	// With SQLite a program writes the account's own file, on PostgreSQL a copy.
	written := filepath.Join(c.dir, "sandbox", "*", "files", "on")
	if databaseURL != "" {
		written = filepath.Join(scratch, "files-*", "*", "account", "files", "on")
	}
	runs := 0
	for _, moment := range moments {
		runs += moment.runs
		go func() { _ = c.call(t.Context(), "POST", "/v1/agent", fmt.Sprintf(`{"goal":%q}`, moment.goal), nil) }()
		if moment.goal == moments[1].goal {
			awaitFile(t, written)
			if len(hostFolders(t, scratch)) == 0 {
				t.Error("got no scratch folder while a program runs, want one")
			}
		} else {
			<-asked
		}
		c.kill()
		c.start(t)
		if left := hostFolders(t, scratch); len(left) > 0 {
			t.Errorf("%s, after the next start: %v is left, want none", moment.goal, left)
		}
	}
	c.wantSettled(t, databaseURL, len(moments), runs)
	// The next server looks for lost calls too: it returns the fee of one more, and no
	// other fee again.
	go func() { _ = c.call(t.Context(), "POST", "/v1/agent", fmt.Sprintf(`{"goal":%q}`, moments[0].goal), nil) }()
	<-asked
	c.kill()
	c.start(t)
	c.wantSettled(t, databaseURL, len(moments)+1, runs)

	go func() { _ = c.call(t.Context(), "POST", "/v1/agent", fmt.Sprintf(`{"goal":%q}`, moments[1].goal), nil) }()
	awaitFile(t, written)
	if err := c.server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = c.server.Wait()
	if left := hostFolders(t, scratch); len(left) > 0 {
		t.Errorf("after SIGTERM %v is left, want none", left)
	}
}

// shortFolder is a folder whose path leaves space for that of a socket.
func shortFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "kill")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// hostFolders are the folders of plugin hosts.
func hostFolders(t *testing.T, scratch string) (found []string) {
	t.Helper()
	for _, prefix := range []string{"stage-", "media-", "files-"} {
		names, err := filepath.Glob(filepath.Join(scratch, prefix+"*"))
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, names...)
	}
	return found
}

func awaitFile(t *testing.T, pattern string) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			_ = os.Remove(found[0])
			return
		}
	}
	t.Fatalf("got no file %s within 2 min, want one", pattern)
}

// wantSettled waits until every fee is returned, and reads the ledger.
func (c *chaos) wantSettled(t *testing.T, databaseURL string, calls, runs int) {
	t.Helper()
	_, shown, _ := strings.Cut(c.command(t, "accounts", "show", "chaos@example.com").stdout, "id")
	account, ok := publicid.Parse(publicid.Account, strings.Fields(shown)[0])
	if !ok {
		t.Fatalf("no id: %s, want one", shown)
	}
	cfg := store.Defaults()
	cfg.DataDir, cfg.DatabaseURL = c.dir, databaseURL
	ledger := credits.New(storetest.Open(t, cfg))
	deadline := time.Now().Add(2 * time.Minute)
	for {
		movements, err := ledger.Entries(t.Context(), account, 100)
		if err != nil {
			t.Fatal(err)
		}
		count, spent := map[string]int{}, int64(0)
		for _, one := range movements {
			count[one.Reason]++
			if one.Reason == credits.Run {
				spent -= one.Amount
			}
		}
		if count[credits.Returned] < calls && time.Now().Before(deadline) {
			time.Sleep(50 * time.Millisecond)
			continue
		}
		now, err := ledger.Balance(t.Context(), account)
		if err != nil || now != (credits.Balance{Credits: 1000 - spent}) ||
			count[credits.Fee] != calls || count[credits.Returned] != calls || count[credits.Run] != runs {
			t.Fatalf("%+v, %v, %d s were paid; want %d fees, as many returns, %d runs: %+v\n%s", now, err, spent, calls, runs, movements, c.stderr)
		}
		return
	}
}

// TestPlannerKilledWhileItPlans kills the planner's process with SIGKILL: the call
// is answered as a failure that may be tried again, and the fee is back by then.
func TestPlannerKilledWhileItPlans(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are found in /proc")
	}
	t.Parallel()
	address, asked := endpoint(t)
	c := newChaos(t, "", "SCROLLERY_AGENT_URL="+address, "SCROLLERY_AGENT_MODEL=some-model")
	if got := c.command(t, "credits", "grant", "chaos@example.com", "--credits", "1000"); got.code != exitDone {
		t.Fatalf("granting credits: got exit %d, want %d: %s", got.code, exitDone, got.stderr)
	}
	request, err := http.NewRequestWithContext(t.Context(), "POST", c.base+"/v1/agent", strings.NewReader(fmt.Sprintf(`{"goal":%q}`, moments[0].goal)))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	request.Header.Set("Content-Type", "application/json")
	var killed atomic.Int32
	go func() {
		<-asked
		for _, pid := range pluginsOf(t, c.server.Process.Pid, "agent") {
			if syscall.Kill(pid, syscall.SIGKILL) == nil {
				killed.Add(1)
			}
		}
	}()
	response, err := c.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var body map[string]any
	err = json.NewDecoder(response.Body).Decode(&body)
	if err != nil || response.StatusCode != http.StatusBadGateway || body["error"] != "upstream_error" || body["retryable"] != true || killed.Load() != 1 {
		t.Errorf(`got %d processes killed, answer %s %v, error %v; want 1, and %v with a retryable upstream_error`, killed.Load(), response.Status, body, err, http.StatusBadGateway)
	}
	c.wantSettled(t, "", 1, 0)
}
