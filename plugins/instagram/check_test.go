package instagram

import (
	"errors"
	"net/http"
	"testing"

	"github.com/scrollery/scrollery/plugins/instagram/instagramtest"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site/sitetest"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	t.Run("names the account", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		line, err := stagetest.Check(t, b.spec, b.call)
		if want := "signed in as @" + instagramtest.Name; err != nil || line != want {
			t.Errorf("got %q and error %v, want %q", line, err, want)
		}
		if asked := b.Asked(); len(asked) != 1 {
			t.Errorf("got the requests %q, want one", asked)
		}
	})
	for name, c := range map[string]struct {
		fault http.HandlerFunc
		spoil func(*stage.Call)
		want  stage.Fault
	}{
		"the token is wrong":      {spoil: func(c *stage.Call) { c.Secrets["access_token"] = "another" }, want: stage.FaultMisconfigured},
		"the user is no number":   {spoil: func(c *stage.Call) { c.Settings["user_id"] = "me" }, want: stage.FaultMisconfigured},
		"the hour is spent":       {fault: failing(400, 4, "Application request limit reached"), want: stage.FaultQuota},
		"the site fails":          {fault: failing(500, 2, "Service temporarily unavailable"), want: stage.FaultBusy},
		"the answer has no name":  {fault: sitetest.Text(200, `{"id":"`+instagramtest.User+`"}`), want: stage.FaultInternal},
		"the account is not ours": {fault: failing(400, 110, "Invalid user id"), want: stage.FaultNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			if c.fault != nil {
				b.Intercept = sitetest.Times(99, c.fault)
			}
			if c.spoil != nil {
				c.spoil(&b.call)
			}
			line, err := stagetest.Check(t, b.spec, b.call)
			var fault *stage.Error
			if !errors.As(err, &fault) || fault.Fault != c.want || line != "" {
				t.Errorf("got %q and error %v, want the fault %s", line, err, c.want)
			}
			if waited := b.clock.Waited(); waited > 0 {
				t.Errorf("got a wait of %v, want none", waited)
			}
		})
	}
}
