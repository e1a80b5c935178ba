package scoring

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/go-json-experiment/json"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/libraryrun"
	enttrend "github.com/scrollery/scrollery/ent/trend"
	"github.com/scrollery/scrollery/ent/trendwindow"
	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// renderTrend returns a Trend without its examples, open at the end.
func renderTrend(t *score.Trend) (string, error) {
	type metrics struct {
		VideoCount           int     `json:"videoCount"`
		MedianGrowthMultiple float64 `json:"medianGrowthMultiple"`
	}
	text, err := json.Marshal(struct {
		Key     string  `json:"key"`
		Label   string  `json:"label"`
		Metrics metrics `json:"metrics"`
	}{t.Key, t.Label, metrics{t.VideoCount, t.MedianGrowth.Float64()}}, videos.AsWritten())
	if err != nil {
		return "", fmt.Errorf("render trend: %w", err)
	}
	return string(text[:len(text)-1]) + `,"examples":[`, nil
}

// scoreTrends measures the trends of the scroll's subject.
func (tr *Trends) scoreTrends(ctx context.Context, scrollID int64) error {
	subject, found, err := tr.scrolls.SubjectOf(ctx, scrollID)
	if err != nil || !found {
		return err
	}
	if err := tr.saveRun(ctx, subject, scrollID); err != nil {
		return err
	}
	return tr.MeasureTrends(ctx, subject, scrollID)
}

// MeasureTrends replaces the trends of a subject; without a usable reading it has none. ending is a scroll that counts as
// completed, 0 for none.
func (tr *Trends) MeasureTrends(ctx context.Context, subject string, ending int64) error {
	return tr.update(ctx, func(ctx context.Context, read videos.Reader) (writes, error) {
		w, err := tr.windows.gather(ctx, read, subject, ending)
		if err != nil {
			return nil, err
		}
		if w == nil {
			measured, err := read.TrendWindow.Query().Where(trendwindow.Subject(subject)).Exist(ctx)
			if err != nil || !measured {
				return nil, err
			}
			return writes{func(ctx context.Context, tx *store.Tx) error { return tr.clearTrends(ctx, tx, subject) }}, nil
		}
		rows := trendRows(w)
		return writes{func(ctx context.Context, tx *store.Tx) error {
			return tr.saveTrends(ctx, tx, subject, w.Totals(), rows)
		}}, nil
	})
}

// saveRun notes what a scroll observed. A scroll without an observation leaves nothing.
func (tr *Trends) saveRun(ctx context.Context, subject string, scrollID int64) error {
	account, err := videos.Account(ctx)
	if err != nil {
		return err
	}
	observed := tr.db.Hot(`SELECT MIN(o.observed_at) AS first_at, MAX(o.observed_at) AS last_at,
MAX(CASE WHEN o.views > 0 AND o.views <= 9007199254740992 AND (o.likes IS NULL OR o.likes <= o.views) THEN o.observed_at END) AS usable_at,
COUNT(CASE WHEN v.scroll_id <> o.scroll_id THEN 1 END) AS repeats
FROM observations o CROSS JOIN videos v WHERE {tenant:o} AND o.scroll_id = $1 AND v.id = o.video_id AND +{tenant:v}`)
	// What is deleted meanwhile must not be counted: nothing marks the run again after it.
	return tr.update(ctx, func(ctx context.Context, read videos.Reader) (writes, error) {
		run, _, err := store.OneIn[struct {
			FirstAt, LastAt, UsableAt *int64
			Repeats                   int64
		}](ctx, read.Tx, observed, scrollID)
		if err != nil {
			return nil, fmt.Errorf("read what scroll %d observed: %w", scrollID, err)
		}
		if run.FirstAt == nil {
			return nil, nil
		}
		return writes{func(ctx context.Context, tx *store.Tx) error {
			create := tx.Ent().LibraryRun.Create().SetID(tr.db.NewID()).SetAccountID(account).SetSubject(subject).SetScrollID(scrollID).
				SetFirstAt(*run.FirstAt).SetLastAt(*run.LastAt).SetRepeats(run.Repeats).SetNillableUsableAt(run.UsableAt)
			err := create.OnConflict(entsql.ConflictColumns(libraryrun.FieldAccountID, libraryrun.FieldScrollID), entsql.ResolveWith(func(u *entsql.UpdateSet) {
				u.SetExcluded(libraryrun.FieldFirstAt).SetExcluded(libraryrun.FieldLastAt).SetExcluded(libraryrun.FieldUsableAt).SetExcluded(libraryrun.FieldRepeats)
			})).Exec(ctx)
			if err != nil {
				return fmt.Errorf("save the run of scroll %d: %w", scrollID, err)
			}
			return nil
		}}, nil
	})
}

// trendRow is a key as one of the two lists has it: with or without archived videos.
type trendRow struct {
	score.Trend
	withArchived bool
	members      func() []score.Member // nil in the list without archived videos
}

// trendRows are the keys of both lists of a window, with those that are not shown because
// they overlap with one above them. The list with archived videos has every key that can
// ever be in the other one: archiving a video only lowers what its keys count.
func trendRows(w *score.Window) (rows []trendRow) {
	var listed, same []score.Trend
	for _, withArchived := range []bool{true, false} {
		if withArchived || w.Archived() { // without archived videos both lists are the same
			listed, same = w.Trends(withArchived)
		}
		for _, t := range slices.Concat(listed, same) {
			row := trendRow{Trend: t, withArchived: withArchived}
			if withArchived {
				row.members = func() []score.Member { return w.Members(t.Key) }
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// totalsOf are the totals of a stored window.
func totalsOf(row *ent.TrendWindow) score.Totals {
	return score.Totals{T: row.NewestAt, Span: row.Span, Videos: row.Videos, Recent: row.Recent, Earlier: row.Earlier}
}

// saveTrends replaces a subject's window and its trends.
func (tr *Trends) saveTrends(ctx context.Context, tx *store.Tx, subject string, of score.Totals, rows []trendRow) error {
	account, err := videos.Account(ctx)
	if err != nil {
		return err
	}
	err = tx.Ent().TrendWindow.Create().SetID(tr.db.NewID()).SetAccountID(account).SetSubject(subject).
		SetNewestAt(of.T).SetSpan(of.Span).SetVideos(of.Videos).SetRecent(of.Recent).SetEarlier(of.Earlier).
		OnConflict(entsql.ConflictColumns(trendwindow.FieldAccountID, trendwindow.FieldSubject), entsql.ResolveWith(func(u *entsql.UpdateSet) {
			u.SetExcluded(trendwindow.FieldNewestAt).SetExcluded(trendwindow.FieldSpan).SetExcluded(trendwindow.FieldVideos).
				SetExcluded(trendwindow.FieldRecent).SetExcluded(trendwindow.FieldEarlier)
		})).Exec(ctx)
	if err != nil {
		return fmt.Errorf("save trend window: %w", err)
	}
	var now []string
	for i := range rows {
		if !rows[i].withArchived && rows[i].Drop == score.Kept {
			now = append(now, rows[i].Key)
		}
	}
	if err := relisted(ctx, tx, subject, now); err != nil {
		return err
	}
	if _, err := tx.Ent().Trend.Delete().Where(enttrend.Subject(subject)).Exec(ctx); err != nil {
		return fmt.Errorf("delete trends: %w", err)
	}
	return tr.addTrends(ctx, tx, account, subject, rows)
}

// addTrends stores trends, some at a time: those of a large window have many members.
func (tr *Trends) addTrends(ctx context.Context, tx *store.Tx, account int64, subject string, rows []trendRow) error {
	var creates []*ent.TrendCreate
	packed := 0
	for i := range rows {
		t := &rows[i]
		row, size, err := tr.trendCreate(tx, account, subject, t)
		if err != nil {
			return err
		}
		creates, packed = append(creates, row), packed+size
		if i < len(rows)-1 && len(creates) < trendsAtOnce && packed < packedAtOnce {
			continue
		}
		if err := tx.Ent().Trend.CreateBulk(creates...).Exec(ctx); err != nil {
			return fmt.Errorf("add trends: %w", err)
		}
		creates, packed = creates[:0], 0
	}
	return nil
}

// trendsAtOnce bounds the trends of a statement, and packedAtOnce the bytes of their
// members, but for those of the last one.
const (
	trendsAtOnce = 100
	packedAtOnce = 1 << 20
)

// trendCreate is the row of a trend, and the bytes of its members.
func (tr *Trends) trendCreate(tx *store.Tx, account int64, subject string, t *trendRow) (row *ent.TrendCreate, size int, err error) {
	head, err := renderTrend(&t.Trend)
	if err != nil {
		return nil, 0, err
	}
	recent := packRecent(&t.Trend)
	row = tx.Ent().Trend.Create().SetID(tr.db.NewID()).SetAccountID(account).SetSubject(subject).SetWithArchived(videos.Flag(t.withArchived)).
		SetKey(t.Key).SetLabel(t.Label).SetPlace(t.AppendKey(nil)).SetListed(videos.Flag(t.Drop == score.Kept)).SetHead(head).SetVideoCount(t.VideoCount).
		SetRecent(recent)
	examples := append(slices.Clone(t.Examples), 0, 0, 0)
	row.SetNillableExample1(orNil(examples[0]))
	row.SetNillableExample2(orNil(examples[1]))
	row.SetNillableExample3(orNil(examples[2]))
	size = len(recent)
	if t.members != nil {
		members := packMembers(t.members())
		row.SetMembers(members)
		size += len(members)
	}
	return row, size, nil
}

func orNil(id int64) *int64 {
	if id == 0 {
		return nil
	}
	return &id
}

// relisted adds to the feed which trends enter or leave the list without archived videos. It
// is called before the list changes; now are the keys that it will have.
func relisted(ctx context.Context, tx *store.Tx, subject string, now []string) error {
	before, err := tx.Ent().Trend.Query().Where(enttrend.Subject(subject), enttrend.WithArchived(0), enttrend.Listed(1)).
		Select(enttrend.FieldKey).Strings(ctx)
	if err != nil {
		return fmt.Errorf("read listed trends: %w", err)
	}
	return feed.Append(ctx, tx, trendChanges(before, now, videos.ScrollOf(ctx))...)
}

// trendChanges are the entries in the feed between two lists of keys. A key is a creator's
// text: the feed has its hash.
func trendChanges(before, now []string, scroll int64) (entries []feed.Change) {
	add := func(kind feed.Kind, keys, others []string) {
		for _, key := range slices.Sorted(slices.Values(keys)) {
			if !slices.Contains(others, key) {
				entries = append(entries, feed.Change{Kind: kind, Scroll: scroll, Word: KeyHash(key)})
			}
		}
	}
	add(feed.TrendEntered, now, before)
	add(feed.TrendLeft, before, now)
	return entries
}

// KeyHash is what the feed has of a trend's key: the first 32 hexadecimal digits of SHA-256.
func KeyHash(key string) string {
	hash := sha256.Sum256([]byte(key))
	return hex.EncodeToString(hash[:16])
}

// packRecent packs the ids of a trend's recent videos, eight bytes each, and behind them what
// the lists of ours show: see videos.Lately.
func packRecent(t *score.Trend) []byte {
	packed := make([]byte, 0, 8*len(t.RecentVideos)+videos.LatelySize)
	for _, id := range t.RecentVideos {
		packed = binary.BigEndian.AppendUint64(packed, uint64(id))
	}
	return videos.AppendLately(packed, t)
}

func unpackIDs(packed []byte) []int64 {
	packed = videos.WithoutLately(packed)
	ids := make([]int64, len(packed)/8)
	for i := range ids {
		ids[i] = int64(binary.BigEndian.Uint64(packed[8*i:]))
	}
	return ids
}

// memberSize is the length of a packed member: video and creator, eight bytes each, the bits
// of what it is, first and last views, eight bytes each.
const memberSize = 33

// The bits of what a member is. The lowest two are its When, those from 32 on its Lately; 8
// may be set in older rows.
const (
	memberArchived = 4
	memberGrown    = 16
	memberLately   = 5 // places to the left
)

// packMembers packs the videos that carry a key, with what each adds to its numbers: then
// archiving one of them reads no other row.
func packMembers(members []score.Member) []byte {
	packed := make([]byte, 0, memberSize*len(members))
	for i := range members {
		m := &members[i]
		what := byte(m.When) | byte(m.Lately)<<memberLately
		if m.Archived {
			what |= memberArchived
		}
		if m.Grown {
			what |= memberGrown
		}
		packed = binary.BigEndian.AppendUint64(packed, uint64(m.ID))
		packed = binary.BigEndian.AppendUint64(packed, uint64(m.Creator))
		packed = append(packed, what)
		packed = binary.BigEndian.AppendUint64(packed, uint64(m.FirstViews))
		packed = binary.BigEndian.AppendUint64(packed, uint64(m.LastViews))
	}
	return packed
}

func unpackMembers(packed []byte) ([]score.Member, error) {
	if len(packed)%memberSize != 0 {
		return nil, fmt.Errorf("read trend members: %d bytes", len(packed))
	}
	members := make([]score.Member, len(packed)/memberSize)
	for i := range members {
		p := packed[i*memberSize:]
		members[i] = score.Member{
			ID: int64(binary.BigEndian.Uint64(p)), Creator: int64(binary.BigEndian.Uint64(p[8:])),
			When: score.When(p[16] & 3), Lately: score.Lately(p[16] >> memberLately & 3), Archived: p[16]&memberArchived != 0, Grown: p[16]&memberGrown != 0,
			FirstViews: int64(binary.BigEndian.Uint64(p[17:])), LastViews: int64(binary.BigEndian.Uint64(p[25:])),
		}
	}
	return members, nil
}
