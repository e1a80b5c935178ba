package usage

import (
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
)

// Sweeper returns the module's housekeeping.
func Sweeper(s *Service) jobs.Periodic {
	return jobs.Periodic{Kind: "usage.sweep", Every: time.Hour, Run: s.Sweep}
}
