package quota

import (
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// Sweeper returns the module's housekeeping.
func Sweeper(s *Service) store.Periodic {
	return store.Periodic{Kind: "quota.sweep", Every: 6 * time.Hour, Run: s.Sweep}
}
