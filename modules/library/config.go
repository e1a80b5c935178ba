package library

import (
	"errors"
	"strings"

	"github.com/scrollery/scrollery/modules/library/score"
)

// Config is the library's part of the configuration.
type Config struct {
	// Growth says how much of its 7-day views a video has at an age. All libraries are
	// scored again when its version changes. Default: the shipped table.
	Growth *score.Table `yaml:"growth"`
	// Epochs are the days on which platforms changed what their numbers count: videos are
	// compared on one side of them. Default: the shipped list, score/epochs.json.
	Epochs *score.Epochs `yaml:"epochs"`
	// Generic are the hashtags and terms that are never trends, in any case
	// and without their `#`. Default: a list of feed and platform words.
	Generic []string `yaml:"generic"`
	// PageCacheBytes bounds the memory for rendered pages and computed answers; 0 keeps none. Default 32 MiB.
	PageCacheBytes int64 `yaml:"page_cache_bytes"`
	// SecretKey hashes the names of what was deleted, and seals it while it can be brought
	// back: the server's key. Default: that of a file in the data folder.
	SecretKey string `yaml:"-"`
}

// Defaults returns the default configuration.
func Defaults() Config {
	return Config{
		Generic: strings.Fields("fyp fy fypシ fypシ゚ fypシ゚viral fypage fyppp foryou foryoupage foru 4u 4you viral virals viralvideo viralvideos " +
			"viralpost trend trends trending trendingnow trendingvideo explore explorepage foryoupageofficial xyzbca capcut " +
			"short shorts shortsvideo shortsfeed shortvideo ytshorts youtubeshorts youtube yt " +
			"reel reels reelsinstagram reelsvideo instareels instagramreels instagram insta tiktok video videos pourtoi pourtoipage parati"),
		PageCacheBytes: 32 << 20,
		Growth:         score.DefaultTable(),
	}
}

// Validate reports the first setting that cannot work.
func (c Config) Validate() error {
	if c.PageCacheBytes < 0 {
		return errors.New("page cache bytes: negative")
	}
	var faults []error
	if c.Growth != nil {
		faults = append(faults, c.Growth.Validate())
	}
	if c.Epochs != nil {
		faults = append(faults, c.Epochs.Validate())
	}
	return errors.Join(faults...)
}
