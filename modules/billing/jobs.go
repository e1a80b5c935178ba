package billing

import (
	"time"

	"github.com/scrollery/scrollery/modules/store"
)

// Sweeper returns the room's housekeeping.
func Sweeper(s *Service) store.Periodic {
	return store.Periodic{Kind: "billing.sweep", Every: 6 * time.Hour, Run: s.Sweep}
}
