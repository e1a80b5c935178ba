package collections

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/paging"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// defaultPage is the length of a list if none is asked for.
const defaultPage = 25

// Mount mounts the operations on every protocol.
func (s *Service) Mount(m *api.Mux) {
	api.Unary(m, "ListCollections", s.listCollections, func(_ context.Context, req *pb.ListCollectionsRequest) error {
		_, err := paging.Start(req.GetPageToken())
		return err
	})
	api.Page(m, "GetCollection", s.getCollection, func(_ context.Context, req *pb.GetCollectionRequest) error {
		_, err := paging.Start(req.GetPageToken())
		return err
	})
	api.Unary(m, "CreateCollection", s.createCollection)
	api.Unary(m, "UpdateCollection", s.updateCollection)
	api.Unary(m, "AddToCollection", s.addToCollection)
	api.Unary(m, "RemoveFromCollection", s.removeFromCollection)
	api.Unary(m, "MoveInCollection", s.moveInCollection, checkMove)
	api.Unary(m, "DeleteCollection", s.deleteCollection)
}

// pageOf is the token of a page; nil for none.
func pageOf(number int64) *string {
	if number == 0 {
		return nil
	}
	token := paging.Token(number)
	return &token
}

// message is the collection as the API shows it; nil for nil.
func (c *Collection) message() *pb.Collection {
	if c == nil {
		return nil
	}
	return &pb.Collection{
		Id: publicid.Format(publicid.Collection, c.ID), Name: c.Name, Note: c.Note, Videos: int32(c.Videos),
		CreatedAt: float64(c.CreatedAt), UpdatedAt: float64(c.UpdatedAt),
	}
}

func (s *Service) listCollections(ctx context.Context, req *pb.ListCollectionsRequest) (*pb.ListCollectionsResponse, error) {
	size := defaultPage
	if req.PageSize != nil {
		size = int(req.GetPageSize())
	}
	before, err := paging.Start(req.GetPageToken())
	if err != nil {
		return nil, err
	}
	all, err := s.List(ctx, before, size+1)
	if err != nil {
		return nil, err
	}
	answer := &pb.ListCollectionsResponse{}
	if len(all) > size {
		all = all[:size]
		answer.NextPageToken = pageOf(all[size-1].ID)
	}
	for _, c := range all {
		answer.Collections = append(answer.Collections, c.message())
	}
	return answer, nil
}

func (s *Service) getCollection(ctx context.Context, req *pb.GetCollectionRequest) (api.Rendered, error) {
	limit := defaultPage
	if req.Limit != nil {
		limit = int(req.GetLimit())
	}
	after, err := paging.Start(req.GetPageToken())
	if err != nil {
		return api.Rendered{}, err
	}
	p, err := s.Read(ctx, idOf(req.GetId()), after, limit)
	if err != nil {
		return api.Rendered{}, err
	}
	if p == nil {
		return api.Rendered{Body: []byte(`{"found":false,"collection":null,"videos":[],"nextCursor":null}`)}, nil
	}
	c := p.Collection
	b := appendText([]byte(`{"found":true,"collection":{"id":`), publicid.Format(publicid.Collection, c.ID))
	b = appendText(append(b, `,"name":`...), c.Name)
	b = appendText(append(b, `,"note":`...), c.Note)
	b = fmt.Appendf(b, `,"videos":%d,"createdAt":%d,"updatedAt":%d},"videos":[`, c.Videos, c.CreatedAt, c.UpdatedAt)
	for i, m := range p.Members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, `{"item":`...), p.Items[i]...)
		b = appendText(append(b, `,"note":`...), m.Note)
		b = fmt.Appendf(b, `,"addedAt":%d}`, m.AddedAt)
	}
	page := api.Rendered{}
	b = append(b, `],"nextCursor":`...)
	if next := pageOf(p.Next); next != nil {
		page.NextPageToken, b = *next, appendText(b, *next)
	} else {
		b = append(b, "null"...)
	}
	page.Body = append(b, '}')
	return page, nil
}

func appendText(b []byte, text string) []byte {
	b, _ = jsontext.AppendQuote(b, text)
	return b
}

func (s *Service) createCollection(ctx context.Context, req *pb.CreateCollectionRequest) (*pb.CreateCollectionResponse, error) {
	c, created, err := s.Create(ctx, req.GetName(), req.GetNote())
	if err != nil {
		return nil, err
	}
	answer := &pb.CreateCollectionResponse{Outcome: "existing", Collection: c.message()}
	if created {
		answer.Outcome = "created"
	}
	return answer, nil
}

func (s *Service) updateCollection(ctx context.Context, req *pb.UpdateCollectionRequest) (*pb.UpdateCollectionResponse, error) {
	c, err := s.Update(ctx, idOf(req.GetId()), req.Name, req.Note)
	return &pb.UpdateCollectionResponse{Found: c != nil, Collection: c.message()}, err
}

func (s *Service) addToCollection(ctx context.Context, req *pb.AddToCollectionRequest) (*pb.AddToCollectionResponse, error) {
	c, added, missing, err := s.Add(ctx, idOf(req.GetId()), req.GetVideoIds(), req.Note)
	return &pb.AddToCollectionResponse{Found: c != nil, Collection: c.message(), Added: int32(added), Missing: missing}, err
}

func (s *Service) removeFromCollection(ctx context.Context, req *pb.RemoveFromCollectionRequest) (*pb.RemoveFromCollectionResponse, error) {
	c, removed, err := s.Remove(ctx, idOf(req.GetId()), req.GetVideoIds())
	return &pb.RemoveFromCollectionResponse{Found: c != nil, Collection: c.message(), Removed: int32(removed)}, err
}

func checkMove(ctx context.Context, req *pb.MoveInCollectionRequest) error {
	if (req.Before == nil) == (req.After == nil) && !api.Faulty(ctx, "before", "after") {
		return apierr.Invalid("before", "either before or after is needed, and not both")
	}
	return nil
}

func (s *Service) moveInCollection(ctx context.Context, req *pb.MoveInCollectionRequest) (*pb.MoveInCollectionResponse, error) {
	anchor, isAfter := req.GetBefore(), req.After != nil
	if isAfter {
		anchor = req.GetAfter()
	}
	video, _ := publicid.Parse(publicid.Video, req.GetVideoId())
	other, _ := publicid.Parse(publicid.Video, anchor)
	found, err := s.Move(ctx, idOf(req.GetId()), video, other, isAfter)
	return &pb.MoveInCollectionResponse{Found: found}, err
}

func (s *Service) deleteCollection(ctx context.Context, req *pb.DeleteCollectionRequest) (*pb.DeleteCollectionResponse, error) {
	found, err := s.Delete(ctx, idOf(req.GetId()))
	return &pb.DeleteCollectionResponse{Found: found}, err
}
