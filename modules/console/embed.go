//go:build console

package console

import (
	"embed"
	"io/fs"
)

//go:embed dist/*.gz dist/app-*.html
var dist embed.FS

// Built returns the files that `make build` bundled. Those of agents' pages are read as they are.
func Built() (Assets, error) { return fs.Sub(dist, "dist") }
