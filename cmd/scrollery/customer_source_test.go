package main

import (
	"strings"
	"testing"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
)

// ownSources sets, lists, tries and removes an account's own key of a source. The key is in no
// output and in no argument.
func ownSources(t *testing.T, c *terminal) {
	const secret = "AIzaNotARealKeyAtAll7f3e"
	state := func() string {
		t.Helper()
		return c.must(t, exitDone, "source", "list", "--jq", `.sources[] | select(.source == "youtube") | "\(.state) \(.own) \([.secrets[] | select(.set) | .hint] | join(" "))"`).stdout
	}
	if got := state(); !strings.Contains(got, " false ") {
		t.Fatalf("got %q, want a source without own keys", got)
	}
	set := c.run(t.Context(), "\r\napi_key="+secret+"\r\n", "source", "set", "youtube", "--secrets", "-", "--setting", "derived_metrics_accepted=yes")
	if set.code != exitDone || !strings.Contains(set.stdout, "api_key=…7f3e") || strings.Contains(set.stdout+set.stderr, secret) {
		t.Errorf("set: exit %d, %s%s; want the end of the key alone", set.code, set.stdout, set.stderr)
	}
	if got := state(); got != "ready true 7f3e\n" {
		t.Errorf("got %q, want it ready with a key of its own", got)
	}
	listed := c.must(t, exitDone, "source", "list").stdout
	for _, want := range []string{"SOURCE\tSTATE\tOWN", "youtube\tready\ttrue", "feed\t", "100 a search; ", "/docs/sources#youtube-the-data-api\n"} {
		if !strings.Contains(listed, want) {
			t.Errorf("the list lacks %q: %s", want, listed)
		}
	}
	tried := strings.Join(strings.Fields(c.must(t, exitDone, "source", "try", "feed", "espresso").stdout), " ")
	if !strings.Contains(tried, "metrics.views 95") || !strings.Contains(tried, "outcome ok") {
		t.Errorf("try: got %s, want fields of videos", tried)
	}
	for name, wrong := range map[string]struct{ stdin, args string }{
		"a secret among arguments": {"", "youtube --secrets api_key=" + secret},
		"a line without a name":    {secret, "youtube --secrets -"},
		"a name twice":             {"api_key=" + secret + "\napi_key=" + secret, "youtube --secrets -"},
		"a setting without value":  {"", "youtube --setting derived_metrics_accepted"},
		"nothing":                  {"", "youtube"},
	} {
		if got := c.run(t.Context(), wrong.stdin, append([]string{"source", "set"}, strings.Fields(wrong.args)...)...); got.code != exitWrongUse || wrong.stdin != "" && strings.Contains(got.stderr, secret) {
			t.Errorf("%s: exit %d, %s; want %d", name, got.code, got.stderr, exitWrongUse)
		}
	}
	c.must(t, exitWrongUse, "source", "set", "vimeo", "--setting", "a=b")
	c.must(t, exitWrongUse, "source", "try", "feed")
	c.must(t, exitDone, "source", "remove", "youtube")
	c.must(t, exitFailed, "source", "remove", "youtube")
	if got := state(); !strings.Contains(got, " false ") {
		t.Errorf("got %q, want no own keys any more", got)
	}
}

// TestSourcesWithoutOwnKeys: where the operator turned them off, `source set` says so.
func TestSourcesWithoutOwnKeys(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t, func(cfg *app.Config) { cfg.OwnKeys = false })
	c := newTerminal(t, map[string]string{"SCROLLERY_KEY": running.Account(t, "pro").Key, "SCROLLERY_SERVER": running.BaseURL})
	got := c.run(t.Context(), "api_key=AIzaNotARealKeyAtAll7f3e", "source", "set", "youtube", "--secrets", "-")
	if got.code != exitWrongUse || !strings.Contains(got.stderr, "turned off accounts' own keys") || strings.Contains(got.stdout+got.stderr, "7f3e") {
		t.Errorf("exit %d, %s%s; want %d and why", got.code, got.stdout, got.stderr, exitWrongUse)
	}
	if listed := c.must(t, exitDone, "source", "list").stdout; strings.Contains(listed, "Set keys") || strings.Contains(listed, "api_key") {
		t.Errorf("the list asks for keys: %s", listed)
	}
	c.must(t, exitFailed, "source", "remove", "youtube") // there are none
}
