package insight

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	entsql "entgo.io/ent/dialect/sql"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/frame"
	"github.com/scrollery/scrollery/ent/observation"
	"github.com/scrollery/scrollery/ent/video"
	"github.com/scrollery/scrollery/ent/videodoc"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// Video returns a video with its outlier and its hook as the JSON body of the answer,
// archived or not.
func (s *Service) Video(ctx context.Context, id string) ([]byte, error) {
	none := []byte(`{"found":false,"video":null,"outlier":null,"hook":null,"early":null}`)
	number, ok := publicid.Parse(publicid.Video, id)
	if !ok {
		return none, nil
	}
	row, err := s.row(ctx, number)
	if err != nil || row == nil {
		return none, err
	}
	texts, err := s.DB.Ent().VideoDoc.Query().Where(videodoc.ID(number)).Only(ctx)
	if ent.IsNotFound(err) { // it was deleted since its row was read
		return none, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the document of video %d: %w", number, err)
	}
	b := append([]byte(`{"found":true,"video":`), texts.Doc...)
	if b = append(b, `,"outlier":`...); orderOf(row) == nil {
		b = append(b, "null"...)
	} else if b, err = s.Outlier(append(append(b, `{"video":`...), texts.Doc...), orderOf(row)); err != nil {
		return nil, err
	}
	if b = append(b, `,"hook":`...); texts.Hook == nil {
		b = append(b, "null"...)
	} else {
		b = append(append(b, `{"video":`...), texts.Doc...)
		b = videos.ShowHook(b, &videos.Item{Hook: texts.Hook, HookText: texts.HookText, Language: texts.Language, Score: row.Score, TwiceBaseline: row.TwiceBaseline})
	}
	if b = append(b, `,"early":`...); row.Early == 0 {
		return append(b, "null}"...), nil
	}
	return append(videos.ShowEarly(b, row.Early, row.Alike, row.Peers, row.AlikeCreators), '}'), nil
}

// Videos returns the videos of ids in their order, each once, archived or not, with their
// hooks and scores, as the JSON body of the answer, which names the ids without a video.
func (s *Service) Videos(ctx context.Context, ids []string) ([]byte, error) {
	asked := map[int64]bool{}
	for _, id := range ids {
		if number, ok := publicid.Parse(publicid.Video, id); ok {
			asked[number] = true
		}
	}
	numbers := slices.Sorted(maps.Keys(asked))
	rows, err := s.DB.Ent().Video.Query().Where(video.IDIn(numbers...)).
		Select(video.FieldScore, video.FieldTwiceBaseline, video.FieldEarly, video.FieldAlike, video.FieldPeers, video.FieldAlikeCreators).All(viewer.ByIDs(ctx))
	if err != nil {
		return nil, fmt.Errorf("read %d videos: %w", len(numbers), err)
	}
	docs, err := s.DB.Ent().VideoDoc.Query().Where(videodoc.IDIn(numbers...)).All(viewer.ByIDs(ctx))
	if err != nil {
		return nil, fmt.Errorf("read the documents of %d videos: %w", len(numbers), err)
	}
	scored, texts := map[int64]*ent.Video{}, map[string]*ent.VideoDoc{}
	for _, row := range rows {
		scored[row.ID] = row
	}
	for _, doc := range docs {
		texts[videoID(doc.ID)] = doc
	}
	b, missing, seen := []byte(`{"videos":[`), []byte(`],"missing":[`), map[string]bool{}
	next := func(list []byte) []byte {
		if list[len(list)-1] != '[' {
			return append(list, ',')
		}
		return list
	}
	for _, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		doc := texts[id]
		if doc == nil || scored[doc.ID] == nil {
			missing = videos.AppendString(next(missing), id)
			continue
		}
		row := scored[doc.ID]
		b = append(append(next(b), `{"video":`...), doc.Doc...)
		b = videos.ShowHook(b, &videos.Item{
			Hook: doc.Hook, HookText: doc.HookText, Language: doc.Language, Score: row.Score, TwiceBaseline: row.TwiceBaseline,
			Early: row.Early, Alike: row.Alike, Peers: row.Peers, AlikeCreators: row.AlikeCreators,
		})
	}
	return append(append(b, missing...), "]}"...), nil
}

// Frames returns the frames of a video, in the order of their moments; none for an unknown one.
func (s *Service) Frames(ctx context.Context, id string) ([]*ent.Frame, error) {
	number, ok := publicid.Parse(publicid.Video, id)
	if !ok {
		return nil, nil
	}
	rows, err := s.DB.Ent().Frame.Query().Where(frame.VideoID(number)).Order(frame.ByPlace()).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the frames of video %d: %w", number, err)
	}
	return rows, nil
}

// Observation is a reading with what scoring says of it.
type Observation struct {
	*ent.Observation
	// Reason is score.Used, or why scoring refuses it.
	Reason score.Reason
}

// Observations lists the readings of a video, newest first, then by id, from after a
// token; next is empty at the end. A video that the tenant does not have has none.
func (s *Service) Observations(ctx context.Context, id string, limit int, token string) (found []Observation, next string, err error) {
	at, after, err := afterToken(token)
	if err != nil {
		return nil, "", err
	}
	number, ok := publicid.Parse(publicid.Video, id)
	if !ok {
		return nil, "", nil
	}
	query := s.DB.Ent().Observation.Query().Where(observation.VideoID(number))
	if token != "" {
		query.Where(observation.Or(observation.ObservedAtLT(at), observation.And(observation.ObservedAt(at), observation.IDGT(after))))
	}
	rows, err := query.Order(observation.ByObservedAt(entsql.OrderDesc()), observation.ByID()).Limit(limit + 1).All(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("read the readings of video %d: %w", number, err)
	}
	if len(rows) > limit {
		rows = rows[:limit]
		next = tokenOf(rows[limit-1].ObservedAt, rows[limit-1].ID)
	}
	for _, row := range rows {
		found = append(found, Observation{row, score.Usable(videos.Or(row.Views, score.Unknown), videos.Or(row.Likes, score.Unknown))})
	}
	return found, next, nil
}

// tokenOf is where the page after a reading begins.
func tokenOf(at, id int64) string {
	key := binary.BigEndian.AppendUint64([]byte{'m'}, uint64(at))
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(key, uint64(id)))
}

func afterToken(token string) (at, id int64, err error) {
	if token == "" {
		return 0, 0, nil
	}
	key, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(key) != 17 || key[0] != 'm' {
		return 0, 0, apierr.Invalid("pageToken", "is not a value that this list returned")
	}
	return int64(binary.BigEndian.Uint64(key[1:])), int64(binary.BigEndian.Uint64(key[9:])), nil
}

// observationsOf are those of the videos in (after, until].
func (s *Service) observationsOf(ctx context.Context, ids []int64, after, until int64) (found []score.Observation, err error) {
	for part := range slices.Chunk(ids, pointsAtOnce) {
		seen := s.DB.Hot(`SELECT ` + videos.ObservedColumns + ` FROM observations WHERE {tenant} AND video_id IN ({list:1}) AND observed_at > $2 AND observed_at <= $3`)
		err := store.Each(ctx, seen, func(row *videos.ObservedRow) (bool, error) {
			found = append(found, row.Observation())
			return true, nil
		}, part, after, until)
		if err != nil {
			return nil, fmt.Errorf("read the readings of a key: %w", err)
		}
	}
	return found, nil
}
