package youtube

import (
	"errors"
	"net/http"
	"testing"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site/sitetest"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	t.Run("costs one unit", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		line, err := stagetest.Check(t, b.spec, b.call())
		if err != nil || line != "YouTube accepts the API key" {
			t.Errorf("got %q and error %v, want that the key is accepted", line, err)
		}
		if len(b.spent) != 1 || b.spent[unitQuota] != 1 || len(b.Asked()) != 1 {
			t.Errorf("got %v spent on %q, want 1 unit on one request", b.spent, b.Asked())
		}
	})
	for name, c := range map[string]struct {
		fault http.HandlerFunc
		spoil func(*stage.Call)
		want  stage.Fault
	}{
		"the key is wrong":       {spoil: func(c *stage.Call) { c.Secrets["api_key"] = "another" }, want: stage.FaultMisconfigured},
		"a term is not accepted": {spoil: func(c *stage.Call) { c.Settings["derived_metrics_accepted"] = "no" }, want: stage.FaultMisconfigured},
		"the day is spent":       {fault: failing(403, "quotaExceeded", "You have exceeded your quota."), want: stage.FaultQuota},
		"the site fails":         {fault: sitetest.Text(502, "<html>502</html>"), want: stage.FaultBusy},
		"the site hangs":         {fault: sitetest.Hang, want: stage.FaultBusy},
		"the interface changed":  {fault: failing(410, "gone", "no longer here"), want: stage.FaultInternal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if c.fault != nil {
				b.Intercept = sitetest.Times(99, c.fault)
			}
			call := b.call()
			if c.spoil != nil {
				c.spoil(&call)
			}
			line, err := stagetest.Check(t, b.spec, call)
			var fault *stage.Error
			if !errors.As(err, &fault) || fault.Fault != c.want || line != "" {
				t.Errorf("got %q and error %v, want the fault %s", line, err, c.want)
			}
			if waited, asked := b.clock.Waited(), len(b.Asked()); waited > 0 || asked > 1 {
				t.Errorf("got %d requests and a wait of %v, want at most one and none", asked, waited)
			}
		})
	}
}
