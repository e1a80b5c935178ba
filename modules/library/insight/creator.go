package insight

import (
	"context"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/library/score"
)

// mostCreatorVideos bounds the videos that the facts of a creator are worked out from.
const mostCreatorVideos = 5000

// Creator has the facts of one creator.
type Creator struct {
	Platform string
	// CreatorID is the platform's own id; Handle is the last one. Both are untrusted, and
	// empty if unknown.
	CreatorID, Handle string
	// Followers are nil if no source read them.
	Followers, FollowersAt *int64
	// Videos counts all, LookedAt those that the rest is of, Archived the archived ones of these.
	Videos, LookedAt, Archived int
	Kinds                      []CreatorKind
	Rhythm                     score.Rhythm
}

// CreatorKind are the facts of one kind, and how many of its videos are outliers.
type CreatorKind struct {
	score.KindFacts
	Outliers int
}

// CreatorOf returns the facts of the creator of a video; nil if the tenant has no such
// video, or where its creator is unknown.
func (s *Service) CreatorOf(ctx context.Context, videoID string) (*Creator, error) {
	number, ok := publicid.Parse(publicid.Video, videoID)
	if !ok {
		return nil, nil
	}
	row, err := s.row(ctx, number)
	if err != nil || row == nil || row.CreatorID == nil {
		return nil, err
	}
	return s.creator(ctx, *row.CreatorID)
}

// CreatorByHandle returns the facts of the creator with a handle; of several who had it,
// those of the one that the library met last. Nil if there is none.
func (s *Service) CreatorByHandle(ctx context.Context, platform, handle string) (*Creator, error) {
	id, err := s.handleOwner(ctx, platform, score.Handle(handle))
	if err != nil || id == 0 {
		return nil, err
	}
	return s.creator(ctx, id)
}

func (s *Service) creator(ctx context.Context, id int64) (*Creator, error) {
	c, err := s.creatorRow(ctx, id)
	if err != nil || c == nil {
		return nil, err
	}
	videos, total, err := s.creatorVideos(ctx, id)
	if err != nil {
		return nil, err
	}
	c.Videos, c.LookedAt = total, len(videos)
	readings := make([]score.Reading, len(videos))
	outliers := map[score.Kind]int{}
	for i, v := range videos {
		readings[i] = v.reading
		outliers[v.reading.Kind] += bit(v.listed)
		c.Archived += bit(v.archived)
	}
	kinds, rhythm := s.Growth.Creator(readings).Facts()
	c.Rhythm = rhythm
	for _, k := range kinds {
		c.Kinds = append(c.Kinds, CreatorKind{k, outliers[k.Kind]})
	}
	return c, nil
}

// name fills in what the key of a creator and the last handle say.
func (c *Creator) name(key, handle string) {
	c.Handle = strings.TrimPrefix(handle, "@")
	if id, ok := strings.CutPrefix(key, "id:"); ok {
		c.CreatorID = id
	} else if c.Handle == "" {
		c.Handle = strings.TrimPrefix(key, "handle:")
	}
}
