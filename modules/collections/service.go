package collections

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

const (
	// MaxCollections is how many an account may have.
	MaxCollections = 200
	// MaxVideos is how many videos a collection may have.
	MaxVideos = 500
)

// Library is the need of the tenant's videos.
type Library interface {
	// Present returns those of some videos that the library has, in the transaction.
	Present(ctx context.Context, tx *store.Tx, ids []int64) ([]int64, error)
	// Videos returns the videos of public ids in their order, those that are there, as REST
	// shows them by their ids.
	Videos(ctx context.Context, ids []string) ([]byte, error)
}

// Collection is an ordered list of videos with a name.
type Collection struct {
	ID                   int64
	Name, Note           string
	Videos               int
	CreatedAt, UpdatedAt int64 // Unix milliseconds
}

// Member is a video of a collection.
type Member struct {
	ID, Video int64
	// Position is the sort key.
	Position int64
	Note     string
	AddedAt  int64 // Unix milliseconds
}

// Service keeps collections. It is safe for concurrent use.
type Service struct {
	db      *store.DB
	library Library
	now     func() time.Time
}

// New returns the service.
func New(db *store.DB, library Library) *Service {
	return &Service{db: db, library: library, now: time.Now}
}

// Create makes a collection, or returns the one of that name as it is. It fails with
// OperationError beyond MaxCollections.
func (s *Service) Create(ctx context.Context, name, note string) (c *Collection, created bool, err error) {
	now := s.now().UnixMilli()
	err = s.change(ctx, func(ctx context.Context, tx *store.Tx) error {
		if c, err = named(ctx, tx, name); err != nil || c != nil {
			created = false
			return err
		}
		count, err := tx.Ent().Collection.Query().Count(ctx)
		if err != nil {
			return fmt.Errorf("count collections: %w", err)
		}
		if count >= MaxCollections {
			return apierr.New(apierr.OperationError, "An account may have %d collections. Delete one first.", MaxCollections)
		}
		created, c = true, &Collection{ID: s.db.NewID(), Name: name, Note: note, CreatedAt: now, UpdatedAt: now}
		return insert(ctx, tx, c)
	})
	return c, created, err
}

// Update changes what is not nil. It returns nil for an unknown collection.
func (s *Service) Update(ctx context.Context, id int64, name, note *string) (c *Collection, err error) {
	err = s.changeOne(ctx, id, &c, func(ctx context.Context, tx *store.Tx) error {
		if name != nil {
			switch other, err := named(ctx, tx, *name); {
			case err != nil:
				return err
			case other != nil && other.ID != id:
				return apierr.Invalid("name", "is the name of another collection")
			}
			c.Name = *name
		}
		if note != nil {
			c.Note = *note
		}
		return nil
	})
	return c, err
}

// Add adds videos behind the last one, and gives all of them the note, if it is not nil. Those
// that are in the collection keep their place. missing are the ids without a video. It returns
// nil for an unknown collection, and adds none if there would be more than MaxVideos.
func (s *Service) Add(ctx context.Context, id int64, videos []string, note *string) (c *Collection, added int, missing []string, err error) {
	err = s.changeOne(ctx, id, &c, func(ctx context.Context, tx *store.Tx) error {
		ids, unknown := numbers(videos)
		there, err := s.library.Present(ctx, tx, ids)
		if err != nil {
			return err
		}
		missing, added = unknown, 0
		isThere := setOf(there)
		before, err := among(ctx, tx, id, ids)
		if err != nil {
			return err
		}
		last, err := end(ctx, tx, id)
		if err != nil {
			return err
		}
		var members []Member
		for _, video := range ids {
			switch {
			case !isThere[video]:
				missing = append(missing, publicid.Format(publicid.Video, video))
			case !before[video]:
				members = append(members, Member{Video: video})
			}
		}
		if added = len(members); c.Videos+added > MaxVideos {
			return apierr.New(apierr.OperationError, "A collection may have %d videos; this one has %d. Take some out, or make another one.", MaxVideos, c.Videos)
		}
		if last > top-int64(added)*gap {
			if last, err = spread(ctx, tx, id); err != nil {
				return err
			}
		}
		for i := range members {
			m := &members[i]
			last += gap
			m.ID, m.Position, m.AddedAt = s.db.NewID(), last, s.now().UnixMilli()
			if note != nil {
				m.Note = *note
			}
		}
		if note != nil {
			if err := annotate(ctx, tx, id, ids, *note); err != nil {
				return err
			}
		}
		c.Videos += added
		return insertMembers(ctx, tx, id, members)
	})
	return c, added, missing, err
}

// Remove takes videos out and returns how many were in it; nil for an unknown collection.
func (s *Service) Remove(ctx context.Context, id int64, videos []string) (c *Collection, removed int, err error) {
	err = s.changeOne(ctx, id, &c, func(ctx context.Context, tx *store.Tx) error {
		ids, _ := numbers(videos)
		removed, err = remove(ctx, tx, id, ids)
		c.Videos -= removed
		return err
	})
	return c, removed, err
}

// Move moves a video to the place before or after another one. found is false unless the
// collection has both.
func (s *Service) Move(ctx context.Context, id, video, anchor int64, isAfter bool) (found bool, err error) {
	var c *Collection
	err = s.changeOne(ctx, id, &c, func(ctx context.Context, tx *store.Tx) error {
		has, err := among(ctx, tx, id, []int64{video, anchor})
		if found = has[video] && has[anchor]; err != nil || !found || video == anchor {
			return err
		}
		to, ok, err := between(ctx, tx, id, video, anchor, isAfter)
		if err == nil && !ok {
			if _, err = spread(ctx, tx, id); err == nil {
				to, _, err = between(ctx, tx, id, video, anchor, isAfter)
			}
		}
		if err != nil {
			return err
		}
		return place(ctx, tx, id, video, to)
	})
	return found && c != nil, err
}

// idOf is 0 for a text that is the id of no collection.
func idOf(text string) int64 {
	id, _ := publicid.Parse(publicid.Collection, text)
	return id
}

// numbers are the ids of videos, each once, and the texts that are none.
func numbers(texts []string) (ids []int64, unknown []string) {
	seen := map[string]bool{}
	for _, text := range texts {
		if seen[text] {
			continue
		}
		seen[text] = true
		if id, ok := publicid.Parse(publicid.Video, text); ok {
			ids = append(ids, id)
		} else {
			unknown = append(unknown, text)
		}
	}
	return ids, unknown
}

func setOf(ids []int64) map[int64]bool {
	set := make(map[int64]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// Page is a part of a collection.
type Page struct {
	Collection *Collection
	// Members are the videos that are there, and Items what REST shows of each.
	Members []Member
	Items   []json.RawMessage
	// Next is the position that the next page begins behind; 0 at the end.
	Next int64
}

// Read returns at most limit videos of a collection behind a position; nil for an unknown
// collection.
func (s *Service) Read(ctx context.Context, id, after int64, limit int) (*Page, error) {
	c, err := load(ctx, s.db.Ent(), id)
	if err != nil || c == nil {
		return nil, err
	}
	p := &Page{Collection: c}
	members, err := s.members(ctx, id, after, limit+1)
	if err != nil {
		return nil, err
	}
	if len(members) > limit {
		members = members[:limit]
		p.Next = members[limit-1].Position
	}
	if len(members) == 0 {
		return p, nil
	}
	ids := make([]string, len(members))
	for i := range members {
		ids[i] = publicid.Format(publicid.Video, members[i].Video)
	}
	text, err := s.library.Videos(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read the videos of collection %d: %w", id, err)
	}
	var found struct {
		Videos  []json.RawMessage
		Missing []string
	}
	if err := json.Unmarshal(text, &found); err != nil {
		return nil, fmt.Errorf("read the videos of collection %d: %w", id, err)
	}
	gone := strings.Join(found.Missing, " ") // deleted since the members were read
	for i, m := range members {
		if !strings.Contains(gone, ids[i]) {
			p.Members = append(p.Members, m)
		}
	}
	if p.Items = found.Videos; len(p.Items) != len(p.Members) {
		return nil, fmt.Errorf("got %d of %d videos of collection %d", len(p.Items), len(p.Members), id)
	}
	return p, nil
}

// First returns the public ids of the first videos of a collection; found is false for an unknown
// one.
func (s *Service) First(ctx context.Context, id string, most int) (videos []string, found bool, err error) {
	c, err := load(ctx, s.db.Ent(), idOf(id))
	if err != nil || c == nil {
		return nil, false, err
	}
	members, err := s.members(ctx, c.ID, 0, most)
	for _, m := range members {
		videos = append(videos, publicid.Format(publicid.Video, m.Video))
	}
	return videos, err == nil, err
}
