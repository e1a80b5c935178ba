package webhooks

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/changes"
	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// The environment of a process that delivers until it is killed.
const (
	childDir  = "SCROLLERY_WEBHOOKS_TEST_DIR"
	childURL  = "SCROLLERY_WEBHOOKS_TEST_URL"
	childPeer = "SCROLLERY_WEBHOOKS_TEST_PEER"
	// killsSetting is how many servers, and how many receivers, are killed on each database.
	killsSetting = "SCROLLERY_KILLS"
)

func TestMain(m *testing.M) {
	if os.Getenv(childDir) == "" {
		os.Exit(m.Run())
	}
	if err := child(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// killConfig lets a lost worker's lease end soon, and never rests: a busy machine misses
// the short timeout more often than the table of retries is long.
func killConfig(peer string) Config {
	cfg := Defaults()
	cfg.Timeout, cfg.Transport = 200*time.Millisecond, toReceiver(peer)
	cfg.Retries = slices.Repeat([]time.Duration{5 * time.Millisecond}, 10_000)
	return cfg
}

// child delivers, and adds changes, until it is killed.
func child() error {
	ctx := viewer.As(context.Background(), account)
	db, err := store.Open(ctx, store.Config{DataDir: os.Getenv(childDir), DatabaseURL: os.Getenv(childURL), MaxConns: 8}, storetest.Log(nil))
	if err != nil {
		return err
	}
	s, err := New(db, changes.New(db, nil), killConfig(os.Getenv(childPeer)), Needs{Owners: owners{}, Mailer: make(mailbox, 100), Sealer: sealer})
	if err != nil {
		return err
	}
	s.sender.graceOfLease, s.sender.lookEvery = 100*time.Millisecond, 100*time.Millisecond
	queue, err := jobs.NewQueue(db, s.sender.workers(), s.Periodics(), storetest.Log(nil))
	if err != nil {
		return err
	}
	if err := queue.Start(ctx); err != nil {
		return err
	}
	for n := int64(1); ; n++ {
		err := db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			return feed.Append(ctx, tx, feed.Change{Kind: feed.VideoAdded, Video: n})
		})
		if err != nil {
			return err
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// TestKilledServersAndReceiversLoseNothing kills a receiver and then the server again and
// again while it delivers, and has the receiver fail at times: before it keeps a message,
// and after. SCROLLERY_KILLS sets how often.
func TestKilledServersAndReceiversLoseNothing(t *testing.T) {
	t.Parallel()
	kills := 3
	if text := os.Getenv(killsSetting); text != "" {
		kills, _ = strconv.Atoi(text)
	}
	for name, where := range map[string]func(testing.TB) store.Config{store.SQLite: storetest.SQLiteConfig, store.Postgres: storetest.PostgresConfig} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := where(t)
			r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
				switch rand.N(40) {
				case 0, 1:
					w.WriteHeader(500)
				case 2:
					panic(http.ErrAbortHandler) // it kept the message, and its answer is lost
				}
			})
			ctx := viewer.As(t.Context(), account)
			db := storetest.Open(t, cfg)
			b := &bundle{ctx: ctx, db: db, receiver: r, mails: make(mailbox, 100)}
			made, err := New(db, changes.New(db, nil), killConfig(r.address()), Needs{Owners: owners{}, Mailer: b.mails, Sealer: sealer})
			if err != nil {
				t.Fatal(err)
			}
			hook, _, err := made.Create(ctx, hookURL, nil, changes.From{Oldest: true})
			if err != nil {
				t.Fatal(err)
			}
			made.Close()
			for range kills {
				killWhileItDelivers(t, cfg, r)
			}
			b.Service = start(t, db, killConfig(r.address()), b.mails)
			head, err := b.feed.Start(ctx, changes.From{Now: true})
			if err != nil {
				t.Fatal(err)
			}
			// Each failure costs a look for what is due, so a long backlog takes its time: it
			// has to get shorter.
			for at := int64(0); at < head; {
				at = b.until(t, hook.ID, "further", func(w *Webhook) bool { return w.Cursor == head || w.Cursor >= at+100 }).Cursor
			}
			next, again, bodies := int64(1), 0, map[string]string{}
			for _, got := range r.all() {
				seq, ok := changes.Seq(got.id)
				switch {
				case ok && seq == next:
					next++
					bodies[got.id] = string(got.body)
				case ok && seq < next:
					again++
					if diff := cmp.Diff(bodies[got.id], string(got.body)); diff != "" {
						t.Errorf("%s came with two bodies (-want +got):\n%s", got.id, diff)
					}
				default:
					t.Fatalf("got %s (%d) after change %d, want the next one or one again", got.id, seq, next-1)
				}
			}
			if next != head+1 {
				t.Errorf("%d changes came, want %d", next-1, head)
			}
			t.Logf("%d kills of each, %d changes in order, %d repetitions", kills, head, again)
		})
	}
}

// killWhileItDelivers runs a server. It kills the receiver a moment after a request came,
// and the server a moment after the next one.
func killWhileItDelivers(t *testing.T, cfg store.Config, r *receiver) {
	t.Helper()
	for len(r.came) > 0 {
		<-r.came
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+cfg.DataDir, childURL+"="+cfg.DatabaseURL, childPeer+"="+r.address())
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, end := range []func(){
		func() { r.kill(t, rand.N(50*time.Millisecond)) },
		func() { _ = cmd.Process.Kill() },
	} {
		select {
		case <-r.came:
		case <-time.After(2 * time.Minute):
			t.Fatal("got no delivery within 2 min, want one")
		}
		time.Sleep(rand.N(150 * time.Millisecond)) // any moment of its work
		for len(r.came) > 0 {
			<-r.came
		}
		end()
	}
	_ = cmd.Wait() // it was killed
}

// TestAttemptsDoNotWaitForTheDatabaseForever: what came of an attempt is stored although its
// caller has gone, within a bound.
func TestAttemptsDoNotWaitForTheDatabaseForever(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	b := setup(t, db, nil)
	b.sender.settleWithin = 100 * time.Millisecond
	w, _ := b.create(t)
	held, free, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- db.Write(b.ctx, func(context.Context, *store.Tx) error {
			close(held)
			<-free
			return nil
		})
	}()
	<-held
	failed := make(chan error, 1)
	go func() {
		_, err := b.Test(b.ctx, w.ID)
		failed <- err
	}()
	select {
	case err := <-failed:
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
		}
	case <-time.After(2 * time.Minute):
		t.Error("the attempt waits for the database after 2 min, want at most 100 ms")
	}
	close(free)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
