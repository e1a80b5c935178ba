// Package docs holds the pages of this folder, so that a server can show those of its
// own version.
package docs

import "embed"

// Pages are the Markdown files, deploy/README.md among them, and llms.txt.
//
//go:embed *.md deploy/README.md llms.txt
var Pages embed.FS
