package ytdlp

import (
	"strings"

	"github.com/scrollery/scrollery/plugins/internal/lazy"
	"github.com/scrollery/scrollery/plugins/stage"
)

// plainly is how a platform says that a video cannot be seen any more: the whole
// of its first words, which reasons may follow. Of "Video unavailable" alone
// YouTube has many more: what is kept from a country, an address, a session or a
// program begins with it too.
var plainly = lazy.Pattern(`(?i)^(?:video unavailable\.?$|(?:video unavailable\. )?(?:` + strings.Join([]string{
	`private video\b`,
	`this video is private\b`,
	`this video has been removed (?:by the uploader|for violating)\b`,
	`this video is no longer available (?:because|due to)\b`,
	`this video isn't available any ?more\b`,
	`(?:this|the) (?:video|post) does not exist\b`,
	`you do not have permission to view this post\b`,
}, "|") + "))")

// noPage is the page itself not being there. Other requests of a run may fail in
// the same way, which says nothing of the video.
var noPage = lazy.Pattern(`(?i)^unable to download webpage: HTTP Error 404\b`)

// gone reports whether the program plainly says that a video is gone: in an error, or
// in the warning that replaces it where the program goes on in spite of it.
func gone(r result, id string) bool {
	heads := map[int]string{0: "WARNING: [", 1: "ERROR: ["}
	head, ended := heads[r.code]
	if r.err != nil || !ended {
		return false
	}
	for line := range strings.Lines(r.words) {
		rest, found := strings.CutPrefix(strings.TrimSpace(line), head)
		_, said, closed := strings.Cut(rest, "] ")
		if !found || !closed {
			continue
		}
		said = strings.ReplaceAll(strings.TrimPrefix(said, id+": "), "’", "'")
		if plainly().MatchString(said) || r.code == 1 && noPage().MatchString(said) {
			return true
		}
	}
	return false
}

// fate is the status of a run about one known video that brought no numbers of it.
// A missing video is not looked for again, so that what is not plain means
// that the program does not understand the site any more.
func fate(id string) func(result) stage.Status {
	return func(r result) stage.Status {
		status := failing(r)
		switch {
		case status != "":
			return status
		case gone(r, id):
			return stage.NotFound
		}
		for _, sign := range signs {
			if sign.status != stage.NotFound && sign.isIn(r.words) {
				return sign.status
			}
		}
		return stage.Changed
	}
}
