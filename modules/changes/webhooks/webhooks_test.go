package webhooks

import (
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/scrollery/scrollery/modules/changes"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

func idsOf(got []received) (ids []string) {
	for _, r := range got {
		ids = append(ids, r.id)
	}
	return ids
}

// verify checks a request with the specification's own library.
func verify(t *testing.T, shown string, r received) error {
	t.Helper()
	hook, err := standardwebhooks.NewWebhook(shown)
	if err != nil {
		t.Fatal(err)
	}
	return hook.Verify(r.body, r.header)
}

func TestDelivery(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db, nil)
		hook, first := b.create(t)
		want := b.add(t, feed.VideoAdded, 12)
		got := b.receiver.wait(t, 12)
		if diff := cmp.Diff(want, idsOf(got)); diff != "" {
			t.Errorf("ids in order, want - got +:\n%s", diff)
		}
		for _, r := range got {
			if err := verify(t, first, r); err != nil {
				t.Errorf("signature of %s: %v", r.id, err)
			}
		}
		var body struct {
			Type, Timestamp string
			Data            struct{ ID, Type, VideoID string }
		}
		if err := json.Unmarshal(got[2].body, &body); err != nil {
			t.Fatal(err)
		}
		if body.Type != "video.added" || body.Data.ID != got[2].id || body.Data.VideoID != publicid.Format(publicid.Video, 3) {
			t.Errorf("got the body %s, want video.added of video 3 with the id %s", got[2].body, got[2].id)
		}

		t.Run("after a rotation both secrets verify", func(t *testing.T) {
			_, second, err := b.Rotate(b.ctx, hook.ID)
			if err != nil || second == first {
				t.Fatalf("rotate: got secret %q, error %v; want another one than %q", second, err, first)
			}
			b.add(t, feed.VideoGone, 1)
			last := b.receiver.wait(t, 13)[12]
			for name, shown := range map[string]string{"the former": first, "the new": second} {
				t.Run(name+" secret verifies", func(t *testing.T) {
					if err := verify(t, shown, last); err != nil {
						t.Errorf("%s secret: %v", name, err)
					}
				})
			}
			if err := verify(t, showSecret(newSecret()), last); err == nil {
				t.Error("a strange secret verifies, want an error")
			}
		})
		t.Run("a day later only the new one does", func(t *testing.T) {
			_, err := b.change(b.ctx, hook.ID, func(w *Webhook) error { w.PriorUntil = time.Now().UnixMilli(); return nil })
			if err != nil {
				t.Fatal(err)
			}
			b.add(t, feed.VideoGone, 1)
			if err := verify(t, first, b.receiver.wait(t, 14)[13]); err == nil {
				t.Error("the former secret verifies, want an error")
			}
		})
		t.Run("a paused webhook gets nothing, and all of it afterwards", func(t *testing.T) {
			yes, no := true, false
			if _, err := b.Update(b.ctx, hook.ID, Change{Paused: &yes, Types: []string{"video.gone"}}); err != nil {
				t.Fatal(err)
			}
			b.add(t, feed.VideoAdded, 2)
			want := b.add(t, feed.VideoGone, 2)
			if err := b.sender.look(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := b.receiver.all(); len(got) != 14 {
				t.Errorf("got %d requests while it was paused, want none", len(got)-14)
			}
			if _, err := b.Update(b.ctx, hook.ID, Change{Paused: &no}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, idsOf(b.receiver.wait(t, 16))[14:]); diff != "" {
				t.Errorf("ids of its kinds, want - got +:\n%s", diff)
			}
		})
		t.Run("a test, one change again, and all again from a cursor", func(t *testing.T) {
			d, err := b.Test(b.ctx, hook.ID)
			if err != nil || d == nil || d.Outcome != Delivered || d.Status != 200 {
				t.Fatalf("test: got %+v, error %v; want it %s with status 200", d, err, Delivered)
			}
			if d, err = b.Again(b.ctx, hook.ID, want[4]); err != nil || d == nil || d.MessageID != want[4] {
				t.Fatalf("again: got %+v, %v, want the message %s", d, err, want[4])
			}
			if got := idsOf(b.receiver.all()); got[len(got)-1] != want[4] {
				t.Errorf("the last request has id %s, want %s", got[len(got)-1], want[4])
			}
			sent := len(b.receiver.all())
			if _, err := b.Replay(b.ctx, hook.ID, changes.From{Oldest: true}); err != nil {
				t.Fatal(err)
			}
			again := b.receiver.wait(t, sent+4)[sent:] // the four of its kinds
			if !slices.IsSorted(idsOf(again)) || len(again) != 4 {
				t.Errorf("replayed: got %v, want four in order", idsOf(again))
			}
		})
		t.Run("another account sees and changes nothing of it", func(t *testing.T) {
			other := viewer.As(t.Context(), account+1)
			if hooks, err := b.List(other); err != nil || len(hooks) != 0 {
				t.Errorf("list: got %v, error %v; want no webhook", hooks, err)
			}
			if found, err := b.Delete(other, hook.ID); err != nil || found {
				t.Errorf("another tenant deletes: got %t, %v, want none found and no error", found, err)
			}
			if d, err := b.Test(other, hook.ID); err != nil || d != nil {
				t.Errorf("test: got %v, error %v; want no delivery", d, err)
			}
			if list, _, err := b.Deliveries(other, hook.ID, 0, 100); err != nil || len(list) != 0 {
				t.Errorf("deliveries: got %d, error %v; want none", len(list), err)
			}
		})
		t.Run("five webhooks an account", func(t *testing.T) {
			for range MaxWebhooks - 1 {
				b.create(t)
			}
			if _, _, err := b.Create(b.ctx, hookURL, nil, changes.From{Now: true}); !apierr.Is(err, apierr.OperationError) {
				t.Errorf("the sixth: %v, want operation_error", err)
			}
		})
	})
}

func TestReceiversThatFail(t *testing.T) {
	t.Parallel()
	fast := func(c *Config) {
		c.Timeout = time.Minute
		c.Retries = []time.Duration{10 * time.Millisecond, 10 * time.Millisecond}
	}
	status := func(code int) func(http.ResponseWriter, *http.Request, int) {
		return func(w http.ResponseWriter, r *http.Request, _ int) {
			w.Header().Set("Location", "https://"+r.Host+"/elsewhere")
			w.WriteHeader(code)
		}
	}
	for _, c := range []struct {
		name     string
		answer   func(http.ResponseWriter, *http.Request, int)
		outcome  string
		code     int
		attempts int
		status   string
	}{
		{"500 uses up the retries", status(500), Refused, 500, 3, Failed},
		{"a redirect is a failure, and is not followed", status(302), Redirected, 302, 3, Failed},
		{"410 ends the webhook at once", status(410), Refused, 410, 1, Gone},
		{"a slow one times out", func(_ http.ResponseWriter, r *http.Request, _ int) { <-r.Context().Done() }, TimedOut, 0, 3, Failed},
		{"one that hangs up is unreachable", func(http.ResponseWriter, *http.Request, int) { panic(http.ErrAbortHandler) }, Unreachable, 0, 3, Failed},
		{"an endless answer is cut", func(w http.ResponseWriter, r *http.Request, _ int) {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1024)); err != nil {
					return
				}
			}
		}, Delivered, 200, 1, Active},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, storetest.SQLite(t), c.answer, func(cfg *Config) {
				if fast(cfg); c.outcome == TimedOut {
					cfg.Timeout = 300 * time.Millisecond
				}
			})
			hook, _ := b.create(t)
			want := b.add(t, feed.VideoAdded, 1)
			after := b.until(t, hook.ID, c.status, func(w *Webhook) bool { return w.Status == c.status && (c.status != Active || w.Cursor > 0) })
			list, _, err := b.Deliveries(b.ctx, hook.ID, 0, 100)
			if err != nil {
				t.Fatal(err)
			}
			if len(list) != c.attempts {
				t.Fatalf("%d attempts, want %d: %+v", len(list), c.attempts, list)
			}
			for i, d := range list {
				if d.Outcome != c.outcome || d.Status != c.code || d.MessageID != want[0] || d.Attempt != c.attempts-i {
					t.Errorf("attempt %d: got %+v, want outcome %s, status %d, id %s", c.attempts-i, d, c.outcome, c.code, want[0])
				}
			}
			if c.status == Active {
				return
			}
			if after.Cursor != 0 {
				t.Errorf("the cursor moved to %d past a change that was not delivered, want 0", after.Cursor)
			}
			select {
			case m := <-b.mails:
				if m.To != "owner101@example.com" || !strings.Contains(m.Text, "hooks.customer.com") {
					t.Errorf(`the mail is %+v, want To "owner101@example.com" and Text with "hooks.customer.com"`, m)
				}
			case <-time.After(2 * time.Minute):
				t.Error("got no mail within 2 min, want one")
			}
		})
	}
}

func TestRetryAfterIsObeyed(t *testing.T) {
	t.Parallel()
	b := setup(t, storetest.SQLite(t), func(w http.ResponseWriter, _ *http.Request, nth int) {
		if nth == 1 {
			w.Header().Set("Retry-After", "2")
			w.WriteHeader(429)
		}
	}, func(c *Config) { c.Retries = []time.Duration{time.Millisecond} })
	b.create(t)
	b.add(t, feed.VideoAdded, 1)
	got := b.receiver.wait(t, 2)
	if waited := got[1].at.Sub(got[0].at); waited < 1900*time.Millisecond {
		t.Errorf("it came again after %v, want 2s", waited)
	}
	if got[0].id != got[1].id || string(got[0].body) != string(got[1].body) {
		t.Errorf("the attempts: got %s %s, want as at first %s %s", got[1].id, got[1].body, got[0].id, got[0].body)
	}
}

// TestABlockedAccountIsSentNothing, and what changed meanwhile comes once it is admitted again.
func TestABlockedAccountIsSentNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db, nil)
		blocked := new(atomic.Bool)
		blocked.Store(true)
		b.sender.needs.Owners = owners{blocked}
		w, _ := b.create(t)
		ids := b.add(t, feed.VideoAdded, 3)
		for rests := false; !rests; time.Sleep(10 * time.Millisecond) {
			now, err := load(b.ctx, db.Ent(), w.ID)
			if err != nil {
				t.Fatal(err)
			}
			rests = now.NextAt > time.Now().UnixMilli()
			if got := b.receiver.all(); len(got) != 0 {
				t.Fatalf("got %d requests for a blocked account, want none", len(got))
			}
		}
		blocked.Store(false)
		if _, err := b.change(b.ctx, w.ID, func(w *Webhook) error { w.NextAt = 0; return nil }); err != nil {
			t.Fatal(err)
		}
		for i, got := range b.receiver.wait(t, 3) {
			if got.id != ids[i] {
				t.Errorf("request %d: got change %s, want %s", i, got.id, ids[i])
			}
		}
	})
}

// TestOrderIsKeptBehindAFailure: nothing overtakes a change that is tried again.
func TestOrderIsKeptBehindAFailure(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db, func(w http.ResponseWriter, _ *http.Request, nth int) {
			if nth%3 == 2 {
				w.WriteHeader(503)
			}
		}, func(c *Config) { c.Retries = slices.Repeat([]time.Duration{10 * time.Millisecond}, 9) })
		b.create(t)
		want := b.add(t, feed.VideoAdded, 6)
		got := slices.Compact(idsOf(b.receiver.wait(t, 8)))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("ids without repetitions, want - got +:\n%s", diff)
		}
	})
}

// TestPrivateAddressesGetNothing dials names that resolve to private addresses, one of
// them only from the second look on.
func TestPrivateAddressesGetNothing(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, nil)
	_, port, err := net.SplitHostPort(r.address())
	if err != nil {
		t.Fatal(err)
	}
	for _, first := range []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(203, 0, 113, 9), net.IPv4(10, 0, 0, 1), net.IPv4(169, 254, 169, 254)} {
		t.Run(first.String(), func(t *testing.T) {
			names := newNames(t, first, net.IPv4(127, 0, 0, 1))
			b := &bundle{ctx: viewer.As(t.Context(), account), db: storetest.SQLite(t), receiver: r, mails: make(mailbox, 10)}
			cfg := Defaults()
			cfg.Timeout, cfg.Resolver, cfg.Retries = time.Second, names.resolver(), []time.Duration{time.Millisecond, time.Millisecond}
			b.Service = start(t, b.db, cfg, b.mails)
			w, _, err := b.Create(b.ctx, "https://rebinds.customer.com:"+port+"/in", nil, changes.From{Now: true})
			if err != nil {
				t.Fatal(err)
			}
			b.add(t, feed.VideoAdded, 1)
			b.until(t, w.ID, Failed, func(w *Webhook) bool { return w.Status == Failed })
			list, _, err := b.Deliveries(b.ctx, w.ID, 0, 10)
			if err != nil || len(list) != 3 || list[0].Outcome != Blocked {
				t.Errorf("deliveries: %+v, %v, want 3, the last one blocked", list, err)
			}
			if got := names.asked(); got < 3 {
				t.Errorf("the name was looked up %d times, want once an attempt", got)
			}
		})
	}
	if got := r.all(); len(got) != 0 {
		t.Errorf("%d requests arrived, want 0", len(got))
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for address, ok := range map[string]bool{
		"https://hooks.customer.com/in?token=a&b=c": true,
		"https://hooks.customer.com:8443/":          true,
		"http://hooks.customer.com/in":              false,
		"https://127.0.0.1/":                        false,
		"https://[::1]/":                            false,
		"https://2130706433/":                       false,
		"https://169.254.169.254/latest":            false,
		"https://localhost/":                        false,
		"https://user:pass@hooks.customer.com/":     false,
		"https://hooks.customer.com/#a":             false,
		" https://hooks.customer.com/":              false,
		"https://metadata.internal/":                false,
	} {
		t.Run(address, func(t *testing.T) {
			if got := len(faults(&address, nil)) == 0; got != ok {
				t.Errorf("%q is accepted: %v, want %v", address, got, ok)
			}
		})
	}
}
