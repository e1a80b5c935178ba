package tiktok

import (
	"errors"
	"testing"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	t.Run("asks for a token alone", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		line, err := stagetest.Check(t, b.spec, b.call)
		if err != nil || line != "TikTok accepts the client key and secret" {
			t.Errorf("got %q and error %v, want that the key is accepted", line, err)
		}
		if b.Tokens() != 1 || len(b.spent) > 0 || len(b.Asked()) > 0 {
			t.Errorf("got %d tokens, %v spent, queries %v; want one token alone", b.Tokens(), b.spent, b.Asked())
		}
	})
	for name, c := range map[string]struct {
		spoil func(*bundle)
		want  stage.Fault
	}{
		"the secret is wrong":  {func(b *bundle) { b.call.Secrets["client_secret"] = "another" }, stage.FaultMisconfigured},
		"nobody approved":      {func(b *bundle) { b.call.Settings["eligible"] = "no" }, stage.FaultMisconfigured},
		"the site is not here": {func(b *bundle) { b.Close() }, stage.FaultBusy},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			c.spoil(b)
			line, err := stagetest.Check(t, b.spec, b.call)
			var fault *stage.Error
			if !errors.As(err, &fault) || fault.Fault != c.want || line != "" {
				t.Errorf("got %q and error %v, want the fault %s", line, err, c.want)
			}
		})
	}
}
