package library

import (
	"errors"
	"strings"

	"github.com/scrollery/scrollery/plugins/stage"
)

// Kinds of a video's origin; empty for videos without one.
const (
	Own        = "own"
	Competitor = "competitor"
	Niche      = "niche"
)

// kinds returns every value of the kind column, each a range of the lists' indexes.
func kinds() []string { return []string{Own, Competitor, Niche, ""} }

// Batch is a part of what a scroll gathered.
type Batch struct {
	// ScrollID is the scroll; 0 for none.
	ScrollID int64
	// Subject is the canonicalId of the brief that the scroll works for; empty for none.
	Subject string
	// Stage is where the records come from, as observations keep it.
	Stage string
	// At is the time of the run in Unix milliseconds.
	At int64
	// Once leaves out an observation of the very time at which a video was observed
	// last: it is the same reading again.
	Once bool
	// Records may be of any number; 100 to 200 make a good transaction. A video
	// that occurs twice counts once; the earlier record fills the gaps of the later.
	Records []stage.Record
}

// Config is the library's part of the configuration.
type Config struct {
	// Generic are the hashtags and terms that are never trends, in any case
	// and without their `#`. Default: a list of feed and platform words.
	Generic []string `yaml:"generic"`
	// PageCacheBytes bounds the memory for rendered pages; 0 keeps none. Default 32 MiB.
	PageCacheBytes int64 `yaml:"page_cache_bytes"`
}

// Defaults returns the default configuration.
func Defaults() Config {
	return Config{
		Generic: strings.Fields("fyp fy fypシ fypシ゚ fypシ゚viral fypage fyppp foryou foryoupage foru 4u 4you viral virals viralvideo viralvideos " +
			"viralpost trend trends trending trendingnow trendingvideo explore explorepage foryoupageofficial xyzbca capcut " +
			"short shorts shortsvideo shortsfeed shortvideo ytshorts youtubeshorts youtube yt " +
			"reel reels reelsinstagram reelsvideo instareels instagramreels instagram insta tiktok video videos pourtoi pourtoipage parati"),
		PageCacheBytes: 32 << 20,
	}
}

// Validate reports the first setting that cannot work.
func (c Config) Validate() error {
	if c.PageCacheBytes < 0 {
		return errors.New("page cache bytes: negative")
	}
	return nil
}
