package keys

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

var (
	mailedLink = regexp.MustCompile(`http://127\.0\.0\.1:8080(/recover/\S+)`)
	shownKey   = regexp.MustCompile(`scr_live_\w+`)
)

// link has one mailed to the address and returns the path of its page.
func (b *bundle) link(t testing.TB, email string) string {
	t.Helper()
	if err := b.Codes.send(context.Background(), forRecovery, email); err != nil {
		t.Fatal(err)
	}
	letters := b.post.taken()
	if len(letters) != 1 {
		t.Fatalf("got %d letters, want 1", len(letters))
	}
	found := mailedLink.FindStringSubmatch(letters[0].Text)
	if found == nil {
		t.Fatalf("got %q, want a link in it", letters[0].Text)
	}
	return found[1]
}

// browse reads the page, or posts its form with the chosen accounts.
func (b *bundle) browse(t testing.TB, method, path string, accounts ...string) (int, string) {
	t.Helper()
	page, err := NewRecoveryPage(b.Service, storetest.Log(t))
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(method, path, strings.NewReader(url.Values{"account": accounts}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	page.ServeHTTP(w, r)
	body, _ := io.ReadAll(w.Result().Body)
	return w.Code, string(body)
}

func TestALinkServesEveryAccountOfTheAddress(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		const ana = "ana@example.com"
		first, firstKey := b.open(t, ana)
		second, secondKey := b.open(t, ana) // bought by anyone: a payment proves no address
		other, otherKey := b.open(t, "bo@example.com")
		b.payer.active[second] = true
		ids := map[int64]string{}
		for _, id := range []int64{first, second, other} {
			ids[id] = publicid.Format(publicid.Account, id)
		}
		path := b.link(t, ana)

		for range 3 { // scanners of mail open links
			status, body := b.browse(t, http.MethodGet, path)
			_, after, listed := strings.Cut(body, ids[second])
			if status != 200 || !listed || !strings.Contains(after, ids[first]) || strings.Contains(body, ids[other]) {
				t.Fatalf("got %d %s, want the subscribed account %s, then the older one %s, and no other", status, body, ids[second], ids[first])
			}
			if !strings.Contains(body, firstKey[len(firstKey)-4:]) || shownKey.MatchString(body) {
				t.Errorf("got %s, want the last characters of keys alone", body)
			}
		}
		if status, _ := b.browse(t, http.MethodPost, path); status != http.StatusBadRequest {
			t.Errorf("no account chosen: got %d, want 400", status)
		}
		if status, _ := b.browse(t, http.MethodPost, path, ids[first], ids[other]); status != http.StatusBadRequest {
			t.Errorf("another address's account: got %d, want 400", status)
		}
		for name, key := range map[string]string{"first": firstKey, "second": secondKey, "other": otherKey} {
			t.Run(name, func(t *testing.T) {
				if err := b.inForce(t, key); err != nil {
					t.Errorf("the key after refused forms: got %v, want nil", err)
				}
			})
		}

		status, body := b.browse(t, http.MethodPost, path, ids[first], ids[second], ids[first])
		keys := shownKey.FindAllString(body, -1)
		if status != 200 || len(keys) != 2 {
			t.Fatalf("got %d with %d keys, want 200 with 2", status, len(keys))
		}
		owners := map[int64]bool{}
		for _, key := range keys {
			if err := b.inForce(t, key); err != nil {
				t.Errorf("a new key: got %v, want nil", err)
			}
			_, who := b.state(t, key)
			owners[who.AccountID] = true
		}
		if diff := cmp.Diff(map[int64]bool{first: true, second: true}, owners); diff != "" {
			t.Error("owners of the new keys (-want +got):\n" + diff)
		}
		for _, key := range []string{firstKey, secondKey} {
			if err := b.inForce(t, key); !apierr.Is(err, apierr.Unauthorized) {
				t.Errorf("an old key: got %v, want unauthorized", err)
			}
		}
		if err := b.inForce(t, otherKey); err != nil {
			t.Errorf("another account's key: got %v, want nil", err)
		}
		if status, _ := b.browse(t, http.MethodPost, path, ids[first]); status != http.StatusNotFound {
			t.Errorf("the link again: got %d, want 404", status)
		}
	})
}

func TestALinkEnds(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		for name, end := range map[string]func(b *bundle, ana string){
			"after its time": func(b *bundle, _ string) { b.clock = b.clock.Add(b.cfg.LinkTTL) },
			"when a code was used": func(b *bundle, ana string) {
				if status, _ := b.reissue(t, ana, b.code(t, ana)); status != ReissueCompleted {
					t.Errorf("got %s, want completed", status)
				}
			},
		} {
			t.Run(name, func(t *testing.T) {
				b, ana := setup(t, db), fmt.Sprintf("ana%d@example.com", len(name)) // an address with one account has a code
				b.open(t, ana)
				path := b.link(t, ana)
				end(b, ana)
				for _, method := range []string{http.MethodGet, http.MethodPost} {
					if status, _ := b.browse(t, method, path, "acct_0000000000000"); status != http.StatusNotFound {
						t.Errorf("%s: got %d, want 404", method, status)
					}
				}
			})
		}
		t.Run("never was", func(t *testing.T) {
			b := setup(t, db)
			for _, path := range []string{LinkPath, LinkPath + "x", LinkPath + strings.Repeat("0", 43), LinkPath + strings.Repeat("/", 43)} {
				t.Run(path, func(t *testing.T) {
					if status, _ := b.browse(t, http.MethodGet, path); status != http.StatusNotFound {
						t.Errorf("%s: got %d, want 404", path, status)
					}
				})
			}
		})
	})
}

func TestStrangersDoNotStopTheOwner(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		const ana = "ana@example.com"
		ctx := context.Background()
		guess := func(t *testing.T, b *bundle, digits, client string) string {
			t.Helper()
			status, _, err := b.Codes.Reissue(ctx, ana, digits, client)
			if err != nil {
				t.Fatal(err)
			}
			return status
		}
		t.Run("by guessing", func(t *testing.T) {
			b := setup(t, db)
			b.open(t, ana)
			digits := b.code(t, ana)
			for i := range 2 * b.cfg.CodeTries {
				want := ReissueInvalidCode
				if i >= b.cfg.CodeTries {
					want = ReissueRateLimited
				}
				if got := guess(t, b, wrong(digits), "198.51.100.9"); got != want {
					t.Errorf("try %d: got %s, want %s", i+1, got, want)
				}
			}
			if got := guess(t, b, digits, "192.0.2.1"); got != ReissueCompleted {
				t.Errorf("the owner: got %s, want completed", got)
			}
		})
		t.Run("by guessing from many addresses", func(t *testing.T) {
			b := setup(t, db)
			account, _ := b.open(t, "many@example.com")
			if err := b.Codes.send(ctx, forRecovery, "many@example.com"); err != nil {
				t.Fatal(err)
			}
			letters := b.post.taken()
			if len(letters) != 1 {
				t.Fatalf("got %d letters, want 1", len(letters))
			}
			digits, path := sixDigits.FindString(letters[0].Text), mailedLink.FindStringSubmatch(letters[0].Text)[1]
			judged := 0
			for i := range 1000 {
				status, _, err := b.Codes.Reissue(ctx, "many@example.com", wrong(digits), fmt.Sprint("198.51.100.", i))
				if err != nil {
					t.Fatal(err)
				}
				if status == ReissueInvalidCode {
					judged++
				}
			}
			if judged != b.cfg.CodeGuesses {
				t.Errorf("got %d guesses judged, want %d", judged, b.cfg.CodeGuesses)
			}
			if status, _ := b.browse(t, http.MethodPost, path, publicid.Format(publicid.Account, account)); status != 200 {
				t.Errorf("the owner's link: got %d, want 200", status)
			}
		})
		t.Run("by asking for mails", func(t *testing.T) {
			b := setup(t, db)
			account, _ := b.open(t, "asked@example.com")
			var digits, path string
			for range 1000 { // for 58 minutes
				if err := b.Codes.send(ctx, forRecovery, "asked@example.com"); err != nil {
					t.Fatal(err)
				}
				for _, letter := range b.post.taken() {
					digits, path = sixDigits.FindString(letter.Text), mailedLink.FindStringSubmatch(letter.Text)[1]
				}
				b.clock = b.clock.Add(3480 * time.Millisecond)
			}
			if status, _ := b.browse(t, http.MethodGet, path); status != 200 {
				t.Errorf("the newest link: got %d, want 200", status)
			}
			status, key, err := b.Codes.Reissue(ctx, "asked@example.com", digits, "192.0.2.1")
			if err != nil || status != ReissueCompleted {
				t.Fatalf("the newest code: got %s, %v, want completed", status, err)
			}
			if _, who := b.state(t, key); who.AccountID != account {
				t.Errorf("got a key of account %d, want one of %d", who.AccountID, account)
			}
		})
	})
}

func TestACodeIsNotPostponedBeyondAnHour(t *testing.T) {
	t.Parallel()
	b := setup(t, storetest.SQLite(t))
	const ana = "ana@example.com"
	b.open(t, ana)
	var digits string
	for range b.cfg.MailsPerHour {
		digits = b.code(t, ana)
	}
	b.clock = b.clock.Add(59 * time.Minute)
	if err := b.Codes.send(context.Background(), forRecovery, ana); err != nil {
		t.Fatal(err)
	}
	if got := len(b.post.taken()); got != 0 {
		t.Fatalf("past the mails of an hour: got %d mails, want 0", got)
	}
	b.clock = b.clock.Add(time.Minute)
	if status, _ := b.reissue(t, ana, digits); status != ReissueInvalidCode {
		t.Errorf("after an hour: got %s, want invalid_code", status)
	}
}

func TestWrongCodesOfAnHourHaveACeiling(t *testing.T) {
	t.Parallel()
	b := setup(t, storetest.SQLite(t))
	b.Codes.wrong.limit = 10
	alarms := 0
	b.Codes.OnGuessing(func() { alarms++ })
	b.open(t, "ana@example.com")
	b.open(t, "bob@example.com")
	digits, others := b.code(t, "ana@example.com"), b.code(t, "bob@example.com")
	guess := func(address, right string) {
		t.Helper()
		for i := range 10 {
			if _, _, err := b.Codes.Reissue(context.Background(), address, wrong(right), fmt.Sprint(address, i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := b.Codes.send(context.Background(), forRecovery, "stranger@example.com"); err != nil {
		t.Fatal(err)
	}
	guess("unknown@example.com", "")  // no code
	guess("stranger@example.com", "") // one that opens nothing
	if b.Codes.wrong.count != 0 {
		t.Fatalf("guesses that cannot be right: got %d counted, want none", b.Codes.wrong.count)
	}
	guess("bob@example.com", others)
	if status, _ := b.reissue(t, "ana@example.com", digits); status != ReissueRateLimited {
		t.Errorf("beyond the ceiling: got %s, want rate_limited", status)
	}
	if alarms != 1 {
		t.Errorf("operators were told %d times, want once", alarms)
	}
	b.clock = b.clock.Add(time.Hour)
	if status, _ := b.reissue(t, "ana@example.com", b.code(t, "ana@example.com")); status != ReissueCompleted {
		t.Errorf("an hour later: got %s, want completed", status)
	}
}

// TestNoStrangerSpendsTheWord: guesses at a code, at this address or others, and requests for
// mails leave the owner the word of the newest mail, once.
func TestNoStrangerSpendsTheWord(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.Codes.wrong.limit = 30
		const ana = "ana@example.com"
		_, key := b.open(t, ana)
		var letter string
		for range 10 { // a stranger's requests; the hour has three mails
			if err := b.Codes.send(context.Background(), forSignIn, ana); err != nil {
				t.Fatal(err)
			}
			if sent := b.post.taken(); len(sent) > 0 {
				letter = sent[0].Text
			}
			b.clock = b.clock.Add(3 * time.Minute)
		}
		digits, word := sixDigits.FindString(letter), mailedWord.FindString(letter)
		try := func(typed, client, want string) {
			t.Helper()
			status, err := b.Codes.SignIn(context.Background(), ana, typed, client, func(context.Context, *store.Tx) error { return nil })
			if err != nil || status != want {
				t.Errorf("a try by %s: got %s and error %v, want %s and no error", client, status, err, want)
			}
		}
		for n := range 40 {
			want := ReissueInvalidCode
			if n >= min(b.cfg.CodeGuesses, b.Codes.wrong.limit) {
				want = ReissueRateLimited
			}
			try(wrong(digits), fmt.Sprint("203.0.113.", n), want)
		}
		try(digits, "192.0.2.1", ReissueRateLimited)
		try(strings.Repeat("x", len(word)), "192.0.2.1", ReissueInvalidCode)
		if status, _ := b.reissue(t, ana, word); status != ReissueInvalidCode {
			t.Errorf("the word of a sign-in for a new key: got %s, want %s", status, ReissueInvalidCode)
		}
		if status, _ := b.browse(t, http.MethodGet, LinkPath+word); status != http.StatusNotFound {
			t.Errorf("the word of a sign-in as a link: got %d, want %d", status, http.StatusNotFound)
		}
		try(word, "192.0.2.1", ReissueCompleted)
		try(word, "192.0.2.1", ReissueInvalidCode)
		if err := b.inForce(t, key); err != nil {
			t.Errorf("the key: got %v, want nil", err)
		}
	})
}

var mailedWord = regexp.MustCompile(`(?m)^[0-9A-Za-z]{43}$`)

// TestACodeIsOfTheOnlyAccount: an account that a stranger opened with the address of another
// one is not what a code opens; the link names both.
func TestACodeIsOfTheOnlyAccount(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		const ana = "ana@example.com"
		_, own := b.open(t, ana)
		strange, _ := b.open(t, ana)
		b.payer.active[strange] = true
		if err := b.Codes.send(context.Background(), forRecovery, ana); err != nil {
			t.Fatal(err)
		}
		letter := b.post.taken()[0]
		if !strings.Contains(letter.Text, LinkPath) || strings.Contains(letter.Text, "one-time code") || sixDigits.MatchString(letter.Subject) {
			t.Errorf("got %q and %s, want a link and no code", letter.Subject, letter.Text)
		}
		for _, digits := range []string{"", "000000"} {
			if status, _ := b.reissue(t, ana, digits); status != ReissueInvalidCode {
				t.Errorf("the code %q: got %s, want %s", digits, status, ReissueInvalidCode)
			}
		}
		if err := b.inForce(t, own); err != nil {
			t.Errorf("the owner's key: got %v, want nil", err)
		}
	})
}

func TestRacingUsesOfALinkMintOneKey(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		account, _ := b.open(t, "ana@example.com")
		token := strings.TrimPrefix(b.link(t, "ana@example.com"), LinkPath)
		var used atomic.Int64
		race(func(int) {
			keys, err := b.Codes.redeem(context.Background(), token, []string{publicid.Format(publicid.Account, account)})
			if err != nil && !errors.Is(err, errLinkEnded) {
				t.Errorf("a late use: got error %v, want %v", err, errLinkEnded)
			}
			used.Add(int64(len(keys)))
		})
		left := storetest.Count(t, db, "SELECT count(*) FROM keys WHERE account_id = $1 AND revoked_at IS NULL", account)
		if used.Load() != 1 || left != 1 {
			t.Errorf("got %d keys minted, %d in force, want 1 and 1", used.Load(), left)
		}
	})
}
