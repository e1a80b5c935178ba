package imports

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/plugins/stage"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

const (
	// defaultPage is the length of a list if none is asked for.
	defaultPage = 25
	// mostOfText is how many readings a text may have.
	mostOfText = 200
)

// Operations mounts the module's operations.
func Operations(s *Service) api.Operations {
	rpc := &rpc{s}
	return func(mux *api.Mux) {
		api.Upload(mux, "CreateImport", rpc.create)
		api.Upload(mux, "PreviewImport", rpc.preview)
		api.Unary(mux, "ImportVideos", rpc.text)
		api.Unary(mux, "GetImport", rpc.get)
		api.Unary(mux, "ListImports", rpc.list)
		api.Unary(mux, "UndoImport", rpc.undo)
	}
}

type rpc struct{ service *Service }

func (r *rpc) create(ctx context.Context, req *scrolleryv1.CreateImportRequest, file io.Reader) (*scrolleryv1.CreateImportResponse, error) {
	upload := Upload{
		Name: req.GetName(), Map: req.GetMap(), Format: req.GetFormat(), ObservedAt: int64(req.GetObservedAt()), Key: req.GetIdempotencyKey(),
	}
	from := captureOf(ctx)
	if err := from.prepare(ctx, &upload); err != nil {
		return nil, err
	}
	made, created, err := r.service.Create(ctx, upload, file)
	if err != nil {
		return nil, err
	}
	if from != nil {
		from.key = *made.Key
		if !created {
			api.Units(ctx, 0) // the extension asks every second how far it is
			if err := r.service.follow(ctx, made); err != nil {
				return nil, err
			}
		}
	}
	return &scrolleryv1.CreateImportResponse{Outcome: outcome(ctx, created), Import: r.message(made)}, nil
}

// outcome of a request that queues an import.
func outcome(ctx context.Context, created bool) string {
	if !created {
		return "existing"
	}
	api.Status(ctx, http.StatusAccepted)
	return "queued"
}

func (r *rpc) text(ctx context.Context, req *scrolleryv1.ImportVideosRequest) (*scrolleryv1.ImportVideosResponse, error) {
	made, created, err := r.service.Create(ctx, Upload{
		Name: req.GetName(), ObservedAt: int64(req.GetObservedAt()), Key: req.GetIdempotencyKey(), Most: mostOfText,
	}, strings.NewReader(req.GetText()))
	if err != nil {
		return nil, err
	}
	return &scrolleryv1.ImportVideosResponse{Outcome: outcome(ctx, created), Import: r.message(made)}, nil
}

func (r *rpc) preview(ctx context.Context, req *scrolleryv1.PreviewImportRequest, file io.Reader) (*scrolleryv1.PreviewImportResponse, error) {
	found, err := r.service.Preview(ctx, Upload{
		Name: req.GetName(), Map: req.GetMap(), Format: req.GetFormat(), ObservedAt: int64(req.GetObservedAt()),
	}, file)
	if err != nil {
		return nil, err
	}
	resp := &scrolleryv1.PreviewImportResponse{
		Report: reportMessage(&found.Report), Units: int32(found.Units), Room: float64(found.Limits.Room),
	}
	for i := range found.First {
		resp.First = append(resp.First, video(&found.First[i]))
	}
	return resp, nil
}

func (r *rpc) get(ctx context.Context, req *scrolleryv1.GetImportRequest) (*scrolleryv1.GetImportResponse, error) {
	found, err := r.service.Get(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	return &scrolleryv1.GetImportResponse{Found: found != nil, Import: r.message(found)}, nil
}

func (r *rpc) list(ctx context.Context, req *scrolleryv1.ListImportsRequest) (*scrolleryv1.ListImportsResponse, error) {
	size := defaultPage
	if req.PageSize != nil {
		size = int(*req.PageSize)
	}
	all, next, limits, err := r.service.List(ctx, size, req.GetPageToken())
	if err != nil {
		return nil, err
	}
	resp := &scrolleryv1.ListImportsResponse{MaxBytes: float64(limits.MaxBytes), Room: float64(limits.Room)}
	if next != "" {
		resp.NextPageToken = &next
	}
	for _, one := range all {
		m := r.message(one)
		if m.Report != nil {
			m.Report.Files = nil // each may have hundreds of columns
		}
		resp.Imports = append(resp.Imports, m)
	}
	return resp, nil
}

func (r *rpc) undo(ctx context.Context, req *scrolleryv1.UndoImportRequest) (*scrolleryv1.UndoImportResponse, error) {
	found, err := r.service.Undo(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	return &scrolleryv1.UndoImportResponse{Found: found != nil, Import: r.message(found)}, nil
}

// message is the import as the API shows it; nil for nil.
func (r *rpc) message(i *Import) *scrolleryv1.Import {
	if i == nil {
		return nil
	}
	sum, alreadyThere := i.counts()
	m := &scrolleryv1.Import{
		Id: publicid.Format(publicid.Import, i.ID), Status: i.Status, Percent: i.percent(), Name: i.Name, Bytes: float64(i.Bytes),
		NewVideos: int32(sum.New), SeenAgain: int32(sum.Again), AlreadyThere: int32(alreadyThere), NoRoom: int32(sum.NoRoom),
		Failure: i.Failure, CreatedAt: float64(i.CreatedAt), UpdatedAt: float64(i.UpdatedAt), CompletedAt: number(i.CompletedAt),
		UndoUntil:     number(r.service.undoUntil(i)),
		DeletedVideos: int32(i.Report.DeletedVideos), DeletedReadings: int32(i.Report.DeletedReadings),
	}
	if len(i.Report.Runs) > 0 || len(i.Report.Skips) > 0 || len(i.Report.Files) > 0 {
		m.Report = reportMessage(&i.Report)
	}
	for _, run := range i.Report.Runs {
		if run.ScrollID != 0 {
			m.ScrollIds = append(m.ScrollIds, publicid.Format(publicid.Scroll, run.ScrollID))
		}
	}
	return m
}

func video(rec *stage.Record) *scrolleryv1.ImportedVideo {
	m := &scrolleryv1.ImportedVideo{
		Platform: rec.Platform, ExternalId: rec.ExternalID, SourceUrl: rec.SourceURL, PostedAt: number(rec.PostedAt), Caption: caption(rec.Metadata),
		Views: number(rec.Metrics.Views), Likes: number(rec.Metrics.Likes), Comments: number(rec.Metrics.Comments), Shares: number(rec.Metrics.Shares),
		Saves: number(rec.Metrics.Saves), ObservedAt: number(rec.Metrics.ObservedAt),
	}
	if rec.Source != nil {
		m.Handle = rec.Source.Handle
	}
	return m
}

// caption is the text of a video; empty without one.
func caption(metadata json.RawMessage) string {
	var texts struct{ Caption, Title string }
	_ = json.Unmarshal(metadata, &texts) // it is shown, and nothing else
	if texts.Caption != "" {
		return texts.Caption
	}
	return texts.Title
}

func number(n *int64) *float64 {
	if n == nil {
		return nil
	}
	value := float64(*n)
	return &value
}
