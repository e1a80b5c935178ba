package host_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/plugins/stage"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// signIn is a check that does what the secret says.
func signIn(ctx context.Context, call *stage.Call) (string, error) {
	switch token := call.Secrets["token"]; token {
	case "wrong-token":
		return "", stage.Refusedf("the site does not know the key %s", token)
	case "spent-token":
		return "", stage.Quotaf(time.Now().Add(time.Hour), "no units are left")
	case "unset-token":
		return "", stage.Misconfiguredf("the region is none")
	case "busy-token":
		return "", stage.Busyf(time.Minute, "the site answers 503")
	case "chatty-token":
		return "signed in with " + token + "\nand \x1b[31mmore " + strings.Repeat("ö", 300), nil
	case "empty-token":
		return "", nil
	case "panic-token":
		panic("no site")
	case "slow-token":
		call.Progress("asking")
		<-ctx.Done()
		return "", context.Cause(ctx)
	}
	return "signed in as @acme, 9,000 of 10,000 units left", nil
}

// Check of a process that does not keep to the protocol.
func (h *hostile) Check(stream grpc.BidiStreamingServer[stagev1.CallRequest, stagev1.CallResponse]) error {
	for { // or the call is refused for its end before the input
		message, err := stream.Recv()
		if err != nil {
			return err
		}
		if message.GetInput().GetLast() {
			break
		}
	}
	return stream.Send(some(1, 1))
}

func TestCheck(t *testing.T) {
	t.Parallel()
	of := func(token string) *bundle {
		return setup(t, func(c *host.Config) {
			c.Secrets = map[string]map[string]string{"keyed": {"token": token}, "hostile": {"token": token}}
		})
	}
	t.Run("says what works", func(t *testing.T) {
		t.Parallel()
		b := of("right-token")
		for id, want := range map[string]string{"keyed": "signed in as @acme, 9,000 of 10,000 units left", "judge": "judges"} {
			if line, err := b.Check(t.Context(), id); err != nil || line != want {
				t.Errorf("%s: got %q and error %v, want %q", id, line, err, want)
			}
			if p, _ := b.Find(id); !p.Checks {
				t.Errorf("%s is listed without a check, want one", id)
			}
		}
	})
	t.Run("says nothing wrong without a line", func(t *testing.T) {
		t.Parallel()
		if line, err := of("empty-token").Check(t.Context(), "keyed"); err != nil || line != "works" {
			t.Errorf("got %q and error %v, want works", line, err)
		}
	})
	t.Run("has one short line without secrets", func(t *testing.T) {
		t.Parallel()
		line, err := of("chatty-token").Check(t.Context(), "keyed")
		if err != nil {
			t.Fatal(err)
		}
		if want := `signed in with [token] and \x1b[31mmore ö`; !strings.HasPrefix(line, want) {
			t.Errorf("got %q, want that it begins with %q", line, want)
		}
		if n := len([]rune(line)); n != stage.MaxChecked {
			t.Errorf("got %d characters, want %d", n, stage.MaxChecked)
		}
	})
	for token, want := range map[string]struct {
		failure stage.Failure
		retry   bool
		setup   bool
		says    string
	}{
		"wrong-token": {stage.SourceUnauthorized, false, false, "does not know the key [token]"},
		"spent-token": {stage.SourceQuota, true, false, "no units are left"},
		"unset-token": {stage.SourceUnavailable, false, true, "the region is none"},
		"busy-token":  {stage.SourceUnavailable, true, false, "answers 503"},
		"panic-token": {stage.StageCrashed, true, false, "no site"},
		"":            {stage.SourceUnavailable, false, true, `"token" is missing`},
	} {
		t.Run("fails for "+token, func(t *testing.T) {
			t.Parallel()
			line, err := of(token).Check(t.Context(), "keyed")
			failed := wantFailure(t, err, want.failure)
			if line != "" || failed.Retry != want.retry || failed.Setup != want.setup {
				t.Errorf("got the line %q, retry %t, setup %t; want none, %t, %t", line, failed.Retry, failed.Setup, want.retry, want.setup)
			}
			if !strings.Contains(failed.Error(), want.says) {
				t.Errorf("got %q, want that it says %q", failed.Error(), want.says)
			}
		})
	}
	t.Run("ends what takes too long", func(t *testing.T) {
		t.Parallel()
		b := of("slow-token")
		b.ShortChecks(2 * time.Second)
		_, err := b.Check(t.Context(), "keyed")
		if failed := wantFailure(t, err, stage.StageTimeout); !failed.Retry {
			t.Errorf("got %v, want one that may be tried again", failed)
		}
	})
	t.Run("ends with its caller", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if line, err := of("slow-token").Check(ctx, "keyed"); err == nil || line != "" {
			t.Errorf("got %q and error %v, want the end of the context", line, err)
		}
	})
	t.Run("takes nothing but the end", func(t *testing.T) {
		t.Parallel()
		_, err := of("right-token").Check(t.Context(), "hostile")
		if failed := wantFailure(t, err, stage.StageProtocol); !strings.Contains(failed.Error(), "whose whole answer is Done") {
			t.Errorf("got %v, want a refusal of the records", failed)
		}
	})
	t.Run("is refused to a stage without one", func(t *testing.T) {
		t.Parallel()
		b := of("right-token")
		_, err := b.Check(t.Context(), "probe")
		wantFailure(t, err, stage.StageProtocol)
		if p, _ := b.Find("probe"); p.Checks {
			t.Error("a stage without a check is listed with one")
		}
	})
}

// TestCheckUsesTheKeysOfTheAccount: never those of the operator.
func TestCheckUsesTheKeysOfTheAccount(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *host.Config) {
		c.Secrets = map[string]map[string]string{"keyed": {"token": "right-token"}}
		c.Accounts = tenants{"own": {"keyed": {Ledger: "keyed/own", Secrets: map[string]string{"token": "wrong-token"}}}}
	})
	if _, err := b.Check(of(t, "other"), "keyed"); err != nil {
		t.Errorf("an account without keys: got %v, want no error", err)
	}
	_, err := b.Check(of(t, "own"), "keyed")
	wantFailure(t, err, stage.SourceUnauthorized)
}

// TestExternalCheck: an external plugin says that it has a check, and is asked with what its
// manifest grants.
func TestExternalCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir+"/acme.yaml", "id: acme\nsha256: "+install(t, dir, "acme")+"\nsecrets: [token]\n")
	b := setup(t, func(c *host.Config) {
		c.Dir = dir
		c.Secrets = map[string]map[string]string{"acme": {"token": "wrong-token"}}
	})
	if p, _ := b.Find("acme"); !p.Checks {
		t.Errorf("got %+v, want a plugin with a check", p)
	}
	_, err := b.Check(t.Context(), "acme")
	wantFailure(t, err, stage.SourceUnauthorized)
}
