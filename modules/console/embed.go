//go:build console

package console

import (
	"embed"
	"io/fs"
)

//go:embed dist/*.gz
var dist embed.FS

// Built returns the files that `make build` bundled.
func Built() (Assets, error) { return fs.Sub(dist, "dist") }
