package migrate

import (
	"embed"
	"io/fs"
)

//go:embed sqlite/*.sql postgres/*.sql
var files embed.FS

// Files returns the numbered migrations of a dialect, `sqlite` or `postgres`.
func Files(dialect string) (fs.FS, error) { return fs.Sub(files, dialect) }
