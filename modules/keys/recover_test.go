package keys

import (
	"bytes"
	"context"
	"database/sql"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/mail"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

func TestALostKeyIsReplaced(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		ctx := context.Background()
		account, old := b.open(t, "ana@example.com")
		_, other := b.open(t, "bo@example.com")
		_, who := b.state(t, old)
		session, err := b.CreateSession(viewer.NewContext(ctx, who), nil, 0)
		if err != nil {
			t.Fatal(err)
		}

		queue, err := jobs.NewQueue(db, []jobs.Worker{Worker(b.Service)}, nil, storetest.Log(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := queue.Start(ctx); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := queue.Stop(ctx); err != nil {
				t.Error(err)
			}
		}()
		if err := b.Codes.Recover(ctx, "Ana@Example.com"); err != nil {
			t.Fatal(err)
		}
		var letter mail.Message
		select {
		case letter = <-b.post.arrived:
		case <-time.After(2 * time.Minute):
			t.Fatal("got no mail in 2 min, want one")
		}
		digits := sixDigits.FindString(letter.Text)
		if letter.To != "ana@example.com" || digits == "" {
			t.Fatalf("got letter %+v, want one to ana@example.com with six digits", letter)
		}

		status, key := b.reissue(t, "ANA@example.com", digits)
		if status != ReissueCompleted {
			t.Fatalf("got %s, want %s", status, ReissueCompleted)
		}
		if _, who := b.state(t, key); who.AccountID != account {
			t.Errorf("got a key of account %d, want one of %d", who.AccountID, account)
		}
		for name, c := range map[string]struct {
			key  string
			want apierr.Kind
		}{
			"the new key": {key, ""}, "the old key": {old, apierr.Unauthorized},
			"its session": {session.Secret, apierr.AuthRequired}, "another account's": {other, ""},
		} {
			t.Run(name, func(t *testing.T) {
				if err := b.inForce(t, c.key); c.want == "" && err != nil || c.want != "" && !apierr.Is(err, c.want) {
					t.Errorf("got %v, want %q", err, c.want)
				}
			})
		}
		if status, key := b.reissue(t, "ana@example.com", digits); status != ReissueInvalidCode || key != "" {
			t.Errorf("the code again: got %s with key %q, want %s without one", status, key, ReissueInvalidCode)
		}
	})
}

func TestNoCodeIsStored(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.open(t, "ana@example.com")
		digits := b.code(t, "ana@example.com")
		found := 0
		storetest.Rows(t, db, func(rows *sql.Rows) error {
			var digest, salt []byte
			found++
			err := rows.Scan(&digest, &salt)
			if len(digest) != 32 || len(salt) != 16 || bytes.Contains(append(digest, salt...), []byte(digits)) {
				t.Errorf("got hash %x, salt %x; want 32 and 16 bytes without the code", digest, salt)
			}
			return err
		}, "SELECT hash, salt FROM codes")
		if found == 0 {
			t.Error("got no code, want at least one")
		}
	})
}

func TestReissueRefuses(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		const ana = "ana@example.com"
		b.open(t, ana)
		want := func(name, email, digits, want string) {
			t.Helper()
			if status, key := b.reissue(t, email, digits); status != want || (key != "") != (want == ReissueCompleted) {
				t.Errorf("%s: got %s with key %q, want %s and a key only with %s", name, status, key, want, ReissueCompleted)
			}
		}
		want("no code was sent", ana, "123456", ReissueInvalidCode)
		want("an unknown address", "bo@example.com", "123456", ReissueInvalidCode)

		digits := b.code(t, ana)
		b.clock = b.clock.Add(b.cfg.CodeTTL)
		want("a code that is over", ana, digits, ReissueInvalidCode)

		older := b.code(t, ana)
		newer := b.code(t, ana)
		if older != newer {
			want("an older code", ana, older, ReissueInvalidCode)
		}
		for _, text := range []string{newer + "0", newer[:5], " " + newer[1:], "abcdef"} {
			want(text, ana, text, ReissueInvalidCode)
		}
		// One try is left where the older code took one.
		if older != newer {
			want("past the tries", ana, newer, ReissueRateLimited)
		}

		b.clock = b.clock.Add(time.Hour)
		digits = b.code(t, ana)
		for range b.cfg.CodeTries - 1 {
			want("a wrong code", ana, wrong(digits), ReissueInvalidCode)
		}
		want("the last try", ana, digits, ReissueCompleted)

		b.clock = b.clock.Add(time.Hour)
		digits = b.code(t, ana)
		for range b.cfg.CodeTries {
			want("a wrong code", ana, wrong(digits), ReissueInvalidCode)
		}
		want("past the tries", ana, digits, ReissueRateLimited)
		b.clock = b.clock.Add(b.cfg.CodeTTL)
		want("long past the tries", ana, digits, ReissueInvalidCode)
	})
}

func TestAnUnknownAddressLooksLikeAKnownOne(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		ctx := context.Background()
		b.open(t, "known@example.com")
		for _, email := range []string{"known@example.com", "unknown@example.com"} {
			t.Run(email, func(t *testing.T) {
				for range 5 {
					if err := b.Codes.send(ctx, forRecovery, email); err != nil {
						t.Fatal(err)
					}
				}
				if got := storetest.Count(t, db, "SELECT count(*) FROM codes WHERE email = $1", email); got != 3 {
					t.Errorf("got %d codes, want 3", got)
				}
				var statuses []string
				for range 7 {
					status, _ := b.reissue(t, email, "no-code")
					statuses = append(statuses, status)
				}
				want := append(slices.Repeat([]string{ReissueInvalidCode}, 5), ReissueRateLimited, ReissueRateLimited)
				if diff := cmp.Diff(want, statuses); diff != "" {
					t.Errorf("statuses (-want +got):\n%s", diff)
				}
			})
		}
		var receivers []string
		for _, letter := range b.post.taken() {
			receivers = append(receivers, letter.To)
		}
		if diff := cmp.Diff(slices.Repeat([]string{"known@example.com"}, 3), receivers); diff != "" {
			t.Errorf("receivers of mails (-want +got):\n%s", diff)
		}
	})
}

func TestACodeForNobodyOpensNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, storetest.SQLite(t))
	made := newCode("unknown@example.com", 0, "123456", b.clock, b.clock.Add(time.Minute))
	made.id = b.db.NewID()
	if added, err := b.rows.addCode(context.Background(), made, b.clock, 3); !added || err != nil {
		t.Fatalf("got added %t, error %v; want it added", added, err)
	}
	if status, key := b.reissue(t, "unknown@example.com", "123456"); status != ReissueInvalidCode || key != "" {
		t.Errorf("got %s with key %q, want %s without one", status, key, ReissueInvalidCode)
	}
}

func TestThreeMailsAnHour(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.open(t, "ana@example.com")
		var group sync.WaitGroup
		for range 12 {
			group.Go(func() {
				if err := b.Codes.send(context.Background(), forRecovery, "ana@example.com"); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if got := len(b.post.taken()); got != 3 {
			t.Errorf("got %d mails, want 3", got)
		}
		b.clock = b.clock.Add(time.Hour)
		b.code(t, "ana@example.com")
	})
}

func TestAMailThatFailsIsNoMail(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.open(t, "ana@example.com")
		b.post.broken = true
		for range 5 {
			if err := b.Codes.send(context.Background(), forRecovery, "ana@example.com"); err == nil {
				t.Fatal("a mail that was not sent: got no error, want one")
			}
		}
		b.post.broken = false
		b.code(t, "ana@example.com")
	})
}

func TestRacingGuessesHaveNoMoreTries(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.open(t, "ana@example.com")
		digits := b.code(t, "ana@example.com")
		var judged, limited atomic.Int64
		race(func(int) {
			status, _, err := b.Codes.Reissue(context.Background(), "ana@example.com", wrong(digits), "192.0.2.1")
			switch {
			case err != nil:
				t.Error(err)
			case status == ReissueInvalidCode:
				judged.Add(1)
			case status == ReissueRateLimited:
				limited.Add(1)
			}
		})
		if judged.Load() != 5 || limited.Load() != 27 {
			t.Errorf("got %d guesses judged and %d limited, want 5 and 27", judged.Load(), limited.Load())
		}
	})
}

func TestRacingReissuesMintOneKey(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		account, _ := b.open(t, "ana@example.com")
		digits := b.code(t, "ana@example.com")
		var completed atomic.Int64
		race(func(int) {
			status, _, err := b.Codes.Reissue(context.Background(), "ana@example.com", digits, "192.0.2.1")
			if err != nil {
				t.Error(err)
			}
			switch status {
			case ReissueCompleted:
				completed.Add(1)
			case ReissueInvalidCode:
			default:
				t.Errorf("a late call: got %q, want %s", status, ReissueInvalidCode)
			}
		})
		left := storetest.Count(t, db, "SELECT count(*) FROM keys WHERE account_id = $1 AND revoked_at IS NULL", account)
		if completed.Load() != 1 || left != 1 {
			t.Errorf("got %d completed and %d keys in force, want 1 and 1", completed.Load(), left)
		}
	})
}

func race(do func(i int)) {
	start := make(chan struct{})
	var group sync.WaitGroup
	for i := range 32 {
		group.Go(func() {
			<-start
			do(i)
		})
	}
	close(start)
	group.Wait()
}

func TestSweep(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		_, key := b.open(t, "ana@example.com")
		_, who := b.state(t, key)
		session, err := b.CreateSession(viewer.NewContext(context.Background(), who), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		b.code(t, "ana@example.com")
		check := func(want int64) {
			t.Helper()
			if err := b.Sweep(context.Background()); err != nil {
				t.Fatal(err)
			}
			if codes, sessions := storetest.Count(t, db, "SELECT count(*) FROM codes"), storetest.Count(t, db, "SELECT count(*) FROM keys WHERE parent_id IS NOT NULL"); codes != want || sessions != want {
				t.Errorf("got %d codes and %d sessions, want %d of each", codes, sessions, want)
			}
		}
		check(1)
		b.clock = b.clock.Add(26 * time.Hour)
		check(0)
		if err := b.inForce(t, session.Secret); !apierr.Is(err, apierr.AuthRequired) {
			t.Errorf("a session that was swept: got %v, want %v", err, apierr.AuthRequired)
		}
		if err := b.inForce(t, key); err != nil {
			t.Errorf("a lasting key: got error %v, want it in force", err)
		}
		if _, ok := publicid.Parse(publicid.Key, session.ID); !ok {
			t.Errorf("got session id %q, want the id of a key", session.ID)
		}
	})
}
