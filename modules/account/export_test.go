package account

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/ent"
	entvideo "github.com/scrollery/scrollery/ent/video"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// owner is the context of a key of an account with these scopes, or with all.
func owner(ctx context.Context, account int64, scopes ...string) context.Context {
	if len(scopes) == 0 {
		scopes = viewer.AllScopes()
	}
	return viewer.NewContext(ctx, &viewer.Viewer{AccountID: account, KeyID: 1, Scopes: scopes})
}

// library stores so many videos of an account, each with two readings.
func library(t testing.TB, db *store.DB, account int64, videos int, caption string) {
	t.Helper()
	ctx := owner(t.Context(), account)
	for from := 0; from < videos; from += 500 {
		numbers := make([]int, min(500, videos-from))
		err := db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			var docs []*ent.VideoDocCreate
			var rows []*ent.VideoCreate
			var readings []*ent.ObservationCreate
			for i := range numbers {
				n, id := from+i, db.NewID()
				external := fmt.Sprintf("v%07d", n)
				order := []byte(strconv.Itoa(n))
				rows = append(rows, tx.Ent().Video.Create().SetID(id).SetAccountID(account).SetPlatform([]string{"tiktok", "youtube"}[n%2]).SetExternalID(external).
					SetSubject("").SetScrollID(1).SetFirstSeenAt(1).SetObservedAt(2).SetDigest(3).SetSeenOrder(order))
				doc := fmt.Sprintf(`{"id":%q,"metadata":{"caption":%q,`+"\n"+`"n":%d}}`, publicid.Format(publicid.Video, id), caption, n)
				docs = append(docs, tx.Ent().VideoDoc.Create().SetID(id).SetAccountID(account).SetDoc(doc).
					SetHook(`,"visual":null,"spoken":"hi","onScreenText":null,"version":1`).SetKeys("hashtag:a\t#a\n"))
				for at := range int64(2) {
					readings = append(readings, tx.Ent().Observation.Create().SetID(db.NewID()).SetAccountID(account).SetVideoID(id).SetScrollID(at+1).
						SetStage("archive").SetObservedAt(at).SetViews(100+at))
				}
			}
			if err := tx.Ent().Video.CreateBulk(rows...).Exec(ctx); err != nil {
				return err
			}
			if err := tx.Ent().VideoDoc.CreateBulk(docs...).Exec(ctx); err != nil {
				return err
			}
			for some := range slices.Chunk(readings, 500) {
				if err := tx.Ent().Observation.CreateBulk(some...).Exec(ctx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// opened reads an export and checks it against its manifest.
func opened(t *testing.T, text []byte) (Manifest, map[string]string) {
	t.Helper()
	reader, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, file := range reader.File {
		in, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(in)
		if err != nil {
			t.Fatalf("%s: %v", file.Name, err)
		}
		files[file.Name] = string(content)
	}
	var manifest Manifest
	if err := json.Unmarshal([]byte(files[ManifestName]), &manifest); err != nil {
		t.Fatal(err)
	}
	for _, listed := range manifest.Files {
		content := files[listed.Name]
		sum := sha256.Sum256([]byte(content))
		if got := hex.EncodeToString(sum[:]); got != listed.SHA256 || int64(len(content)) != listed.Bytes {
			t.Errorf("%s: got %d bytes, %s; want what the manifest has, %+v", listed.Name, len(content), got, listed)
		}
		if lines := int64(strings.Count(content, "\n")); strings.HasSuffix(listed.Name, ".ndjson") && lines != listed.Rows {
			t.Errorf("%s: got %d lines, want the %d of the manifest", listed.Name, lines, listed.Rows)
		}
	}
	if len(files) != len(manifest.Files)+1 {
		t.Errorf("got %d files, want the %d of the manifest", len(files)-1, len(manifest.Files))
	}
	return manifest, files
}

func TestExportHasEverything(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		_, s := setup(db)
		s.exporter.part = 10
		library(t, db, 7, 25, "=1+1")
		library(t, db, 8, 5, "another account")
		ctx := owner(t.Context(), 7)
		err := db.Write(ctx, func(ctx context.Context, tx *store.Tx) error { // of the videos of TikTok
			id := db.NewID()
			err := tx.Ent().Creator.Create().SetID(id).SetAccountID(7).SetPlatform("tiktok").SetKey("handle:ann").SetHandle("ann").
				SetFollowers(1200).SetFollowersAt(34).Exec(ctx)
			if err != nil {
				return err
			}
			return tx.Ent().Video.Update().Where(entvideo.Platform("tiktok")).SetCreatorID(id).SetHandleOnly(1).
				SetEarly(50).SetPeers(2).SetAlike(60).SetAlikeCreators(70).Exec(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
		var whole bytes.Buffer
		if err := s.exporter.export(ctx, &whole); err != nil {
			t.Fatal(err)
		}
		manifest, files := opened(t, whole.Bytes())
		want := map[string]int64{videosName: 25, "hooks": 25, "observations": 50, "scores": 0, filesName: 1}
		for _, name := range smallNames {
			want[name] = 0
		}
		want["changes"] = 3
		if diff := cmp.Diff(want, manifest.Counts); diff != "" {
			t.Errorf("counts, want - got +:\n%s", diff)
		}
		if got := files["files/notes/a.txt"]; got != "hello" {
			t.Errorf(`sandbox file: got %q, want "hello"`, got)
		}
		var parts []string
		seen := map[string]bool{}
		for _, file := range manifest.Files {
			if part, ok := strings.CutPrefix(file.Name, "videos/"); ok && strings.HasSuffix(part, ".ndjson") {
				parts = append(parts, strings.TrimSuffix(part, ".ndjson"))
				for line := range strings.Lines(files[file.Name]) {
					var video struct {
						ExternalID, Platform   string
						Followers, FollowersAt *int64
						Early, OwnVideos       *int64
						AlikeViews             *int64
						AlikeCreators          *int64
						Video                  struct{ Metadata struct{ Caption string } }
						Keys                   []struct{ Key, Label string }
					}
					if err := json.Unmarshal([]byte(line), &video); err != nil || seen[video.ExternalID] {
						t.Fatalf("got the line %q, %v, want a video that did not come before", line, err)
					}
					seen[video.ExternalID] = true
					read := video.Followers != nil && *video.Followers == 1200 && video.FollowersAt != nil && *video.FollowersAt == 34
					if read != (video.Platform == "tiktok") {
						t.Errorf("followers of a creator on %s: got %v at %v, want 1200 at 34 on tiktok alone", video.Platform, video.Followers, video.FollowersAt)
					}
					var early [4]int64
					for i, n := range []*int64{video.Early, video.OwnVideos, video.AlikeViews, video.AlikeCreators} {
						if early[i] = -1; n != nil {
							early[i] = *n
						}
					}
					if want := map[string][4]int64{"tiktok": {50, 2, 60, 70}, "youtube": {-1, -1, -1, -1}}[video.Platform]; early != want {
						t.Errorf("early views on %s: got %v, want %v, where -1 is null", video.Platform, early, want)
					}
					if video.Video.Metadata.Caption != "=1+1" || len(video.Keys) != 1 || video.Keys[0].Label != "#a" {
						t.Errorf(`video: got %+v, want Caption "=1+1", 1 Key and Label "#a"`, video)
					}
				}
			}
		}
		if len(parts) != 3 || parts[0] != firstPart || len(seen) != 25 {
			t.Fatalf("parts %q with %d videos, want 3 with 25", parts, len(seen))
		}
		if strings.Contains(whole.String(), "another account") {
			t.Error("got rows of another account in the export, want none")
		}
	})
}

// TestExportLeavesOutWhatTheKeyMayNotRead: account:export alone reveals neither keys nor
// money, webhooks and sandbox files, and each further scope reveals its own.
func TestExportLeavesOutWhatTheKeyMayNotRead(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	_, s := setup(db)
	library(t, db, 7, 5, "a")
	withheld := []string{"keys", "events", "audit", "subscription", "payments", "ledger", "webhooks", "deliveries", "sources", filesName}
	for name, c := range map[string]struct {
		scopes  []string
		reveals []string
	}{
		"no other scope": {nil, nil},
		"keys":           {[]string{"keys:read"}, []string{"keys", "events"}},
		"billing":        {[]string{"billing:write"}, []string{"subscription", "payments", "ledger"}},
		"both":           {[]string{"keys:read", "billing:write"}, []string{"keys", "events", "audit", "subscription", "payments", "ledger"}},
		"webhooks":       {[]string{"webhooks:read"}, []string{"webhooks", "deliveries"}},
		"sources":        {[]string{"sources:read"}, []string{"sources"}},
		"sandbox":        {[]string{"sandbox:write"}, []string{filesName}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := owner(t.Context(), 7, append(c.scopes, "account:export")...)
			var out bytes.Buffer
			if err := s.exporter.export(ctx, &out); err != nil {
				t.Fatal(err)
			}
			manifest, _ := opened(t, out.Bytes())
			for _, file := range slices.Concat(smallNames, []string{videosName, filesName}) {
				_, got := manifest.Counts[file]
				want := !slices.Contains(withheld, file) || slices.Contains(c.reveals, file)
				if got != want {
					t.Errorf("%s: got in the export %t, want %t", file, got, want)
				}
			}
		})
	}
}

// slow is a reader of an export that takes no more until it may.
type slow struct{ begun, may chan struct{} }

func (w slow) Write(p []byte) (int, error) {
	select {
	case w.begun <- struct{}{}:
	default:
	}
	<-w.may
	return len(p), nil
}

func TestAnAccountRunsOneExportAtATime(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		_, s := setup(db)
		ctx := owner(t.Context(), 7)
		out, ended := slow{make(chan struct{}, 1), make(chan struct{})}, make(chan error, 1)
		go func() { ended <- s.exporter.export(ctx, out) }()
		<-out.begun
		if err := s.exporter.export(ctx, io.Discard); !apierr.Is(err, apierr.RateLimited) {
			t.Errorf("a second one: got %v, want rate_limited", err)
		}
		if err := s.exporter.export(owner(t.Context(), 8), io.Discard); err != nil {
			t.Errorf("one of another account: %v", err)
		}
		close(out.may)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestSlowReadersKeepNoOtherExportWaiting(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	_, s := setup(db)
	may, ended := make(chan struct{}), make(chan error, exports)
	for i := range exports {
		out := slow{make(chan struct{}, 1), may}
		go func() { ended <- s.exporter.export(owner(t.Context(), int64(7+i)), out) }()
		<-out.begun
	}
	ctx, cancel := context.WithTimeout(owner(t.Context(), 20), 2*time.Minute)
	defer cancel()
	if err := s.exporter.export(ctx, io.Discard); err != nil {
		t.Errorf("an export beside %d whose readers are slow: got %v, want none", exports, err)
	}
	close(may)
	for range exports {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// TestExportOfMany measures by hand: SCROLLERY_TEST_EXPORT is the number of videos.
func TestExportOfMany(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("SCROLLERY_TEST_EXPORT"))
	if err != nil {
		t.Skip("SCROLLERY_TEST_EXPORT names no number of videos")
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		_, s := setup(db)
		library(t, db, 7, n, strings.Repeat("a caption of some words ", 40))
		runtime.GC()
		var before runtime.MemStats
		runtime.ReadMemStats(&before)
		var most uint64
		memory, mostMemory := resident(), 0
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			for {
				select {
				case <-stop:
					return
				case <-time.After(20 * time.Millisecond):
					var now runtime.MemStats
					runtime.ReadMemStats(&now)
					most, mostMemory = max(most, now.HeapInuse), max(mostMemory, resident())
				}
			}
		}()
		began := time.Now()
		size := &counted{to: io.Discard, sum: sha256.New()}
		if err := s.exporter.export(owner(t.Context(), 7), size); err != nil {
			t.Fatal(err)
		}
		close(stop)
		took := time.Since(began)
		<-stopped
		t.Logf("%d videos: %v, %.0f a second, %d MB written; heap in use %d MB before, at most %d MB; anonymous memory %d MB before, at most %d MB, %d MB afterwards",
			n, took.Round(time.Millisecond), float64(n)/took.Seconds(), size.size>>20, before.HeapInuse>>20, most>>20, memory>>10, mostMemory>>10, resident()>>10)
	})
}

// resident is how many KiB of anonymous memory the process has, with what SQLite holds; 0
// where the system does not say.
func resident() (kib int) {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kib, _ = strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
		}
	}
	return kib
}

// TestExportLeavesListsOfVideosUnread: those of the trends are no part of an export, and have
// megabytes each in a large library.
func TestExportLeavesListsOfVideosUnread(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		_, s := setup(db)
		mine := db.NewID()
		fill(t, db, mine, 3)
		var mu sync.Mutex
		var trends, lists []string
		db.Watch(func(query string) {
			mu.Lock()
			defer mu.Unlock()
			if strings.Contains(query, "trends") {
				trends = append(trends, query)
			}
			if strings.Contains(query, "members") || strings.Contains(query, "recent") {
				lists = append(lists, query)
			}
		})
		var out bytes.Buffer
		if err := s.exporter.export(owner(t.Context(), mine), &out); err != nil {
			t.Fatal(err)
		}
		manifest, _ := opened(t, out.Bytes())
		mu.Lock()
		defer mu.Unlock()
		if manifest.Counts["trends"] != 3 || len(trends) == 0 || len(lists) > 0 {
			t.Errorf("%d trends by %q, of which with lists of videos %q; want 3, some and none", manifest.Counts["trends"], trends, lists)
		}
	})
}

// TestEveryTableIsExportedOrNamed holds the files of an export against the tables with rows
// of an account: a new table belongs to a file, or has a reason to stay out.
func TestEveryTableIsExportedOrNamed(t *testing.T) {
	t.Parallel()
	file := map[string]string{
		"workspaces": "workspace", "rulesets": "rules", "rule_items": "ruleItems", "recurrences": "schedule", "scrolls": "scrolls",
		"verdicts": "verdicts", "trends": "trends", "keys": "keys", "subscriptions": "subscription", "checkouts": "payments",
		"credit_entries": "ledger", "usage_counters": "usage", "audit_entries": "audit", "usage_events": "events", "changes": "changes",
		"account_sources": "sources", "webhooks": "webhooks", "webhook_deliveries": "deliveries", "videos": videosName, "video_docs": videosName, "creators": videosName,
		"collections": "collections", "collection_videos": "collectionVideos", "frames": "frames",
		"imports": "imports", "observations": "observations", "score_points": "scores", "sandbox_files": filesName,
	}
	staysOut := map[string]string{
		"authorizations":      "a secret of an hour at most: what a program signs in with",
		"codes":               "a secret of minutes: the hash of a mailed code",
		"credit_balances":     "the sum of the ledger",
		"deletions":           "the log of what the account deleted, which its list has",
		"deleted_videos":      "sealed copies of what was deleted, for a day: an export has what is there",
		"tombstones":          "hashes of what was deleted, which name nothing",
		"unscored_libraries":  "work that is left to do on scores",
		"feeds":               "the number of the last change",
		"libraries":           "counters of the library's revisions",
		"scroll_counts":       "derived from scrolls",
		"source_counts":       "derived from observations",
		"library_runs":        "derived from scrolls and observations",
		"niches":              "derived from the scores",
		"trend_windows":       "derived from observations",
		"uncounted_videos":    "work that is left to do on trends",
		"video_terms":         "derived from the documents: the index of words",
		"unindexed_libraries": "work that is left to do on that index",
		"quota_entries":       "the provider's quota, an operator's",
		"shares":              "addresses that are hashes, and headings of pages, which their list has",
		"share_items":         "copies of what an export has, until their share ends",
		"source_pages":        "public pages of sites, for all accounts",
		"source_states":       "where sources go on, which they alone can read",
		"charges":             "a fee that is returned where a call was cut off",
		"import_parts":        "parts of a file, until its import has ended",
		"scroll_records":      "what a running scroll has gathered: it becomes videos",
	}
	files := slices.Concat(smallNames, []string{videosName, "hooks", "observations", "scores", filesName})
	has := map[string]bool{"hooks": true} // a column of the documents
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		tables := left(t, db, db.NewID())
		delete(tables, "accounts")
		for table := range tables {
			name, exported := file[table]
			has[name] = true
			if exported == (staysOut[table] != "") || exported && !slices.Contains(files, name) {
				t.Errorf("table %s: got file %q and reason %q to stay out, want one of them, and a file of the export", table, name, staysOut[table])
			}
		}
		for _, name := range files {
			if !has[name] {
				t.Errorf("file %s: got no table that it is of, want one", name)
			}
		}
	})
}

// TestExportReadsBesideReaders: it takes none of the connections that other callers read by.
func TestExportReadsBesideReaders(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	_, s := setup(db)
	library(t, db, 7, 25, "a caption")
	for range db.Stats()[0].Max {
		rows, err := db.HotTenantless("SELECT id FROM videos", "a test").Query(t.Context())
		if err != nil || !rows.Next() {
			t.Fatalf("take a reader: %v, %v", err, rows.Err())
		}
		defer rows.Close() //nolint:errcheck // gives the connection back
	}
	ctx, cancel := context.WithTimeout(viewer.As(t.Context(), 7), time.Minute)
	defer cancel()
	if err := s.exporter.export(ctx, io.Discard); err != nil {
		t.Errorf("while all readers are taken: got %v, want none", err)
	}
}
