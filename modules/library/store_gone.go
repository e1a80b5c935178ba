package library

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/stage"
)

// goneMember is the member of a Video's metadata that says since when, in Unix
// milliseconds, its platform is known not to have it any more.
const goneMember = "goneAt"

// Gone marks videos that their platform has no more, in the caller's transaction:
// their numbers stay as they were last seen, and nobody looks them up again. One
// that is seen again is no longer gone. It returns how many were not known to be.
func (s *Service) Gone(ctx context.Context, tx *store.Tx, refs []stage.Ref, at int64) (marked int, err error) {
	account, err := tenant(ctx)
	if err != nil {
		return 0, err
	}
	if err := s.raise(ctx, tx, account, 0); err != nil {
		return 0, err
	}
	platforms := map[string][]string{}
	for _, ref := range refs {
		platforms[ref.Platform] = append(platforms[ref.Platform], clean(ref.ExternalID))
	}
	for _, platform := range names(platforms) {
		for ids := platforms[platform]; len(ids) > 0; {
			n := min(len(ids), ingestAtOnce)
			found, err := s.markGone(ctx, tx, account, platform, ids[:n], at)
			if err != nil {
				return 0, fmt.Errorf("mark %d videos as gone: %w", n, err)
			}
			marked, ids = marked+found, ids[n:]
		}
	}
	return marked, nil
}

func (s *Service) markGone(ctx context.Context, tx *store.Tx, account int64, platform string, ids []string, at int64) (int, error) {
	q := s.write("SELECT v.id, d.doc FROM videos v JOIN video_docs d ON d.id = v.id WHERE v.gone_at IS NULL AND v.account_id = ", arg{account},
		" AND v.platform = ", arg{platform}, " AND v.external_id IN (")
	for i, id := range ids {
		if i > 0 {
			q.add(",")
		}
		q.add(arg{id})
	}
	var found []int64
	var docs [][]any
	err := q.add(")").query(ctx, tx, func(rows *sql.Rows) error {
		var id int64
		var doc string
		if err := rows.Scan(&id, &doc); err != nil {
			return err
		}
		slow, facts := halves(doc)
		d, err := readDocument(slow)
		if err != nil {
			return err
		}
		d.Metadata = withGone(d.Metadata, at)
		found, docs = append(found, id), append(docs, []any{id, d.render() + facts})
		return nil
	})
	if err != nil || len(found) == 0 {
		return 0, err
	}
	err = s.write("UPDATE video_docs SET doc = n.column2 FROM (VALUES ").rows(docs, "BIGINT", "TEXT").
		add(") AS n WHERE video_docs.id = n.column1 AND video_docs.account_id = ", arg{account}).exec(ctx, tx)
	if err != nil {
		return 0, err
	}
	return len(found), s.write("UPDATE videos SET gone_at = ", arg{at}, " WHERE account_id = ", arg{account}, " AND id IN (").numbers(found).add(")").exec(ctx, tx)
}

// isBack tells whether a batch saw a video that was gone.
func (v *row) isBack() bool { return v.goneAt != nil && v.observed }

// withGone adds the member, unless the platform's own metadata have one of that name.
func withGone(metadata json.RawMessage, at int64) json.RawMessage {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(metadata, &members); err != nil && len(metadata) > 0 {
		return metadata
	}
	if _, taken := members[goneMember]; taken {
		return metadata
	}
	if len(members) == 0 {
		return json.RawMessage("{" + goneText(at))
	}
	end := len(metadata) - 1
	return json.RawMessage(string(metadata[:end]) + "," + goneText(at))
}

// withoutGone takes out what withGone added.
func withoutGone(metadata json.RawMessage, at int64) json.RawMessage {
	text, own := string(metadata), goneText(at)
	for _, before := range []string{",", "{"} {
		if kept, found := strings.CutSuffix(text, before+own); found {
			if before == "{" {
				kept = "{"
			}
			return json.RawMessage(kept + "}")
		}
	}
	return metadata
}

func goneText(at int64) string { return `"` + goneMember + `":` + strconv.FormatInt(at, 10) + "}" }
