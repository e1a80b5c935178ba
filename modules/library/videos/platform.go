package videos

import (
	"regexp"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
)

var platform = regexp.MustCompile(`^[a-z0-9_]*$`)

// CheckPlatform refuses what no platform is called. Any platform may have videos, so
// others that are not known are not refused.
func CheckPlatform(name string) []apierr.Issue {
	if platform.MatchString(name) {
		return nil
	}
	return []apierr.Issue{{Path: "platform", Message: "must be the name of a platform in lower case, as `tiktok`, `youtube` or `instagram`: letters a-z, digits and _"}}
}
