package ent

import (
	"embed"
	"io/fs"
)

//go:embed migrate/sqlite/*.sql migrate/postgres/*.sql
var migrations embed.FS

// Migrations returns the numbered migrations of a dialect, `sqlite` or `postgres`. They
// are not of the package migrate: its libraries are not for the server.
func Migrations(dialect string) (fs.FS, error) { return fs.Sub(migrations, "migrate/"+dialect) }
