package insight

import (
	"context"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/library/videos"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// checkCreator refuses a request that names a creator in both ways, in neither, or of
// what cannot be a platform.
func checkCreator(_ context.Context, req *pb.GetCreatorRequest) error {
	var issues []apierr.Issue
	add := func(bad bool, path, message string) {
		if bad {
			issues = append(issues, apierr.Issue{Path: path, Message: message})
		}
	}
	if req.VideoId != nil {
		add(req.Platform != nil, "platform", "goes with handle, not with videoId")
		add(req.Handle != nil, "handle", "goes with platform, not with videoId")
	} else {
		add(req.Platform == nil, "platform", "is required, with handle, where there is no videoId")
		add(req.Handle == nil, "handle", "is required, with platform, where there is no videoId")
	}
	issues = append(issues, videos.CheckPlatform(req.GetPlatform())...)
	if len(issues) > 0 {
		return apierr.InvalidIssues(issues...)
	}
	return nil
}

func (s *Service) getCreator(ctx context.Context, req *pb.GetCreatorRequest) (*pb.GetCreatorResponse, error) {
	find := func() (*Creator, error) { return s.CreatorByHandle(ctx, req.GetPlatform(), req.GetHandle()) }
	if req.VideoId != nil {
		find = func() (*Creator, error) { return s.CreatorOf(ctx, req.GetVideoId()) }
	}
	c, err := find()
	if err != nil || c == nil {
		return &pb.GetCreatorResponse{}, err
	}
	return &pb.GetCreatorResponse{Found: true, Creator: c.message()}, nil
}

func (c *Creator) message() *pb.Creator {
	m := &pb.Creator{
		Platform: c.Platform, CreatorId: orNull(c.CreatorID), Handle: orNull(c.Handle), Followers: count(c.Followers), FollowersAt: count(c.FollowersAt),
		Videos: int32(c.Videos), LookedAt: int32(c.LookedAt), Archived: int32(c.Archived),
	}
	for i := range c.Kinds {
		k := &c.Kinds[i]
		one := &pb.CreatorKind{
			Kind: string(k.Kind), Videos: int32(k.Videos), Usable: int32(k.Usable), Outliers: int32(k.Outliers), Rated: int32(k.Rated),
			MedianViews: halfOf(k.TwiceMedian, k.Usable > 0), SevenDayViews: halfOf(k.TwiceGrown, k.TwiceGrown > 0),
			LikesPerMillion: halfOf(k.TwiceRate, k.Rated > 0),
		}
		m.Kinds = append(m.Kinds, one)
	}
	r := &c.Rhythm
	rhythm := &pb.CreatorRhythm{Dated: int32(r.Dated), MedianGap: halfOf(r.TwiceGap, r.Dated > 1)}
	if r.Dated > 0 {
		first, last := float64(r.First), float64(r.Last)
		rhythm.FirstPostedAt, rhythm.LastPostedAt = &first, &last
	}
	for _, n := range r.Weekdays {
		rhythm.Weekdays = append(rhythm.Weekdays, int32(n))
	}
	for _, n := range r.Hours {
		rhythm.Hours = append(rhythm.Hours, int32(n))
	}
	m.Rhythm = rhythm
	return m
}

// halfOf is twice ÷ 2, null if it is not known.
func halfOf(twice int64, known bool) *float64 {
	if !known {
		return nil
	}
	f := float64(twice) / 2
	return &f
}
