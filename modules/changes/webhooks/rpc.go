package webhooks

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/modules/changes"
	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// defaultPage is the length of a page when the caller names none.
const defaultPage = 25

// Operations returns the module's operations.
func Operations(s *Service) api.Operations {
	r := &rpc{s}
	return func(m *api.Mux) {
		api.Unary(m, "ListWebhooks", r.list)
		api.Unary(m, "CreateWebhook", r.create, r.checkCreate)
		api.Unary(m, "UpdateWebhook", r.update, r.checkUpdate)
		api.Unary(m, "RotateWebhookSecret", r.rotate)
		api.Unary(m, "TestWebhook", r.test)
		api.Unary(m, "DeleteWebhook", r.delete)
		api.Unary(m, "ListDeliveries", r.deliveries, func(_ context.Context, req *pb.ListDeliveriesRequest) error {
			_, err := before(req.GetPageToken())
			return err
		})
		api.Unary(m, "Redeliver", r.redeliver, r.checkRedeliver)
	}
}

type rpc struct{ service *Service }

// refuse is nil without issues.
func refuse(issues []apierr.Issue) error {
	if len(issues) == 0 {
		return nil
	}
	return apierr.InvalidIssues(issues...)
}

func cursorFault(cursor *string) []apierr.Issue {
	if cursor == nil {
		return nil
	}
	_, err := changes.Parse("cursor", *cursor)
	if found := apierr.As(err); found != nil {
		return found.Issues
	}
	return nil
}

// before returns the id that the page of a token begins below; 0 for the first page.
func before(token string) (int64, error) {
	if token == "" {
		return 0, nil
	}
	id, ok := publicid.Parse(deliveryPrefix, token)
	if !ok {
		return 0, apierr.Invalid("pageToken", "is not a value that this list returned")
	}
	return id, nil
}

func (r *rpc) checkCreate(_ context.Context, req *pb.CreateWebhookRequest) error {
	return refuse(append(faults(req.Url, req.GetTypes()), cursorFault(req.Cursor)...))
}

func (r *rpc) checkUpdate(_ context.Context, req *pb.UpdateWebhookRequest) error {
	return refuse(faults(req.Url, req.GetTypes()))
}

func (r *rpc) checkRedeliver(ctx context.Context, req *pb.RedeliverRequest) error {
	issues := cursorFault(req.Cursor)
	if (req.ChangeId == nil) == (req.Cursor == nil) && !api.Faulty(ctx, "changeId", "cursor") {
		issues = append(issues, apierr.Issue{Path: "changeId", Message: "either changeId or cursor is needed, and not both"})
	}
	return refuse(issues)
}

// idOf is 0 for a text that is the id of no webhook.
func idOf(text string) int64 {
	id, _ := publicid.Parse(idPrefix, text)
	return id
}

func (r *rpc) list(ctx context.Context, _ *pb.ListWebhooksRequest) (*pb.ListWebhooksResponse, error) {
	hooks, err := r.service.List(ctx)
	if err != nil {
		return nil, err
	}
	resp := &pb.ListWebhooksResponse{}
	for _, w := range hooks {
		resp.Webhooks = append(resp.Webhooks, message(w))
	}
	return resp, nil
}

func (r *rpc) create(ctx context.Context, req *pb.CreateWebhookRequest) (*pb.CreateWebhookResponse, error) {
	types, _ := parseTypes(req.GetTypes())
	from := changes.From{Now: true}
	if req.Cursor != nil {
		var err error
		if from, err = changes.Parse("cursor", *req.Cursor); err != nil {
			return nil, err
		}
	}
	w, secret, err := r.service.Create(ctx, req.GetUrl(), types, from)
	if err != nil {
		return nil, err
	}
	return &pb.CreateWebhookResponse{Webhook: message(w), Secret: secret}, nil
}

func (r *rpc) update(ctx context.Context, req *pb.UpdateWebhookRequest) (*pb.UpdateWebhookResponse, error) {
	w, err := r.service.Update(ctx, idOf(req.GetId()), Change{URL: req.Url, Types: req.GetTypes(), Paused: req.Paused})
	if err != nil || w == nil {
		return &pb.UpdateWebhookResponse{}, err
	}
	return &pb.UpdateWebhookResponse{Found: true, Webhook: message(w)}, nil
}

func (r *rpc) rotate(ctx context.Context, req *pb.RotateWebhookSecretRequest) (*pb.RotateWebhookSecretResponse, error) {
	w, secret, err := r.service.Rotate(ctx, idOf(req.GetId()))
	if err != nil || w == nil {
		return &pb.RotateWebhookSecretResponse{}, err
	}
	return &pb.RotateWebhookSecretResponse{Found: true, Webhook: message(w), Secret: &secret}, nil
}

func (r *rpc) test(ctx context.Context, req *pb.TestWebhookRequest) (resp *pb.TestWebhookResponse, err error) {
	err = api.Waiting(ctx, func(ctx context.Context) error {
		d, err := r.service.Test(ctx, idOf(req.GetId()))
		resp = &pb.TestWebhookResponse{Found: d != nil, Delivery: delivery(d)}
		return err
	})
	return resp, err
}

func (r *rpc) delete(ctx context.Context, req *pb.DeleteWebhookRequest) (*pb.DeleteWebhookResponse, error) {
	found, err := r.service.Delete(ctx, idOf(req.GetId()))
	return &pb.DeleteWebhookResponse{Found: found}, err
}

func (r *rpc) deliveries(ctx context.Context, req *pb.ListDeliveriesRequest) (*pb.ListDeliveriesResponse, error) {
	from, err := before(req.GetPageToken())
	if err != nil {
		return nil, err
	}
	size := defaultPage
	if req.PageSize != nil {
		size = int(*req.PageSize)
	}
	found, next, err := r.service.Deliveries(ctx, idOf(req.GetId()), from, size)
	if err != nil {
		return nil, err
	}
	resp := &pb.ListDeliveriesResponse{}
	if next != 0 {
		resp.NextPageToken = proto.String(publicid.Format(deliveryPrefix, next))
	}
	for i := range found {
		resp.Deliveries = append(resp.Deliveries, delivery(&found[i]))
	}
	return resp, nil
}

func (r *rpc) redeliver(ctx context.Context, req *pb.RedeliverRequest) (resp *pb.RedeliverResponse, err error) {
	id := idOf(req.GetId())
	if req.Cursor != nil {
		from, err := changes.Parse("cursor", *req.Cursor)
		if err != nil {
			return nil, err
		}
		w, err := r.service.Replay(ctx, id, from)
		if err != nil || w == nil {
			return &pb.RedeliverResponse{}, err
		}
		return &pb.RedeliverResponse{Found: true, Webhook: message(w)}, nil
	}
	err = api.Waiting(ctx, func(ctx context.Context) error {
		d, err := r.service.Again(ctx, id, req.GetChangeId())
		resp = &pb.RedeliverResponse{Found: d != nil, Delivery: delivery(d)}
		return err
	})
	return resp, err
}

func message(w *Webhook) *pb.Webhook {
	out := &pb.Webhook{
		Id: publicid.Format(idPrefix, w.ID), Url: w.URL, Status: w.Status, Cursor: changes.Cursor(w.Cursor), Failures: int32(w.Failures),
		CreatedAt: float64(w.CreatedAt), UpdatedAt: float64(w.UpdatedAt), Types: []string{allTypes},
	}
	if len(w.Types) > 0 {
		out.Types = nil
		for _, kind := range slices.Sorted(slices.Values(w.Types)) {
			out.Types = append(out.Types, string(kind))
		}
	}
	if w.Failures > 0 && w.Status == Active {
		out.NextAttemptAt = proto.Float64(float64(w.NextAt))
	}
	if w.PriorUntil > 0 {
		out.PriorSecretUntil = proto.Float64(float64(w.PriorUntil))
	}
	return out
}

func delivery(d *Delivery) *pb.Delivery {
	if d == nil {
		return nil
	}
	out := &pb.Delivery{
		Id: publicid.Format(deliveryPrefix, d.ID), MessageId: d.MessageID, Type: d.Kind, Attempt: int32(d.Attempt), Outcome: d.Outcome,
		At: float64(d.At), TookMs: float64(d.Took.Milliseconds()),
	}
	if d.Status != 0 {
		out.StatusCode = proto.Int32(int32(d.Status))
	}
	return out
}
