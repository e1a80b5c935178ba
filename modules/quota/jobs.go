package quota

import (
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
)

// Sweeper returns the module's housekeeping.
func Sweeper(s *Service) jobs.Periodic {
	return jobs.Periodic{Kind: "quota.sweep", Every: 6 * time.Hour, Run: s.Sweep}
}
