package usage

import (
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// Sweeper returns the module's housekeeping.
func Sweeper(s *Service) store.Periodic {
	return store.Periodic{Kind: "usage.sweep", Every: time.Hour, Run: s.Sweep}
}
