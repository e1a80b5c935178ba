package library

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/removal"
	"github.com/scrollery/scrollery/modules/library/videos"
	"github.com/scrollery/scrollery/plugins/stage"
)

// look archives a reading of api with three frames of a video, where so many keep theirs.
func (b *bundle) look(scroll int64, id, words string, framed int) {
	b.t.Helper()
	b.runs.subjects[scroll] = b.runs.subject
	r := clip(id, "maker", 1000)
	r.Metrics.ObservedAt = ptr(now + scroll)
	var frames []stage.Frame
	for n := range 3 {
		frames = append(frames, stage.Frame{At: int64(n) * 1000, WebP: fmt.Appendf(nil, "%s%d", words, n)})
	}
	err := b.db.Write(b.ctx, func(ctx context.Context, tx *store.Tx) error {
		_, _, err := b.Archive(ctx, tx, videos.Batch{
			ScrollID: scroll, Subject: b.runs.subject, Stage: "api", At: now + scroll, Records: []stage.Record{r},
			Frames: map[stage.Ref][]stage.Frame{r.Ref: frames}, FramedVideos: framed,
		})
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// raised is how often the library changed.
func (b *bundle) raised() int64 {
	b.t.Helper()
	revision, err := b.Revision(b.ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	return revision
}

// frame has so many videos that are not in the library keep frames.
func (b *bundle) frame(videos, each int) {
	b.t.Helper()
	err := b.db.Write(b.ctx, func(ctx context.Context, tx *store.Tx) error {
		for range videos {
			video := b.db.NewID()
			for place := range each {
				if err := tx.Ent().Frame.Create().SetID(b.db.NewID()).SetAccountID(7).SetVideoID(video).SetPlace(place).SetAt(place).SetWebp([]byte("x")).Exec(ctx); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// framed are the frames of a video, in words.
func (b *bundle) framed(id string) (all string) {
	b.t.Helper()
	frames, err := b.explainer.Frames(b.ctx, b.idOf(id))
	if err != nil {
		b.t.Fatal(err)
	}
	for n, f := range frames {
		if f.At != 1000*n {
			b.t.Errorf("frame %d of %s is of %d ms", n, id, f.At)
		}
		all += string(f.Webp) + " "
	}
	return all
}

func TestFrames(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		other := b.as(8)
		want := func(t *testing.T, id, frames string) {
			t.Helper()
			if got := b.framed(id); got != frames {
				t.Errorf("frames of %s: got %q, want %q", id, got, frames)
			}
		}
		b.look(1, "first", "f", 3)
		b.look(1, "second", "s", 3)
		other.look(2, "theirs", "t", 3)

		t.Run("another look replaces them, and they are the newest", func(t *testing.T) {
			b.look(3, "first", "again", 3)
			want(t, "first", "again0 again1 again2 ")
			want(t, "second", "s0 s1 s2 ")
		})
		t.Run("another account reads none of them", func(t *testing.T) {
			if frames, err := other.explainer.Frames(other.ctx, b.idOf("first")); err != nil || len(frames) != 0 {
				t.Errorf("got %d, %v; want none", len(frames), err)
			}
		})
		t.Run("the oldest go, whole, when there are more", func(t *testing.T) {
			b.look(4, "third", "c", 3)
			want(t, "second", "s0 s1 s2 ")
			b.look(5, "fourth", "d", 3)
			want(t, "second", "")
			for id, words := range map[string]string{"first": "again", "third": "c", "fourth": "d"} {
				want(t, id, fmt.Sprintf("%[1]s0 %[1]s1 %[1]s2 ", words))
			}
		})
		t.Run("a deletion takes them, and an undo brings them back", func(t *testing.T) {
			d := b.remove(removal.Order{VideoID: b.idOf("third")})
			if n := b.count("frames WHERE account_id = 7"); n != 6 {
				t.Errorf("got %d frames left, want 6", n)
			}
			b.undo(d.ID)
			want(t, "third", "c0 c1 c2 ")
		})
		t.Run("they go with the texts of their video", func(t *testing.T) {
			rule := retention[0]
			rule.Texts = true
			for done := false; !done; {
				var err error
				if _, _, done, err = b.Sweep(b.ctx, rule, time.UnixMilli(now+40*day)); err != nil {
					t.Fatal(err)
				}
			}
			if n := b.count("frames WHERE account_id = 7"); n != 0 {
				t.Errorf("got %d frames left, want none", n)
			}
		})
		t.Run("a plan or an operator who keeps none deletes all, of the account alone", func(t *testing.T) {
			b.look(6, "fifth", "e", 3)
			b.look(7, "sixth", "g", 0)
			want(t, "sixth", "")
			want(t, "fifth", "e0 e1 e2 ")
			if err := b.KeepFrames(b.ctx, 0); err != nil {
				t.Fatal(err)
			}
			want(t, "fifth", "")
			if got := other.framed("theirs"); got != "t0 t1 t2 " {
				t.Errorf("of the other account: got %q, want all", got)
			}
		})
		t.Run("very many go in pieces of whole videos", func(t *testing.T) {
			b.frame(450, 3)
			before := b.raised()
			if err := b.KeepFrames(b.ctx, 10); err != nil {
				t.Fatal(err)
			}
			if n := b.count("frames WHERE account_id = 7"); n != 30 {
				t.Errorf("got %d frames left, want 30", n)
			}
			if pieces := b.raised() - before; pieces != 3 {
				t.Errorf("got %d pieces, want 3", pieces)
			}
			if err := b.KeepFrames(b.ctx, 10); err != nil || b.raised() != before+3 {
				t.Errorf("with nothing to delete: got revision %d, %v; want %d", b.raised(), err, before+3)
			}
			if err := b.KeepFrames(b.ctx, 0); err != nil {
				t.Fatal(err)
			}
		})
		t.Run("they go with what a source read", func(t *testing.T) {
			other.sweep(40)
			if n := other.count("frames"); n != 0 {
				t.Errorf("got %d frames left, want none", n)
			}
		})
	})
}
