package workspace

import (
	"context"
	"errors"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// Mount mounts the module's operations on every protocol.
func (s *Service) Mount(m *api.Mux) {
	api.Unary(m, "GetWorkspace", s.getWorkspace)
	api.Unary(m, "SetWorkspace", s.setWorkspace, checkSet)
	api.Unary(m, "UpdateWorkspace", s.updateWorkspace, checkUpdate)
}

func (s *Service) getWorkspace(ctx context.Context, _ *scrolleryv1.GetWorkspaceRequest) (*scrolleryv1.GetWorkspaceResponse, error) {
	w, err := s.Get(ctx)
	if err != nil || w == nil {
		return &scrolleryv1.GetWorkspaceResponse{}, err
	}
	return &scrolleryv1.GetWorkspaceResponse{Workspace: message(*w)}, nil
}

func (s *Service) setWorkspace(ctx context.Context, req *scrolleryv1.SetWorkspaceRequest) (*scrolleryv1.SetWorkspaceResponse, error) {
	w, created, err := s.Set(ctx, setChange(req))
	var already *AlreadySet
	if errors.As(err, &already) {
		refusal := apierr.New(apierr.WorkspaceAlreadySet, "This account has a workspace; change it with PUT /v1/workspace.")
		refusal.Workspace = message(already.Current)
		return nil, refusal
	}
	if err != nil {
		return nil, err
	}
	outcome := "existing"
	if created {
		outcome = "created"
	}
	return &scrolleryv1.SetWorkspaceResponse{Outcome: outcome, Workspace: message(w)}, nil
}

func (s *Service) updateWorkspace(ctx context.Context, req *scrolleryv1.UpdateWorkspaceRequest) (*scrolleryv1.UpdateWorkspaceResponse, error) {
	w, archived, err := s.Update(ctx, updateChange(req), req.GetArchivePriorSubject())
	if err != nil {
		return nil, err
	}
	return &scrolleryv1.UpdateWorkspaceResponse{Workspace: message(w), ArchivedVideos: int32(archived)}, nil
}

func setChange(req *scrolleryv1.SetWorkspaceRequest) Change {
	return Change{
		Description: req.Description, Website: req.Website, AppStoreURL: req.AppStoreUrl, Name: req.Name,
		//lint:ignore SA1019 callers may still send it
		URL:         req.Url,
		Competitors: competitors(req.GetCompetitors(), req.GetClearCompetitors()),
	}
}

// bounded holds a change to the bounds of SetWorkspace, wherever it came from.
func (c Change) bounded() error {
	req := &scrolleryv1.SetWorkspaceRequest{Description: c.Description, Website: c.Website, AppStoreUrl: c.AppStoreURL, Name: c.Name}
	//lint:ignore SA1019 callers may still send it
	req.Url = c.URL
	if c.Competitors != nil {
		req.Competitors = *c.Competitors
	}
	return api.Bounds(req)
}

func updateChange(req *scrolleryv1.UpdateWorkspaceRequest) Change {
	return Change{
		Description: req.Description, Website: req.Website, AppStoreURL: req.AppStoreUrl, Name: req.Name,
		Competitors: competitors(req.GetCompetitors(), req.GetClearCompetitors()),
	}
}

// checkSet does not ask for a subject where a field that has one could not be read.
func checkSet(ctx context.Context, req *scrolleryv1.SetWorkspaceRequest) error {
	change := setChange(req)
	if !change.names() && api.Faulty(ctx, "description", "website", "appStoreUrl", "url") {
		return nil
	}
	_, err := change.brief()
	return err
}

func checkUpdate(_ context.Context, req *scrolleryv1.UpdateWorkspaceRequest) error {
	_, err := updateChange(req).valid()
	return err
}

// competitors returns the list that was sent, or nil if none was: protobuf
// cannot distinguish an empty list from an absent one, so clear says it.
func competitors(list []string, clear bool) *[]string {
	switch {
	case len(list) > 0:
		return &list
	case clear:
		return &[]string{}
	}
	return nil
}

func message(w Workspace) *scrolleryv1.Workspace {
	return &scrolleryv1.Workspace{
		Id:           publicid.Format(publicid.Workspace, w.ID),
		Description:  w.Description,
		Website:      w.Website,
		AppStoreUrl:  w.AppStoreURL,
		Competitors:  w.Competitors,
		SubjectType:  orNil(string(w.Subject.Type)),
		SubjectUrl:   orNil(w.Subject.URL),
		CanonicalId:  orNil(w.Subject.CanonicalID),
		Name:         w.Name,
		Status:       "active",
		RulesVersion: int32(w.RulesVersion),
		CreatedAt:    float64(w.CreatedAt),
		UpdatedAt:    float64(w.UpdatedAt),
	}
}
