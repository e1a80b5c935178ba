package shares

import (
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
)

// KeepEnded is how long a share is kept at most after its date: until the next sweep.
const KeepEnded = time.Hour

// Periodic deletes shares that have ended.
func (s *Service) Periodic() jobs.Periodic {
	return jobs.Periodic{Kind: "shares.sweep", Every: KeepEnded, Run: s.sweep}
}
