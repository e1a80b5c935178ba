package sources

import (
	"context"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/plugins/stage"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// Operations returns the module's operations.
func Operations(s *Service) api.Operations {
	r := &rpc{s}
	return func(m *api.Mux) {
		api.Unary(m, "ListSources", r.list)
		api.Unary(m, "SetSource", r.set, r.checkSet)
		api.Unary(m, "RemoveSource", r.remove)
		api.Unary(m, "TrySource", r.try, r.checkTry)
	}
}

type rpc struct{ service *Service }

func sorted(all map[string]string) []string { return slices.Sorted(maps.Keys(all)) }

// textsOf reads a property that holds texts by name; nil if it was not sent, and empty for null.
func textsOf(path string, value *structpb.Value) (all map[string]string, issues []apierr.Issue) {
	if value == nil {
		return nil, nil
	}
	all = map[string]string{}
	fields := value.GetStructValue().GetFields()
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		text, ok := fields[name].GetKind().(*structpb.Value_StringValue)
		if !ok {
			issues = append(issues, apierr.Issue{Path: path + "." + name, Message: "must be a string"})
			continue
		}
		all[name] = text.StringValue
	}
	return all, issues
}

func changeOf(req *pb.SetSourceRequest) (c Change, issues []apierr.Issue) {
	c.Source = req.GetSource()
	secrets, first := textsOf("secrets", req.Secrets)
	settings, then := textsOf("settings", req.Settings)
	c.Secrets, c.Settings = secrets, settings
	return c, append(first, then...)
}

func (r *rpc) checkSet(ctx context.Context, req *pb.SetSourceRequest) error {
	c, issues := changeOf(req)
	if !api.Faulty(ctx, "source") && req.GetSource() != "" {
		issues = append(issues, r.service.faults(c)...)
	}
	issues = slices.DeleteFunc(issues, func(i apierr.Issue) bool { return api.Faulty(ctx, i.Path) }) // is reported
	return refuse(issues)
}

func (r *rpc) list(ctx context.Context, _ *pb.ListSourcesRequest) (*pb.ListSourcesResponse, error) {
	all, err := r.service.List(ctx)
	if err != nil {
		return nil, err
	}
	resp := &pb.ListSourcesResponse{}
	for i := range all {
		resp.Sources = append(resp.Sources, message(&all[i]))
	}
	return resp, nil
}

func (r *rpc) set(ctx context.Context, req *pb.SetSourceRequest) (*pb.SetSourceResponse, error) {
	c, _ := changeOf(req)
	shown, err := r.service.Set(ctx, c)
	if err != nil {
		return nil, err
	}
	return &pb.SetSourceResponse{Source: message(shown)}, nil
}

func (r *rpc) remove(ctx context.Context, req *pb.RemoveSourceRequest) (*pb.RemoveSourceResponse, error) {
	found, err := r.service.Remove(ctx, req.GetSource())
	return &pb.RemoveSourceResponse{Found: found}, err
}

func (r *rpc) checkTry(ctx context.Context, req *pb.TrySourceRequest) error {
	if api.Faulty(ctx, "source", "seed", "platform") {
		return nil
	}
	return refuse(r.service.tryFaults(req.GetSource(), req.GetSeed(), req.GetPlatform()))
}

func (r *rpc) try(ctx context.Context, req *pb.TrySourceRequest) (resp *pb.TrySourceResponse, err error) {
	seed := stage.Seed{Platform: req.GetPlatform(), Term: req.GetSeed()}
	if handle, is := strings.CutPrefix(seed.Term, "@"); is {
		seed.Handle, seed.Term = handle, ""
	}
	err = api.Waiting(ctx, func(ctx context.Context) error {
		tried, err := r.service.Try(ctx, req.GetSource(), seed)
		resp = &pb.TrySourceResponse{
			State: tried.State, Own: tried.Own, Hosts: tried.Hosts, Asked: int32(tried.Asked), Returned: int32(tried.Returned), TookMs: float64(tried.Took.Milliseconds()),
			Reason: orNull(tried.Reason), Status: orNull(tried.Status), Failure: orNull(tried.Failure), Detail: orNull(tried.Detail), Checked: orNull(tried.Checked),
		}
		for _, name := range slices.Sorted(maps.Keys(tried.Fields)) {
			resp.Fields = append(resp.Fields, &pb.SourceField{Name: name, Videos: int32(tried.Fields[name])})
		}
		return err
	})
	return resp, err
}

// orNull is nil for no text.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func message(s *Shown) *pb.SourceState {
	out := &pb.SourceState{Source: s.ID, Summary: s.Summary, Platforms: s.Platforms, State: s.State, Reason: orNull(s.Reason), Own: s.Own != nil, Checks: s.Checks, DocsUrl: orNull(s.Docs)}
	own := Own{}
	if s.Own != nil {
		own, out.UpdatedAt = *s.Own, proto.Float64(float64(s.Own.UpdatedAt))
	}
	for _, secret := range s.Secrets {
		shown := &pb.SourceSecret{Name: secret.Name, Required: secret.Required}
		if end, set := own.Hints[secret.Name]; set {
			shown.Set, shown.Hint = true, orNull(end)
		}
		out.Secrets = append(out.Secrets, shown)
	}
	for _, setting := range s.Settings {
		shown := &pb.SourceSetting{Name: setting.Name, Help: setting.Help, Required: setting.Required, Default: setting.Default, Values: setting.Values}
		shown.Value = orNull(own.Settings[setting.Name])
		out.Settings = append(out.Settings, shown)
	}
	for _, q := range s.Quotas {
		out.Quotas = append(out.Quotas, &pb.SourceQuota{
			Name: q.Name, Window: q.Window, Limit: float64(q.Limit), Left: float64(q.Left), PerHandle: float64(q.Cost.Handle), PerTerm: float64(q.Cost.Term), Money: q.Money,
		})
	}
	if s.Requests != (stage.Cost{}) {
		out.RequestsPerHandle, out.RequestsPerTerm = proto.Float64(float64(s.Requests.Handle)), proto.Float64(float64(s.Requests.Term))
	}
	return out
}
