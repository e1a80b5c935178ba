package videos

import (
	"context"
	"encoding/json"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/scrollery/scrollery/modules/kernel/api"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// Operations mounts the changes of videos on every protocol.
func (e Edits) Operations(m *api.Mux) {
	api.Unary(m, "ArchiveLibraryVideo", e.archiveLibraryVideo)
	api.Page(m, "AnnotateLibraryVideo", e.annotateLibraryVideo)
}

func (e Edits) archiveLibraryVideo(ctx context.Context, req *pb.ArchiveLibraryVideoRequest) (*pb.ArchiveLibraryVideoResponse, error) {
	outcome, err := e.ArchiveVideo(ctx, req.GetVideoId(), req.GetScope() == "hook", req.GetArchived())
	if err != nil {
		return nil, err
	}
	return &pb.ArchiveLibraryVideoResponse{Outcome: outcome, Archived: req.GetArchived()}, nil
}

// annotateLibraryVideo returns rendered text, since the annotations are
// shown as they were sent.
func (e Edits) annotateLibraryVideo(ctx context.Context, req *pb.AnnotateLibraryVideoRequest) (api.Rendered, error) {
	metadata := api.RawField(ctx, "agentMetadata")
	if metadata == nil {
		text, err := protojson.Marshal(req.GetAgentMetadata())
		if err != nil {
			return api.Rendered{}, err
		}
		metadata = json.RawMessage(text)
	}
	outcome, video, err := e.Annotate(ctx, req.GetVideoId(), metadata)
	if err != nil {
		return api.Rendered{}, err
	}
	body := AppendString([]byte(`{"outcome":`), outcome)
	if video == nil {
		video = []byte("null")
	}
	body = append(append(body, `,"video":`...), video...)
	return api.Rendered{Body: append(body, '}')}, nil
}
