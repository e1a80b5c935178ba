package shares

import (
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// KeepEnded is how long a share is kept at most after its date: until the next sweep.
const KeepEnded = time.Hour

// Periodic deletes shares that have ended.
func (s *Service) Periodic() store.Periodic {
	return store.Periodic{Kind: "shares.sweep", Every: KeepEnded, Run: s.sweep}
}
