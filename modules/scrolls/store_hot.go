package scrolls

import (
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// columns are what a Scroll is read from.
const columns = `id, status, stage, progress, attempt, new_videos, failure_code, schedule, template,
	created_at, updated_at, started_at, completed_at`

func prepareGet(db *store.DB) *store.Statement {
	return db.Prepare("SELECT " + columns + " FROM scrolls WHERE account_id = $1 AND id = $2")
}

// maxCompleted bounds what Completed can return.
const maxCompleted = "100"

// isCompleted selects the completed scrolls of a subject.
const isCompleted = "account_id = $1 AND status = 'completed' AND subject = $2"

func prepareCounted(db *store.DB) *store.Statement {
	return db.Prepare("SELECT count(*) FROM scrolls WHERE " + isCompleted)
}

func prepareCompleted(db *store.DB) *store.Statement {
	return db.Prepare(`SELECT id, (SELECT count(*) FROM scrolls WHERE ` + isCompleted + `) FROM scrolls WHERE ` + isCompleted + `
		ORDER BY completed_at DESC, id DESC LIMIT ` + maxCompleted)
}

func prepareSubject(db *store.DB) *store.Statement {
	return db.Prepare("SELECT subject FROM scrolls WHERE account_id = $1 AND id = $2")
}
