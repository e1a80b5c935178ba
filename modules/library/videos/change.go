package videos

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/scrollery/scrollery/modules/kernel/api/rest"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// Outcomes of changes to a video.
const (
	Updated           = "updated"
	NotFound          = "not_found"
	WorkspaceRequired = "workspace_required"
)

// ArchiveVideo archives or restores a video, or only its hook. Doing it again changes nothing.
func (e Edits) ArchiveVideo(ctx context.Context, videoID string, hookOnly, archived bool) (outcome string, err error) {
	return e.change(ctx, videoID, func(ctx context.Context, tx *store.Tx, id int64) (bool, error) {
		return e.setArchived(ctx, tx, id, hookOnly, archived)
	})
}

// Annotate replaces the caller's annotations of a video; null clears them. It
// returns the video's JSON once updated.
func (e Edits) Annotate(ctx context.Context, videoID string, metadata json.RawMessage) (outcome string, video []byte, err error) {
	if err := rest.FreeBounds("agentMetadata", metadata); err != nil {
		return "", nil, err
	}
	outcome, err = e.change(ctx, videoID, func(ctx context.Context, tx *store.Tx, id int64) (found bool, err error) {
		video, err = e.annotate(ctx, tx, id, metadata)
		return video != nil, err
	})
	return outcome, video, err
}

// change runs do on a video in one transaction; do reports whether there is such a video.
func (e Edits) change(ctx context.Context, videoID string,
	do func(ctx context.Context, tx *store.Tx, id int64) (bool, error),
) (outcome string, err error) {
	if _, exists, err := e.workspace.Subject(ctx); err != nil || !exists {
		return WorkspaceRequired, err
	}
	id, ok := publicid.Parse(publicid.Video, videoID)
	if !ok {
		return NotFound, nil
	}
	err = e.Hold(ctx, func(ctx context.Context, tx *store.Tx) error {
		found, err := do(ctx, tx, id)
		if err != nil {
			return err
		}
		if outcome = Updated; !found {
			outcome = NotFound
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("change video %d: %w", id, err)
	}
	return outcome, nil
}
